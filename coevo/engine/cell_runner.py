"""Run one pair's cells in passes: given order, reversed order, one process for each method.

Methods whose runs disagree are run again (docs/evidence.md; TestEvo-Bench, A.2). A batch that the
cache knows as a whole is not run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from coevo.engine.groups import (
    BuiltRevisions,
    Cache,
    CellGroup,
    CellsOf,
    Known,
    Results,
    compile_groups,
    compute_batch_key,
    find_unbuildable_cells,
    has_no_result_on_own_code,
)
from coevo.engine.results import RUN_ORDERS, Cost, RunOrder, SelectedMethod, Step
from coevo.languages.engine import BuiltPair
from coevo.languages.table import LANGUAGES, get_engine_version
from coevo.languages.verdicts import RunConditions, Verdict
from coevo.model.errors import Transient
from coevo.model.words import Outcome

_STEPS = {
    RunOrder.GIVEN: Step.RUN_GIVEN,
    RunOrder.REVERSED: Step.RUN_REVERSED,
    RunOrder.ALONE: Step.RUN_ALONE,
}


@dataclass(slots=True, kw_only=True)
class CellRunner:
    """A runner of groups of test methods of one pair, in given and reversed order and each alone.

    override  the workaround for all runs, if any
    step      the step that all runs are counted as; None: the step depends on the order
    """

    built: BuiltPair
    cache: Cache
    override: str | None = None
    step: Step | None = None
    cost: Cost = field(default_factory=Cost)

    def build_and_run_on_working_runtime(
        self, selected: Sequence[SelectedMethod], cells: CellsOf
    ) -> tuple[BuiltRevisions, Results, list[CellGroup]]:
        """Build the pair and run all methods once in the given order.

        If no test produced a result on its own code, other runtimes are tried.

        Returns the builds, the results of cells whose code does not build, and the other cells.
        """
        override = self.override
        begun = self._build_and_run_current_runtime(selected, cells)
        while (
            has_no_result_on_own_code(begun[-1])
            and (other := self.built.build_with_other_runtime()) is not None
        ):
            self.built, self.override = other, override
            begun = self._build_and_run_current_runtime(selected, cells)
        return begun

    def find_unbuildable_and_compile_rest(
        self, ends: BuiltRevisions, selected: Sequence[SelectedMethod], cells: CellsOf
    ) -> tuple[Results, list[CellGroup]]:
        """Compile all cells whose code builds, and look them up in the cache.

        Returns the results of cells whose code does not build, and the compiled groups.
        """
        settled = find_unbuildable_cells(ends, selected, cells)
        groups = list(compile_groups(self.built, ends, selected, settled, cells))
        for group in groups:
            self.cost.add(Step.COMPILE, group.compiled.cpu_seconds)
            group.known = self._recall_group(group)
        return settled, groups

    def run_or_recall_groups_in_order(
        self, groups: Sequence[CellGroup], order: RunOrder, skipped_ids: Collection[str] = ()
    ) -> None:
        """Run the methods of all groups in one order, or take their verdicts from the cache.

        Methods with a compiler's verdict, and those with two time-outs and nothing else, are
        skipped.
        without  ids of methods that do not need this run
        """
        for group in groups:
            chosen = [
                method_id
                for method_id in group.list_methods_to_run()
                if method_id not in skipped_ids and not group.has_timed_out_enough(method_id)
            ]
            for batch in _make_batches(chosen, order):
                if not _record_batch_if_all_cached(group, batch, order):
                    self._run_batch(group, batch, order)

    def cache_and_repeat_disagreeing(self, groups: Sequence[CellGroup]) -> None:
        """Store the runs of all groups in the cache, then repeat those that disagree."""
        for group in groups:
            self.cache_group_if_possible(group)
            self._repeat_disagreeing_runs(group)

    def cache_group_if_possible(self, group: CellGroup) -> None:
        """Store the runs of a group in the cache, unless they used an override or disagree."""
        key = self._compute_key(group)
        if key and self.override is None:
            self.cache.store_batch_if_cacheable(key, group.list_methods_to_run(), group.runs)

    def run_in_one_process(
        self, group: CellGroup, batch: Sequence[str], step: Step, order: RunOrder = RunOrder.GIVEN
    ) -> Sequence[Verdict | None]:
        """Run a batch in one process and count it as a step.

        A method whose process another method ended before its turn has no verdict (None).

        Raises: Transient if the process does not start.
        """
        if not batch:
            return ()
        methods = [group.methods[method_id] for method_id in batch]
        conditions = RunConditions(override=self.override, together=order is not RunOrder.ALONE)
        process = self.built.run(group.compiled, methods, conditions)
        heard = [verdict for verdict in process.verdicts if verdict is not None]
        for verdict in heard:
            if verdict.outcome is Outcome.INFRA and group.compiled.borrowed is None:
                raise Transient(f'a test process did not start: {verdict.message.strip()}')
        self.cost.add(step, process.cpu_seconds)
        self.cost.add(Step.TESTS, sum(v.cpu_seconds for v in heard), len(heard))
        return process.verdicts

    def _build_and_run_current_runtime(
        self, selected: Sequence[SelectedMethod], cells: CellsOf
    ) -> tuple[BuiltRevisions, Results, list[CellGroup]]:
        """Build the pair as it is set up now and run all methods once; see `build_and_run_on_working_runtime`."""
        ends = BuiltRevisions(old=self.built.old, new=self.built.new)
        for build in (ends.old, ends.new):
            self.cost.add(Step.BUILD, build.cpu_seconds)
        settled, groups = self.find_unbuildable_and_compile_rest(ends, selected, cells)
        self._run_once_trying_workaround(groups)
        return ends, settled, groups

    def _run_once_trying_workaround(self, groups: Sequence[CellGroup]) -> None:
        """Run everything once. If a failure suggests an override, run everything again with it."""
        self.run_or_recall_groups_in_order(groups, RunOrder.GIVEN)
        if self.override is not None:
            return
        self.override = _find_workaround(self.built.pair.language, groups)
        if self.override is not None:
            for group in groups:
                for method_id in group.list_methods_to_run():
                    del group.runs[method_id]
                group.known = {}
            self.run_or_recall_groups_in_order(groups, RunOrder.GIVEN)

    def _run_batch(self, group: CellGroup, batch: Sequence[str], order: RunOrder) -> None:
        """Run a batch in one process; a method without a verdict runs again alone."""
        step = self.step or _STEPS[order]
        for method_id, verdict in zip(
            batch, self.run_in_one_process(group, batch, step, order), strict=True
        ):
            recorded = order
            if verdict is None:
                recorded = RunOrder.ALONE
                (verdict,) = self.run_in_one_process(group, [method_id], step, recorded)
            assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
            group.record_run(method_id, verdict, recorded)

    def _repeat_disagreeing_runs(self, group: CellGroup) -> None:
        """Repeat each order once if the runs of a method disagree.

        The whole batch runs again, to keep the order, but only methods that disagree are recorded.
        """
        split = group.find_disagreeing_methods()
        if not split:
            return
        for order in RUN_ORDERS:
            for batch in _make_batches(group.list_methods_to_run(), order):
                if order is not RunOrder.ALONE or split.issuperset(batch):
                    verdicts = self.run_in_one_process(group, batch, Step.RUN_REPEATED, order)
                    for method_id, verdict in zip(batch, verdicts, strict=True):
                        if verdict is not None and method_id in split:
                            group.record_run(method_id, verdict, order)

    def _recall_group(self, group: CellGroup) -> Known:
        key = self._compute_key(group)
        return self.cache.load_verdicts(key, group.list_methods_to_run()) if key else {}

    def _compute_key(self, group: CellGroup) -> str | None:
        """Return the group's cache key; None if there is nothing to run or no content digest."""
        methods = [group.methods[method_id] for method_id in group.list_methods_to_run()]
        content = self.built.digest_run_inputs(group.compiled) if methods else None
        return (
            compute_batch_key(content, methods, get_engine_version(self.built.pair.language))
            if content
            else None
        )


def _find_workaround(language: str, groups: Sequence[CellGroup]) -> str | None:
    """Return the first override that the language suggests for a method's last verdict, or None."""
    for group in groups:
        for method_id in group.list_methods_to_run():
            workaround = LANGUAGES[language].suggest_workaround(group.runs[method_id][-1].verdict)
            if workaround is not None:
                return workaround
    return None


def _record_batch_if_all_cached(group: CellGroup, batch: Sequence[str], order: RunOrder) -> bool:
    """Record the cache's verdicts for a batch, if it has all of them, and return whether it has.

    A part of them is not used: the other methods would run in another process than the cached ones.
    """
    known = [group.known.get((method_id, order)) for method_id in batch]
    verdicts = [verdict for verdict in known if verdict is not None]
    if len(verdicts) < len(batch):
        return False
    for method_id, verdict in zip(batch, verdicts, strict=True):
        group.record_run(method_id, verdict, order)
    return True


def _make_batches(methods: list[str], order: RunOrder) -> list[list[str]]:
    """Split methods into the batches that share a process, each in the order in which it runs."""
    match order:
        case RunOrder.ALONE:
            return [[method_id] for method_id in methods]
        case RunOrder.REVERSED:
            return [methods[::-1]]
        case _:
            return [methods]
