"""Workshops for pairs: both ends are built with the same JDK, the first candidate that does it."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from coevo.languages.base import PLAIN
from coevo.languages.base import Batch
from coevo.languages.base import BorrowedSettings
from coevo.languages.base import Build
from coevo.languages.base import Checked
from coevo.languages.base import Compiled
from coevo.languages.base import Conditions
from coevo.languages.base import Edits
from coevo.languages.base import Verdict
from coevo.languages.java.maven.attempts import is_hopeless
from coevo.languages.java.maven.jdk_choice import pair_candidates
from coevo.languages.java.maven.run_context import JavaRunContext
from coevo.languages.java.maven.shared_builds import SharedBuilds
from coevo.languages.java.maven.workshop import JavaWorkshop
from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.jdks import Jdk
from coevo.languages.mutation_tools import ByteCodeMutants
from coevo.languages.traces import Traced
from coevo.model.records import Environment
from coevo.model.records import Pair
from coevo.model.records import TestMethod


class BuildsByJdk:
    """The builds of each JDK that some pair needs; shared by all workshops of a run."""

    def __init__(self, run: JavaRunContext, jdks: JdkSupply | None = None) -> None:
        self._run = run
        self._jdks = jdks or JdkSupply()
        self._builds_by_jdk: dict[Jdk | None, SharedBuilds] = {}
        self._lock = threading.Lock()

    def candidates(self, pair: Pair) -> tuple[Jdk, ...]:
        """The JDKs to try, some of which may have to be brought."""
        return pair_candidates(self._run.repository, pair, self._jdks.offered)

    def had(self, candidates: Sequence[Jdk]) -> Iterator[Jdk | None]:
        """Those candidates that can be had, each brought when it is its turn.

        If none can, the newest at hand; with none at all None, for what the toolchain says of that.
        """
        found = False
        for jdk in candidates:
            had = self._jdks.get(jdk)
            if had is not None:
                found = True
                yield had
        if not found:
            yield max(self._jdks.known, key=lambda jdk: jdk.feature, default=None)

    def lacking(self, candidates: Sequence[Jdk]) -> str | None:
        """The feature release of the first candidate that could not be brought."""
        return next((jdk.release for jdk in candidates if self._jdks.failed(jdk)), None)

    def builds(self, jdk: Jdk | None) -> SharedBuilds:
        with self._lock:
            if jdk not in self._builds_by_jdk:
                self._builds_by_jdk[jdk] = SharedBuilds(self._run, jdk)
            return self._builds_by_jdk[jdk]

    def forget(self, rev: str) -> None:
        """Remove what was built of a revision."""
        for builds in tuple(self._builds_by_jdk.values()):
            builds.forget(rev)


class PairWorkshop:
    """Fulfils `coevo.languages.base.Workshop`; one per thread, for one pair after the other.

    What is chosen for a pair follows from the pair alone: nothing is learnt from other pairs, since then
    a row would depend on what was mined before it.
    """

    def __init__(self, builds_by_jdk: BuildsByJdk) -> None:
        self._builds_by_jdk = builds_by_jdk
        self._workshops: dict[Jdk | None, JavaWorkshop] = {}
        self._current: JavaWorkshop | None = None
        self._mute: dict[str, set[Jdk | None]] = {}  # by pair: those on which no test says anything

    def build(self, pair: Pair) -> tuple[Build, Build]:
        """Both ends, by the first JDK that builds both and is not mute; else by the first that builds
        most."""
        revs = {pair.old.rev, pair.new.rev}
        for workshop in self._workshops.values():
            workshop.keep_only(revs)
        best: tuple[Build, Build] | None = None
        spent, tried = 0.0, []
        candidates = self._builds_by_jdk.candidates(pair)
        for jdk in self._builds_by_jdk.had(candidates):
            workshop = self._workshop(jdk)
            workshop.keep_only(revs)
            ends = workshop.build(pair.old.rev), workshop.build(pair.new.rev)
            spent += sum(end.cpu_seconds for end in ends)
            tried.append(ends[0].runtime)
            enough = all(map(_is_all_there_is, ends))
            heard = jdk not in self._mute.get(pair.pair_id, ())
            if best is None or _extent(ends) > _extent(best) or (enough and heard):
                best, self._current = ends, workshop
            if (enough and heard) or any(is_hopeless(end.failure) for end in ends):
                break
        assert best is not None, 'there is always a candidate'
        lacking = (
            self._builds_by_jdk.lacking(candidates) if any(end.failure for end in best) else None
        )
        return _told(best, spent, tuple(tried), lacking)

    def build_otherwise(self, pair: Pair) -> tuple[Build, Build] | None:
        """By the next JDK that builds both; by the first one again where tests are mute on them all."""
        before = self._chosen
        mute = self._mute.setdefault(pair.pair_id, set())
        mute |= {jdk for jdk, workshop in self._workshops.items() if workshop is before}
        ends = self.build(pair)
        return None if self._current is before else ends

    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None = None,
        edits: Edits | None = None,
    ) -> Compiled:
        return self._chosen.compile(tests_rev, code_rev, module, borrowed, edits)

    def check_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[Checked, ...]:
        return self._chosen.check_sources(code_rev, module, path, variants)

    def differs(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool:
        return self._chosen.differs(code_rev, module, borrowed)

    def compile_verdict(self, compiled: Compiled, method: TestMethod) -> Verdict | None:
        return self._chosen.compile_verdict(compiled, method)

    def shadowing(self, compiled: Compiled) -> frozenset[str]:
        return self._chosen.shadowing(compiled)

    def content(self, compiled: Compiled) -> str | None:
        return self._chosen.content(compiled)

    def run(
        self, compiled: Compiled, methods: Sequence[TestMethod], conditions: Conditions = PLAIN
    ) -> Batch:
        return self._chosen.run(compiled, methods, conditions)

    def trace(
        self,
        compiled: Compiled,
        methods: Sequence[TestMethod],
        files: Collection[str],
        conditions: Conditions = PLAIN,
        *,
        shared: bool = False,
        watched: Mapping[str, Collection[int]] | None = None,
    ) -> Traced:
        return self._chosen.trace(
            compiled, methods, files, conditions, shared=shared, watched=watched
        )

    def mutate(
        self,
        compiled: Compiled,
        method: TestMethod,
        lines: Mapping[str, Collection[int]],
        conditions: Conditions = PLAIN,
    ) -> ByteCodeMutants:
        return self._chosen.mutate(compiled, method, lines, conditions)

    def workaround(self, verdict: Verdict) -> str | None:
        return self._chosen.workaround(verdict)

    def environment(self, rev: str, module: str) -> Environment | None:
        return self._chosen.environment(rev, module)

    def close(self) -> None:
        for workshop in self._workshops.values():
            workshop.close()

    @property
    def _chosen(self) -> JavaWorkshop:
        assert self._current is not None, 'a pair is built before it is used'
        return self._current

    def _workshop(self, jdk: Jdk | None) -> JavaWorkshop:
        if jdk not in self._workshops:
            self._workshops[jdk] = JavaWorkshop(self._builds_by_jdk.builds(jdk))
        return self._workshops[jdk]


def _is_all_there_is(end: Build) -> bool:
    """Whether all of a revision is built that any JDK builds."""
    reasons = [why for why in end.modules.values() if why is not None]
    return end.failure is None and all(map(is_hopeless, reasons))


def _extent(ends: tuple[Build, Build]) -> tuple[int, int]:
    """Usable ends, then modules built."""
    modules = [why for end in ends for why in end.modules.values()]
    return sum(end.failure is None for end in ends), sum(why is None for why in modules)


def _told(
    ends: tuple[Build, Build], spent: float, tried: tuple[str, ...], lacking: str | None
) -> tuple[Build, Build]:
    """Both say what was tried; the first pays for all of it."""
    old, new = (
        dataclasses.replace(end, runtimes_tried=tried, runtime_lacking=lacking) for end in ends
    )
    return dataclasses.replace(old, cpu_seconds=spent - new.cpu_seconds), new
