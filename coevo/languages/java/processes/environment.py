"""What a failure shows of the machine it happened on, not of the code: one table with its evidence.

A sandbox has no network and no display, its clock is today's, and its JDK may be newer than the
code. Evidence is an exception's class anywhere in the chain of causes; where a class has other
uses too, its message must hold the words given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSignature:
    """`types` are class names; `words` a regular expression that the message must match, if any."""

    withheld: str
    types: frozenset[str]
    words: str = ''


def _make_signature(withheld: str, *types: str, words: str = '') -> EnvironmentSignature:
    return EnvironmentSignature(withheld=withheld, types=frozenset(types), words=words)


SIGNATURES = (
    # no address but the loopback's: names are not resolved, other hosts are unreachable
    _make_signature(
        'network',
        'java.net.UnknownHostException',
        'java.net.NoRouteToHostException',
        'java.nio.channels.UnresolvedAddressException',
    ),
    _make_signature('network', 'java.net.SocketException', words='Network is unreachable'),
    _make_signature('network', 'java.net.ConnectException', words='Network is unreachable'),
    # what was signed, or is to be trusted, until a day that has passed
    _make_signature(
        'clock',
        'java.security.cert.CertificateExpiredException',
        'java.security.cert.CertificateNotYetValidException',
    ),
    # java.awt without a screen
    _make_signature('display', 'java.awt.HeadlessException'),
    _make_signature('display', 'java.awt.AWTError', words="[Cc]an't connect to X11|headless"),
    # packages of the JDK that are closed since 16, and modules and methods that were removed
    _make_signature('jdk', 'java.lang.reflect.InaccessibleObjectException'),
    _make_signature('jdk', 'java.lang.IllegalAccessError', words=r'module java\.|module jdk\.'),
    _make_signature('jdk', 'java.lang.IllegalAccessException', words=r'module java\.|module jdk\.'),
    _make_signature('jdk', 'java.lang.UnsupportedClassVersionError'),
    _make_signature(
        'jdk',
        'java.lang.NoClassDefFoundError',
        'java.lang.ClassNotFoundException',
        words=r'\b(javax[./](xml[./](bind|ws|soap)|jws|activation|annotation|transaction)'
        r'|sun[./](misc|reflect)|com[./]sun|org[./]omg|jdk[./]nashorn|javafx)\b',
    ),
    _make_signature(
        'jdk',
        'java.lang.UnsupportedOperationException',
        words='Security Manager|setting a security manager',
    ),
    # byte-code libraries that do not know the JDK's class files
    _make_signature(
        'bytecode',
        'java.lang.IllegalArgumentException',
        words=r'Unsupported class file major version|Java \d+ \(\d+\) is not supported',
    ),
    _make_signature(
        'bytecode',
        'net.sf.cglib.core.CodeGenerationException',
        'org.mockito.cglib.core.CodeGenerationException',
        'org.easymock.cglib.core.CodeGenerationException',
        'org.springframework.cglib.core.CodeGenerationException',
    ),
)


def name_withheld_resource(types: Sequence[str], message: str) -> str | None:
    """What the machine withheld, for a throwable's class and those of its causes; None if nothing."""
    return next(_match_signatures(types, message), None)


def _match_signatures(types: Sequence[str], message: str) -> Iterator[str]:
    for signature in SIGNATURES:
        if signature.types.intersection(types) and re.search(signature.words, message):
            yield signature.withheld
