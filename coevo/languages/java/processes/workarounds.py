"""Failures that the sandbox or its JDK causes and not the project: how they are recognised and
worked around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coevo.languages.core.channel import WithheldRule, find_withheld_resource
from coevo.languages.verdicts import Verdict

# Recognise failures that are caused by the sandbox or its JDK and not by the code.
#
# A sandbox has no network and no display, its clock shows the current date, and its JDK may be
# newer than the code. The evidence is an exception class anywhere in the chain of causes; a class
# with other uses also needs a message that matches the given pattern.

SIGNATURES: tuple[WithheldRule, ...] = (
    # network: names are not resolved and only the loopback address is reachable
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
    # clock: signatures and certificates that have expired since
    (
        'clock',
        (
            'java.security.cert.CertificateExpiredException',
            'java.security.cert.CertificateNotYetValidException',
        ),
        '',
    ),
    # display: java.awt without a screen
    ('display', ('java.awt.HeadlessException',), ''),
    ('display', ('java.awt.AWTError',), "[Cc]an't connect to X11|headless"),
    # jdk: packages that are closed since JDK 16, and modules and methods that were removed
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
    # bytecode: libraries that do not know the class files of this JDK
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
    """Return the resource that the sandbox lacks (such as `network`) if that explains a failure.

    types    classes of the throwable and of its causes
    message  its message

    Returns None if no rule of SIGNATURES matches.
    """
    return find_withheld_resource(SIGNATURES, message, types)


BYTE_BUDDY = 'byte-buddy'


@dataclass(frozen=True, slots=True, kw_only=True)
class Workaround:
    """Changes to how tests are run: libraries first on the class path, and options of the JVM.

    `libraries` are artifactIds of pinned libraries.
    """

    libraries: tuple[str, ...]
    jvm_options: tuple[str, ...]


_OPENED = ('java.lang', 'java.lang.reflect', 'java.lang.invoke', 'java.util', 'java.io', 'java.net')

WORKAROUNDS = {
    BYTE_BUDDY: Workaround(
        libraries=('byte-buddy', 'byte-buddy-agent'),
        jvm_options=tuple(f'--add-opens=java.base/{name}=ALL-UNNAMED' for name in _OPENED),
    )
}

# Exceptions that mocking and proxy libraries throw when the JDK refuses an operation; a verdict
# shows one anywhere in its chain of causes. Mockito reports misuse with other classes.
_REFUSED = frozenset(
    {
        'org.mockito.exceptions.base.MockitoException',
        'java.lang.reflect.InaccessibleObjectException',
        'net.sf.cglib.core.CodeGenerationException',
        'org.mockito.cglib.core.CodeGenerationException',
        'org.easymock.cglib.core.CodeGenerationException',
        'org.springframework.cglib.core.CodeGenerationException',
    }
)


def suggest_workaround(verdict: Verdict) -> str | None:
    """Return the name of the workaround to try for a failed verdict; None if none is known."""
    return BYTE_BUDDY if _REFUSED.intersection(verdict.exceptions) else None
