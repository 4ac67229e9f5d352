"""Run the cells of a pair: compile, run in fresh processes in three orders, compare, repeat.

The rule of evidence (docs/evidence.md): a cell that decides a label is run in the given order, in
reversed order, and with one process for each method (TestEvo-Bench, A.2). If runs disagree in
outcome or failure signature, each order is repeated once, to tell `flaky` from `order_dependent`.
The compiler is deterministic and runs once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coevo.engine.cell_runner import CellRunner
from coevo.engine.groups import (
    BuiltRevisions,
    Cache,
    CellGroup,
    Results,
    collect_results,
    list_cells_of_candidate,
    make_compiled_group,
)
from coevo.engine.results import (
    RUN_ORDERS,
    CellResult,
    Evidence,
    PairEvaluation,
    RunOrder,
    SelectedMethod,
    Step,
)
from coevo.languages.capabilities import Capability
from coevo.languages.cells import BorrowedSettings, SettingsScope
from coevo.languages.engine import Builder
from coevo.languages.table import offers_capability
from coevo.model.labels import (
    BROKEN_CELL,
    LATER_CELL,
    RECORDED_CELL,
    RECORDED_LABELS,
    can_be_extension,
    decide_label,
    decide_published_label,
)
from coevo.model.records import Candidate, Pair
from coevo.model.words import Cell, Label, Outcome

NO_CACHE = Cache(None)


def evaluate_pair(
    builder: Builder,
    pair: Pair,
    selected: Sequence[SelectedMethod],
    cache: Cache = NO_CACHE,
    override: str | None = None,
    *,
    all_cells: bool = False,
) -> PairEvaluation:
    """Build a pair and run the cells that decide the labels of the selected methods.

    selected   the methods, in a fixed order
    override   a workaround for all runs, where it is already known that one is needed
    all_cells  whether to run new tests on old code also for labels that do not depend on it
    """
    runner = CellRunner(built=builder.build(pair), cache=cache, override=override)
    ends, settled, groups = runner.build_and_run_on_working_runtime(
        selected, list_cells_of_candidate
    )
    runner.run_or_recall_groups_in_order(groups, RunOrder.REVERSED)
    contradicted = _find_unlabellable_methods(selected, collect_results(settled, groups))
    runner.run_or_recall_groups_in_order(groups, RunOrder.ALONE, skipped_ids=contradicted)
    runner.cache_and_repeat_disagreeing(groups)
    results, groups = _run_extension_cells(
        runner, ends, selected, collect_results(settled, groups), groups
    )
    selected = tuple(item.correct_change(results.get(item.method_id, {})) for item in selected)
    return PairEvaluation(
        built=runner.built,
        override=runner.override,
        results=results,
        selected=selected,
        fixed_by_settings=_rerun_and_find_fixed_by_settings(
            runner, ends, groups, _find_broken_cells(selected, results)
        )
        if offers_capability(pair.language, Capability.BORROW)
        else {},
        cost=runner.cost,
        recorded=_run_recorded_cells(runner, ends, selected, results) if all_cells else {},
    )


def evaluate_new_revision(
    builder: Builder, pair: Pair, selected: Sequence[SelectedMethod], cache: Cache = NO_CACHE
) -> PairEvaluation:
    """Build a pair and run tests of the new revision on its own code, in all three orders.

    Nothing is run at the old revision. Runs that disagree are repeated.
    """
    runner = CellRunner(built=builder.build(pair), cache=cache)
    _, settled, groups = runner.build_and_run_on_working_runtime(selected, _list_new_revision_cells)
    for order in (RunOrder.REVERSED, RunOrder.ALONE):
        runner.run_or_recall_groups_in_order(groups, order)
    runner.cache_and_repeat_disagreeing(groups)
    return PairEvaluation(
        built=runner.built,
        override=runner.override,
        results=collect_results(settled, groups),
        fixed_by_settings={},
        cost=runner.cost,
    )


def _list_new_revision_cells(_: Candidate) -> tuple[Cell, ...]:
    return (Cell.T_NEW_C_NEW,)


# -- methods that need no third run --------------------------------------------------------------


def _find_unlabellable_methods(
    selected: Sequence[SelectedMethod], found: Results
) -> frozenset[str]:
    """Return the ids of methods that can get no label, by either verdict, after two agreeing runs.

    They will be dropped, so the run with one process for each method is skipped for them. Methods
    whose runs disagree get all runs.
    """
    return frozenset(
        item.method_id
        for item in selected
        if not _can_be_labelled(item, found.get(item.method_id, {}))
    )


def _can_be_labelled(item: SelectedMethod, cells: Mapping[Cell, CellResult]) -> bool:
    """Return whether a method may still get a label: it has one so far, or its runs disagree."""
    if not _do_all_runs_agree(cells):
        return True
    return any(
        isinstance(verdict, Label) for verdict in _compute_labels_by_method_and_unit(item, cells)
    )


def _do_all_runs_agree(cells: Mapping[Cell, CellResult]) -> bool:
    return all(result.evidence is Evidence.AGREED for result in cells.values())


def _compute_labels_by_method_and_unit(
    item: SelectedMethod, cells: Mapping[Cell, CellResult]
) -> tuple[Label | str, Label | str]:
    """Return two labels or drop reasons: by the method's own outcomes, and by those of its unit."""
    item = item.correct_change(cells)
    return (
        decide_label(item.candidate.change, {cell: r.outcome for cell, r in cells.items()}),
        decide_published_label(
            item.candidate.change, {cell: r.outcome_by_unit for cell, r in cells.items()}
        ),
    )


# -- the cell that tells extensions from refinements ----------------------------------------------


def _run_extension_cells(
    runner: CellRunner,
    ends: BuiltRevisions,
    selected: Sequence[SelectedMethod],
    results: Results,
    groups: list[CellGroup],
) -> tuple[Results, list[CellGroup]]:
    """Run `LATER_CELL` for the changed methods that pass in all other cells.

    Return all results and all groups, those of the other cells included.
    """
    chosen = [
        item
        for item in selected
        if _do_all_runs_agree(cells := results.get(item.method_id, {}))
        and can_be_extension(
            item.candidate.change, {cell: result.outcome for cell, result in cells.items()}
        )
    ]
    if not chosen:
        return results, groups
    settled, later = runner.find_unbuildable_and_compile_rest(ends, chosen, lambda _: (LATER_CELL,))
    for order in RUN_ORDERS:
        runner.run_or_recall_groups_in_order(later, order)
    runner.cache_and_repeat_disagreeing(later)
    joined = {method_id: dict(cells) for method_id, cells in results.items()}
    for method_id, cells in collect_results(settled, later).items():
        joined[method_id] |= cells
    return joined, [*groups, *later]


# -- cells that are recorded but decide nothing --------------------------------------------------


def _run_recorded_cells(
    runner: CellRunner, ends: BuiltRevisions, selected: Sequence[SelectedMethod], found: Results
) -> Results:
    """Run the new tests of `RECORDED_LABELS` on the old code, in all three orders.

    Methods whose label depends on that cell were run in it before. Runs that disagree are not
    repeated, since no label depends on them.
    """
    chosen = [
        item
        for item in selected
        if _do_all_runs_agree(cells := found.get(item.method_id, {}))
        and RECORDED_CELL not in cells
        and any(
            verdict in RECORDED_LABELS
            for verdict in _compute_labels_by_method_and_unit(item, cells)
        )
    ]
    settled, groups = runner.find_unbuildable_and_compile_rest(
        ends, chosen, lambda _: (RECORDED_CELL,)
    )
    runner.step = Step.RUN_RECORDED
    for order in RUN_ORDERS:
        runner.run_or_recall_groups_in_order(groups, order)
    for group in groups:
        runner.cache_group_if_possible(group)
    return collect_results(settled, groups)


# -- causes of broken cells ----------------------------------------------------------------------


def _find_broken_cells(selected: Sequence[SelectedMethod], found: Results) -> dict[str, Cell]:
    """Return the broken cell of each method whose label depends on one, by method id."""
    broken: dict[str, Cell] = {}
    for item in selected:
        cells = found.get(item.method_id, {})
        verdict = decide_label(
            item.candidate.change, {cell: r.outcome for cell, r in cells.items()}
        )
        if isinstance(verdict, Label) and verdict in BROKEN_CELL:
            broken[item.method_id] = BROKEN_CELL[verdict]
    return broken


def _rerun_and_find_fixed_by_settings(
    runner: CellRunner,
    ends: BuiltRevisions,
    groups: Sequence[CellGroup],
    broken: Mapping[str, Cell],
) -> dict[str, SettingsScope]:
    """Run broken methods again with libraries or settings of the other revision.

    Return by method id, for those that pass then, what had to be borrowed; test libraries alone are
    tried first. A module is tried only if the revisions' libraries or settings differ
    (docs/evidence.md, `build`).
    """
    fixed_by_settings: dict[str, SettingsScope] = {}
    for group in groups:
        for scope in SettingsScope:
            methods = {
                method_id: group.methods[method_id]
                for method_id, cell in broken.items()
                if cell is group.cell
                and method_id in group.methods
                and method_id not in fixed_by_settings
            }
            borrowed = BorrowedSettings(
                rev=ends.get_build_opposite_to_code(group.cell).rev, scope=scope
            )
            compiled = group.compiled
            if methods and runner.built.do_settings_differ(
                compiled.code_rev, compiled.module, borrowed
            ):
                tried = make_compiled_group(
                    runner.built,
                    group.cell,
                    runner.built.compile(
                        compiled.tests_rev,
                        compiled.code_rev,
                        compiled.module,
                        borrowed,
                        methods=tuple(methods.values()),
                    ),
                    methods,
                )
                fixed_by_settings |= dict.fromkeys(_run_and_list_passing(runner, tried), scope)
    return fixed_by_settings


def _run_and_list_passing(runner: CellRunner, group: CellGroup) -> list[str]:
    """Run a group in one process and return the methods that pass; nothing is recorded as a run."""
    runner.cost.add(Step.COMPILE, group.compiled.cpu_seconds)
    batch = group.list_methods_to_run()
    verdicts = runner.run_in_one_process(group, batch, Step.RUN_FOR_CAUSE)
    return [
        method_id
        for method_id, verdict in zip(batch, verdicts, strict=True)
        if verdict is not None and verdict.outcome is Outcome.PASS
    ]
