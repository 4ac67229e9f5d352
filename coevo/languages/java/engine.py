"""The engine of a run over one repository, for all of its JDKs."""

from __future__ import annotations

import dataclasses
from collections.abc import Set as AbstractSet
from contextlib import ExitStack

from coevo.languages.builds import Build
from coevo.languages.core.engines import RunEngine
from coevo.languages.engine import RunSettings
from coevo.languages.java.built_pair import JavaBuiltPair
from coevo.languages.java.jdk_worker import JdkWorker
from coevo.languages.java.revisions.failures import fails_on_any_jdk
from coevo.languages.java.revisions.jdk_choice import BuildsByJdk
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.jdks import Jdk
from coevo.model.records import Pair


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
