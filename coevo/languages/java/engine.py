"""The engine of a run over one repository, for all of its JDKs, and the choice of the JDK for a
pair.
"""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Iterator, Sequence, Set as AbstractSet
from contextlib import ExitStack
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import zip_longest

from coevo.git.repository import Repository
from coevo.languages.cells import Build
from coevo.languages.core.engines import RunEngine
from coevo.languages.engine import RunSettings
from coevo.languages.java.building.report import JdkDemand
from coevo.languages.java.built_pair import JavaBuiltPair
from coevo.languages.java.gradle import find_gradle_demand
from coevo.languages.java.jdk_worker import JdkWorker
from coevo.languages.java.maven.pom_demand import find_pom_demand
from coevo.languages.java.places import POM
from coevo.languages.java.revisions.failures import fails_on_any_jdk
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.tools.gradles import Gradle
from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.jdks import PREFERRED, Jdk
from coevo.model.records import Pair

# Rank the JDKs to try for a pair: those that its files for continuous integration name, and those
# that are available; keep a run's builds by their JDK.

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
        else find_gradle_demand(repository, end.rev, gradles)
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


# The engine of a run over one repository, for all of its JDKs.


class JavaBuilder:
    """Builds pairs for one thread; implements `coevo.languages.engine.Builder`.

    Both ends are built with the same JDK, the first candidate that succeeds. The choice depends on
    the pair alone: results of other pairs are not used, since then a row would depend on what was
    mined before it.
    """

    def __init__(self, builds_by_jdk: BuildsByJdk) -> None:
        self._builds_by_jdk = builds_by_jdk
        self._workers: dict[Jdk | None, JdkWorker] = {}

    def build(self, pair: Pair) -> JavaBuiltPair:
        """Build both ends of a pair with the first JDK that builds both completely.

        If there is none, use the JDK that builds the most. A failed build does not raise; the
        returned builds say why.
        """
        return self._build_by_best_jdk(pair, frozenset())

    def close(self) -> None:
        """End the processes and delete the packed trees of all JDKs that this builder used."""
        for worker in self._workers.values():
            worker.close()

    def _build_by_best_jdk(self, pair: Pair, mute: AbstractSet[Jdk | None]) -> JavaBuiltPair:
        """Build both ends with the first JDK that builds both completely and is not in `mute`.

        If there is none, use the first JDK of those that build the most, even one in `mute`. `mute`
        holds JDKs with which no test had a result. No further JDK is tried after a failure that any
        JDK would have.
        """
        revs = {pair.old.rev, pair.new.rev}
        for worker in self._workers.values():
            worker.cells.remove_edited_and_other_cells(revs)
        best: tuple[Build, Build] | None = None
        chosen: Jdk | None = None
        spent, tried = 0.0, []
        candidates = self._builds_by_jdk.list_candidates(pair)
        for jdk in self._builds_by_jdk.iterate_candidates_installing_missing(candidates):
            worker = self._get_worker(jdk)
            ends = worker.build(pair.old.rev), worker.build(pair.new.rev)
            spent += sum(end.cpu_seconds for end in ends)
            tried.append(ends[0].runtime)
            enough = all(map(_is_completely_built, ends))
            heard = jdk not in mute
            if (
                best is None
                or _count_built_ends_and_modules(ends) > _count_built_ends_and_modules(best)
                or (enough and heard)
            ):
                best, chosen = ends, jdk
            if (enough and heard) or any(fails_on_any_jdk(end.failure) for end in ends):
                break
        assert best is not None, 'there is always a candidate'
        lacking = (
            self._builds_by_jdk.find_release_failing_to_install(candidates)
            if any(end.failure for end in best)
            else None
        )
        old, new = _add_tried_runtimes(best, spent, tuple(tried), lacking)
        return JavaBuiltPair(
            pair=pair,
            old=old,
            new=new,
            worker=self._get_worker(chosen),
            others=lambda: self._build_with_next_jdk(pair, chosen, mute),
        )

    def _build_with_next_jdk(
        self, pair: Pair, chosen: Jdk | None, mute: AbstractSet[Jdk | None]
    ) -> JavaBuiltPair | None:
        """Build both ends with the best JDK after `chosen`; None if that is `chosen` again.

        This happens if no remaining JDK builds both ends completely.
        """
        built_pair = self._build_by_best_jdk(pair, mute | {chosen})
        return None if built_pair.worker is self._get_worker(chosen) else built_pair

    def _get_worker(self, jdk: Jdk | None) -> JdkWorker:
        if jdk not in self._workers:
            self._workers[jdk] = JdkWorker(self._builds_by_jdk.get_builds(jdk))
        return self._workers[jdk]


def make_engine(run: RunSettings, stack: ExitStack) -> RunEngine:
    """Return the engine for a run; its resources are closed with `stack`."""
    jdks = run.runtimes
    assert jdks is None or isinstance(jdks, JdkSupply), 'those that Java itself gave'
    context = JavaRunContext(run.repository, sandbox=run.sandbox, stack=stack, say=run.say)
    builds_by_jdk = BuildsByJdk(context, jdks)
    return RunEngine(
        sandbox=context.sandbox,
        make_builder=lambda: JavaBuilder(builds_by_jdk),
        remove_builds_of_revision=builds_by_jdk.remove_builds_of_revision,
    )


def _is_completely_built(end: Build) -> bool:
    """Return whether everything is built, apart from modules that fail with any JDK."""
    reasons = [why for why in end.modules.values() if why is not None]
    return end.failure is None and all(map(fails_on_any_jdk, reasons))


def _count_built_ends_and_modules(ends: tuple[Build, Build]) -> tuple[int, int]:
    """Return how much was built, for comparison: number of usable ends, then of built modules."""
    modules = [why for end in ends for why in end.modules.values()]
    return sum(end.failure is None for end in ends), sum(why is None for why in modules)


def _add_tried_runtimes(
    ends: tuple[Build, Build], spent: float, tried: tuple[str, ...], lacking: str | None
) -> tuple[Build, Build]:
    """Return copies of both builds that name the JDKs tried and the JDK release that was lacking.

    The CPU seconds of the first are set so that those of both together are `spent`.
    """
    old, new = (
        dataclasses.replace(end, runtimes_tried=tried, runtime_lacking=lacking) for end in ends
    )
    return dataclasses.replace(old, cpu_seconds=spent - new.cpu_seconds), new
