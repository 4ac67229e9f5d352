"""Rank the JDKs to try for a pair: those that its files for continuous integration name, and those
that are available; keep a run's builds by their JDK.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import zip_longest

from coevo.git.repository import Repository
from coevo.languages.java.building.report import JdkDemand
from coevo.languages.java.gradle import choice as gradle_choice
from coevo.languages.java.maven.pom_demand import find_pom_demand
from coevo.languages.java.places import POM
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.tools.gradles import Gradle
from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.jdks import PREFERRED, Jdk
from coevo.model.records import Pair

# Find the JDKs that a revision's files for continuous integration and version managers name.
#
# The files are read line by line, not as YAML: a number beside the keyword is enough. Matrices,
# anchors and expressions are not evaluated, and files with invalid YAML can be read too.

# Patterns of the files' paths, and of the lines that name a JDK.
_PLACES = (
    (
        r'\.travis\.yml|\.circleci/config\.yml|\.gitlab-ci\.yml|\.?appveyor\.yml',
        r'jdk[-_: ]*(?:1\.)?(\d{1,2})\b|^\s*java:[ \t]*(.*)$',
    ),
    (
        r'\.github/workflows/[^/]+\.ya?ml',
        r'^[\s-]*[\'"]?(?:java|jdk)(?:[-_]?version)?[\'"]?:[ \t]*((?:\n[ \t]*-.*)+|.*)$',
    ),
    (r'\.sdkmanrc|\.tool-versions|system\.properties', r'^java\S*[ =](.*)$'),
    (r'\.java-version', r'^(.*)$'),
)
_NUMBER = re.compile(r'(?<![\d.+])(?:1\.)?(\d{1,2})(?!\d)')
_KNOWN = range(5, 40)


def find_named_jdk_releases(repository: Repository, rev: str) -> frozenset[int]:
    """Return the JDK feature releases that a revision's CI and version files name, as {8, 11}.

    coevo need not have these JDKs.
    """
    releases: set[int] = set()
    for path, entry in repository.tree(rev).items():
        for path_pattern, line in _PLACES:
            if re.fullmatch(path_pattern, path):
                releases |= _parse_named_releases(repository.blob(entry.oid), line)
    return frozenset(releases)


@lru_cache(maxsize=1024)
def _parse_named_releases(content: bytes, line: str) -> frozenset[int]:
    text = content.decode('utf-8', 'replace')
    matches = re.finditer(line, text, re.MULTILINE | re.IGNORECASE)
    groups = (each for match in matches for each in match.groups() if each)
    numbers = (int(number) for each in groups for number in _NUMBER.findall(each))
    return frozenset(number for number in numbers if number in _KNOWN)


# Long-term releases and their dates (Oracle Java SE Support Roadmap).
LONG_TERM = (
    (8, date(2014, 3, 18)),
    (11, date(2018, 9, 25)),
    (17, date(2021, 9, 14)),
    (21, date(2023, 9, 19)),
    (25, date(2025, 9, 16)),
)

# Projects move to a new release only when their tools support it.
ADOPTION = timedelta(days=365)

# Each further try builds two revisions again.
MOST_TRIES = 3


def choose_jdks_to_try(
    demand: JdkDemand, made: datetime | None, jdks: Sequence[Jdk]
) -> tuple[Jdk, ...]:
    """Return the JDKs to try, best first: at most `MOST_TRIES`, one of each feature release.

    The first one is the newest allowed release up to the long-term release that was usual at the
    date `made`, else the oldest allowed one. If files name releases, only these are considered for
    it. Next is the nearest lower release; then, if the POMs state a minimum, the lowest allowed
    one, since their code may need it whatever its date; then lower and higher releases in turn. A
    maximum that excludes every JDK is ignored; if a minimum does, only the newest JDK is returned.
    """
    known = {jdk.feature: jdk for jdk in reversed(jdks)}
    enough = sorted(feature for feature in known if feature >= (demand.lowest or 0))
    if not enough:
        return (known[max(known)],) if known else ()
    allowed = [feature for feature in enough if feature <= (demand.highest or feature)] or enough
    wanted = max(find_usual_release(made), demand.lowest or 0)
    named = {max(feature, LONG_TERM[0][0]) for feature in demand.named}
    likely = [feature for feature in allowed if feature in named] or allowed
    first = max((feature for feature in likely if feature <= wanted), default=likely[0])
    below = [feature for feature in reversed(allowed) if feature < first]
    above = [feature for feature in allowed if feature > first]
    by_turns = (feature for both in zip_longest(below, above) for feature in both if feature)
    asked_for = below[-1:] if demand.lowest is not None else []
    order = dict.fromkeys((first, *below[:1], *asked_for, *by_turns))
    return tuple(known[feature] for feature in order)[:MOST_TRIES]


def find_usual_release(made: datetime | None) -> int:
    """Return the long-term release with which most people built on a day.

    It is the newest one that was a year old by then; the default release if `made` is None.
    """
    if made is None:
        return PREFERRED
    day = made.date() - ADOPTION
    return max((release for release, came in LONG_TERM if came <= day), default=LONG_TERM[0][0])


def choose_jdks_to_try_for_pair(
    repository: Repository, pair: Pair, jdks: Sequence[Jdk], gradles: Sequence[Gradle] = ()
) -> tuple[Jdk, ...]:
    """Return the JDKs to try for a pair, best first; see `choose_jdks_to_try`.

    The requirements of both ends are combined, since both are built with one JDK: no label may come
    from a change of JDK.
    """
    if len(jdks) == 1:
        return tuple(jdks)
    demands = [
        find_pom_demand(repository, end.rev)
        if POM in repository.tree(end.rev)
        else gradle_choice.find_gradle_demand(repository, end.rev, gradles)
        for end in (pair.old, pair.new)
    ]
    lowest = [demand.lowest for demand in demands if demand.lowest]
    highest = [demand.highest for demand in demands if demand.highest]
    both = JdkDemand(
        lowest=max(lowest, default=None),
        highest=min(highest, default=None),
        named=find_named_jdk_releases(repository, pair.new.rev),
    )
    return choose_jdks_to_try(both, pair.new.committer_date, jdks)


class BuildsByJdk:
    """The shared builds of a run, separately for each JDK; used by all builders, thread-safe."""

    def __init__(self, run: JavaRunContext, jdks: JdkSupply | None = None) -> None:
        self._run = run
        self._jdks = jdks or JdkSupply()
        self._builds_by_jdk: dict[Jdk | None, SharedBuilds] = {}
        self._lock = threading.Lock()

    def list_candidates(self, pair: Pair) -> tuple[Jdk, ...]:
        """Return the JDKs to try, in order; some of them may have to be installed."""
        return choose_jdks_to_try_for_pair(
            self._run.repository, pair, self._jdks.offered, self._run.gradles
        )

    def iterate_candidates_installing_missing(
        self, candidates: Sequence[Jdk]
    ) -> Iterator[Jdk | None]:
        """Yield the available candidates, each installed when its turn comes.

        If there is none, yield the newest known JDK; if no JDK is known at all, yield None, so that
        the toolchain reports this.
        """
        any_available = False
        for jdk in candidates:
            had = self._jdks.get_or_install_jdk(jdk)
            if had is not None:
                any_available = True
                yield had
        if not any_available:
            yield max(self._jdks.known, key=lambda jdk: jdk.feature, default=None)

    def find_release_failing_to_install(self, candidates: Sequence[Jdk]) -> str | None:
        """Return the release of the first candidate whose installation failed; else None."""
        return next(
            (jdk.release for jdk in candidates if self._jdks.has_installation_failed(jdk)), None
        )

    def get_builds(self, jdk: Jdk | None) -> SharedBuilds:
        """Return the shared builds of a JDK, created if need be; builds no revision."""
        with self._lock:
            if jdk not in self._builds_by_jdk:
                self._builds_by_jdk[jdk] = SharedBuilds(self._run, jdk)
            return self._builds_by_jdk[jdk]

    def remove_builds_of_revision(self, rev: str) -> None:
        """Delete the builds of a revision with every JDK."""
        for builds in tuple(self._builds_by_jdk.values()):
            builds.remove_builds_of_revision(rev)
