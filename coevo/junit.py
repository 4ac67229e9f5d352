"""Which JUnit runs a module's tests: the project's own Jupiter, or ours for JUnit 3 and 4."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

_JAR = re.compile(r'(?P<artifact>.+?)-(?P<version>\d.*)\.jar')
_OLDEST_JUPITER = (5, 3)  # the worker's launcher calls exist since then
_OLDEST_JUNIT4 = (4, 12)  # older ones cannot be run by the vintage engine

_PLATFORM = (
    'junit-platform-launcher',
    'junit-platform-engine',
    'junit-platform-commons',
    'opentest4j',
    'apiguardian-api',
)
_JUPITER = ('junit-jupiter-engine', 'junit-jupiter-api', 'junit-jupiter-params')


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitLibraries:
    """What a test class path lacks to be run by the worker.

    first     artifactIds of pinned libraries that go before the project's
    resolve   coordinates to resolve with what they need; they go after the project's
    last      artifactIds of pinned libraries that go after the project's
    """

    first: tuple[str, ...] = ()
    resolve: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


def junit_libraries(class_path: Sequence[str]) -> JUnitLibraries | None:
    """The choice for the jars (file names) of a test class path; None if it has no JUnit."""
    found = _versions(class_path)
    old = next((found[name] for name in ('junit', 'junit-dep') if name in found), None)
    jupiter = found.get('junit-jupiter-api') or found.get('junit-jupiter-engine')
    if jupiter is None:
        return None if old is None else _vintage(found, old)
    if _numbers(jupiter) < _OLDEST_JUPITER:
        return _newer_jupiter(found, old)
    return _own_jupiter(found, old, jupiter)


def _versions(class_path: Sequence[str]) -> Mapping[str, str]:
    """Artifact to version; of several the first on the path counts, as for the JVM."""
    found: dict[str, str] = {}
    for name in class_path:
        if match := _JAR.fullmatch(name):
            found.setdefault(match['artifact'], match['version'])
    return found


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r'\d+(\.\d+)*', version)
    assert match is not None, 'a version begins with a digit'
    return tuple(map(int, match[0].split('.')))


def _first_for(found: Mapping[str, str], old: str) -> tuple[str, ...]:
    """Our JUnit 4 where the project's is too old; Hamcrest with it, which old ones bundle."""
    return () if _numbers(old) >= _OLDEST_JUNIT4 else ('junit', 'hamcrest-core')


def _vintage(found: Mapping[str, str], old: str) -> JUnitLibraries:
    first = _first_for(found, old)
    hamcrest = () if first or _has_hamcrest(found) else ('hamcrest-core',)
    return JUnitLibraries(first=first, last=('junit-vintage-engine', *_PLATFORM, *hamcrest))


def _has_hamcrest(found: Mapping[str, str]) -> bool:
    return any(name.startswith(('hamcrest', 'java-hamcrest')) for name in found)


def _newer_jupiter(found: Mapping[str, str], old: str | None) -> JUnitLibraries:
    vintage = () if old is None else (*_first_for(found, old), 'junit-vintage-engine')
    return JUnitLibraries(first=(*_JUPITER, *_PLATFORM, *vintage))


def _own_jupiter(found: Mapping[str, str], old: str | None, jupiter: str) -> JUnitLibraries:
    platform = jupiter if _numbers(jupiter) >= (6,) else '1' + jupiter.removeprefix('5')
    wanted = {
        'junit-jupiter-engine': f'org.junit.jupiter:junit-jupiter-engine:{jupiter}',
        'junit-platform-launcher': f'org.junit.platform:junit-platform-launcher:{platform}',
    }
    if old is not None:
        wanted['junit-vintage-engine'] = f'org.junit.vintage:junit-vintage-engine:{jupiter}'
    return JUnitLibraries(
        first=() if old is None else _first_for(found, old),
        resolve=tuple(coordinates for name, coordinates in wanted.items() if name not in found),
    )
