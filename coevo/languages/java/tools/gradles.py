"""Find the Gradle installations of this machine.

coevo installs no Gradle and runs no wrapper of a project.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# Folders where installers put distributions, each with a pattern for the names below.
_PLACES = (
    ('~/.sdkman/candidates/gradle', '*'),
    ('/opt', 'gradle*'),
    ('/opt/gradle', '*'),
)
# A list of versions, such as `7.6.4:8.5`, to which the search is limited; `none` finds no Gradle.
LIMIT = 'COEVO_GRADLES'
_WRAPPERS = 'wrapper/dists/*/*/gradle-*'
_CORE = re.compile(r'gradle-core-(?:api-)?(\d[\w.-]*)\.jar')

# The oldest Gradle that runs on each JDK
# (https://docs.gradle.org/current/userguide/compatibility.html).
_OLDEST = (
    (25, (9, 1)),
    (24, (8, 14)),
    (23, (8, 10)),
    (22, (8, 8)),
    (21, (8, 5)),
    (20, (8, 3)),
    (19, (7, 6)),
    (18, (7, 5)),
    (17, (7, 3)),
    (16, (7, 0)),
    (15, (6, 7)),
    (14, (6, 3)),
    (13, (6, 0)),
    (12, (5, 4)),
    (11, (5, 0)),
    (8, (0,)),
)
_FIRST_ON_17 = (9,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradle:
    """A Gradle distribution with its version, such as 8.5."""

    home: Path
    version: str

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version as numbers, for comparisons."""
        return parse_version_numbers(self.version)

    @property
    def newest_jdk(self) -> int:
        """The feature release of the newest JDK that this Gradle is known to run on."""
        return next(jdk for jdk, oldest in _OLDEST if self.numbers >= oldest)

    @property
    def oldest_jdk(self) -> int:
        """The feature release of the oldest JDK that this Gradle runs on."""
        return 17 if self.numbers >= _FIRST_ON_17 else 8


def parse_version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers to compare versions by: (8, 5) for `8.5-rc-1`."""
    return tuple(map(int, re.findall(r'\d+', version.partition('-')[0])))


def find_gradles(environment: Mapping[str, str] = os.environ) -> tuple[Gradle, ...]:
    """Return the installed Gradles, one for each version, sorted by version.

    Searches $GRADLE_HOME, PATH, distributions that wrappers downloaded earlier, and the usual
    folders. If $COEVO_GRADLES lists versions, only those are returned.
    """
    gradles: dict[str, Gradle] = {}
    for home in _list_homes(environment):
        gradle = _identify_gradle(home.resolve())
        if gradle is not None:
            gradles.setdefault(gradle.version, gradle)
    wanted = [text for text in environment.get(LIMIT, '').split(os.pathsep) if text]
    left = (
        candidate for candidate in gradles.values() if not wanted or candidate.version in wanted
    )
    return tuple(sorted(left, key=lambda one: one.numbers))


def _list_homes(environment: Mapping[str, str]) -> Iterator[Path]:
    if named := environment.get('GRADLE_HOME'):
        yield Path(named)
    if program := shutil.which('gradle', path=environment.get('PATH')):
        yield Path(program).resolve().parent.parent
    own = Path(environment.get('GRADLE_USER_HOME') or '~/.gradle').expanduser()
    yield from sorted(own.glob(_WRAPPERS))
    for folder, pattern in _PLACES:
        yield from sorted(Path(folder).expanduser().glob(pattern))


def _identify_gradle(home: Path) -> Gradle | None:
    names = sorted(path.name for path in (home / 'lib').glob('gradle-core-*.jar'))
    versions = (match[1] for name in names if (match := _CORE.fullmatch(name)))
    version = next(versions, None)
    if version is None or not (home / 'bin' / 'gradle').is_file():
        return None
    return Gradle(home=home, version=version)
