"""Workarounds for failures that are caused by the JDK and not by the project.

Mocking libraries of 2017 and earlier do not know the class files of JDK 17. Measurements showed
that a newer byte-buddy, first on the class path, helps, and so do opened packages where a library
defines classes by reflection. A workaround is applied to all cells alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from coevo.languages.verdicts import Verdict

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
