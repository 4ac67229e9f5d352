"""What a failure shows of the machine it happened on, not of the code: one table with its evidence.

A sandbox has no network and no display, its clock is today's, and its JDK may be newer than the
code. Evidence is an exception's class anywhere in the chain of causes; where a class has other
uses too, its message must hold the words given.
"""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.core.channel import WithheldRule, find_withheld_resource

SIGNATURES: tuple[WithheldRule, ...] = (
    # no address but the loopback's: names are not resolved, other hosts are unreachable
    (
        'network',
        (
            'java.net.UnknownHostException',
            'java.net.NoRouteToHostException',
            'java.nio.channels.UnresolvedAddressException',
        ),
        '',
    ),
    ('network', ('java.net.SocketException',), 'Network is unreachable'),
    ('network', ('java.net.ConnectException',), 'Network is unreachable'),
    # what was signed, or is to be trusted, until a day that has passed
    (
        'clock',
        (
            'java.security.cert.CertificateExpiredException',
            'java.security.cert.CertificateNotYetValidException',
        ),
        '',
    ),
    # java.awt without a screen
    ('display', ('java.awt.HeadlessException',), ''),
    ('display', ('java.awt.AWTError',), "[Cc]an't connect to X11|headless"),
    # packages of the JDK that are closed since 16, and modules and methods that were removed
    ('jdk', ('java.lang.reflect.InaccessibleObjectException',), ''),
    ('jdk', ('java.lang.IllegalAccessError',), r'module java\.|module jdk\.'),
    ('jdk', ('java.lang.IllegalAccessException',), r'module java\.|module jdk\.'),
    ('jdk', ('java.lang.UnsupportedClassVersionError',), ''),
    (
        'jdk',
        (
            'java.lang.NoClassDefFoundError',
            'java.lang.ClassNotFoundException',
        ),
        (
            r'\b(javax[./](xml[./](bind|ws|soap)|jws|activation|annotation|transaction)'
            r'|sun[./](misc|reflect)|com[./]sun|org[./]omg|jdk[./]nashorn|javafx)\b'
        ),
    ),
    (
        'jdk',
        ('java.lang.UnsupportedOperationException',),
        'Security Manager|setting a security manager',
    ),
    # byte-code libraries that do not know the JDK's class files
    (
        'bytecode',
        ('java.lang.IllegalArgumentException',),
        r'Unsupported class file major version|Java \d+ \(\d+\) is not supported',
    ),
    (
        'bytecode',
        (
            'net.sf.cglib.core.CodeGenerationException',
            'org.mockito.cglib.core.CodeGenerationException',
            'org.easymock.cglib.core.CodeGenerationException',
            'org.springframework.cglib.core.CodeGenerationException',
        ),
        '',
    ),
)


def name_withheld_resource(types: Sequence[str], message: str) -> str | None:
    """What the machine withheld, for a throwable's class and those of its causes; None if nothing."""
    return find_withheld_resource(SIGNATURES, message, types)
