"""Decide a method's label, cause and track from its cells, or the reason why it is dropped; check
repairs.

There are two verdicts about compilation (docs/evidence.md). `label` and `track` follow the method
itself. `label_by_module` and `track_by_module` follow Maven, for which one test file that does not
compile breaks its whole module.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from coevo.engine.results import CellResult, Cost, Evidence, PairEvaluation, SelectedMethod, Step
from coevo.languages.cells import CompiledTests
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import RunConditions, Verdict
from coevo.model.errors import Transient
from coevo.model.labels import (
    BROKEN_CELL,
    TRACKS,
    adjust_label_by_cause,
    decide_label,
    decide_published_label,
    find_deciding_cells_of_row,
)
from coevo.model.quality import RepairGuard
from coevo.model.reasons import LIBRARY_REASONS
from coevo.model.records import Candidate, Commit, TestMethod
from coevo.model.words import BreakageCause, Cell, Label, Outcome, Track

# Decide a method's label, cause and track from its cells, or the reason why it is dropped.

_VARIABLE = re.compile(r"'([A-Z][A-Z0-9_]{0,63})'")

CAUSES_WITH_TRACK = {
    Track.UPDATE: (BreakageCause.PRODUCTION,),
    Track.GENERATION: (BreakageCause.PRODUCTION,),
    Track.EXTENSION: (BreakageCause.PRODUCTION,),
    Track.REPAIR: (BreakageCause.TEST, BreakageCause.SYNTAX),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision about one candidate.

    reason          why the candidate is dropped; None if one of the two verdicts gives a label
    detail          more about `reason`, such as a failure signature
    no_track        why a label that could have a track has none; None in all other cases
    flake_upper_95  see `compute_flake_bound`
    """

    label: Label | None
    track: Track | None
    label_by_module: Label | None
    track_by_module: Track | None
    cause: BreakageCause | None
    reason: str | None
    detail: str
    no_track: str | None
    flake_upper_95: float | None


def decide_candidate(
    candidate: Candidate, method_id: str, evaluation: PairEvaluation, *, build_changed: bool
) -> Decision:
    """Return the decision about a candidate whose cells were run.

    build_changed  whether the pair changes the build, so that no repair gets a track
    """
    cells = evaluation.get_deciding_cells(method_id)
    evidence = evaluation.get_worst_evidence(method_id)
    if evidence is not Evidence.AGREED:
        return _make_drop(str(evidence))
    label_or_reason = decide_label(candidate.change, {cell: r.outcome for cell, r in cells.items()})
    by_unit = decide_published_label(
        candidate.change, {cell: r.outcome_by_unit for cell, r in cells.items()}
    )
    label_by_module = by_unit if isinstance(by_unit, Label) else None
    if not isinstance(label_or_reason, Label) and label_by_module is None:
        return _drop_contradiction(label_or_reason, cells)
    own = label_or_reason if isinstance(label_or_reason, Label) else None
    fixed_by_settings = method_id in evaluation.fixed_by_settings
    cause = find_cause(own, cells, fixed_by_settings=fixed_by_settings) if own else None
    own = adjust_label_by_cause(own, cause) if own else None
    no_track = (
        explain_no_track(own, cells, cause, build_changed=build_changed)
        if own in TRACKS and own
        else None
    )
    return Decision(
        label=own,
        track=TRACKS.get(own) if own and no_track is None else None,
        label_by_module=label_by_module,
        track_by_module=TRACKS.get(label_by_module) if label_by_module else None,
        cause=cause,
        reason=None,
        detail='',
        no_track=no_track,
        flake_upper_95=compute_flake_bound(cells, candidate),
    )


def find_cause(
    found: Label, cells: Mapping[Cell, CellResult], *, fixed_by_settings: bool
) -> BreakageCause | None:
    """Return why the cell that decides the label is broken; None for a label without such a cell.

    fixed_by_settings  whether the test passes with libraries or settings of the other revision
    """
    if found not in BROKEN_CELL:
        return None
    verdict = cells[BROKEN_CELL[found]].deciding_verdict
    if fixed_by_settings:
        return BreakageCause.BUILD
    if verdict.environment is not None:
        return BreakageCause.ENVIRONMENT
    if found is Label.REPAIR:
        return BreakageCause.SYNTAX if verdict.syntax else BreakageCause.TEST
    return BreakageCause.FIXTURE if found is Label.FIXTURE_UPDATE else BreakageCause.PRODUCTION


def explain_no_track(
    found: Label,
    cells: Mapping[Cell, CellResult],
    cause: BreakageCause | None,
    *,
    build_changed: bool,
) -> str | None:
    """Return why a label that could have a track has none; None if it has one."""
    track = TRACKS[found]
    if cause not in CAUSES_WITH_TRACK[track]:
        return f'cause_{cause}'
    if cells[BROKEN_CELL[found]].outcome is Outcome.TIMEOUT:
        return 'timeout_alone'
    if track is Track.REPAIR and build_changed:
        return 'build_changed'
    return None


def compute_flake_bound(cells: Mapping[Cell, CellResult], candidate: Candidate) -> float | None:
    """Return the flake rate's upper bound for the smallest number of runs of a deciding cell.

    Cells that the compiler decided do not count; None if it decided all of them.
    """
    runs = [
        len(cells[cell].runs)
        for cell in find_deciding_cells_of_row(
            candidate.change, {c: r.outcome for c, r in cells.items()}
        )
        if cells[cell].outcome is not Outcome.COMPILE_ERROR
    ]
    return compute_upper_95(min(runs)) if runs else None


def compute_upper_95(runs: int) -> float:
    """Return the exact one-sided 95 % upper bound of the flake rate after n agreeing runs.

    It is 1 - 0.05^(1/n), to six decimals.
    """
    return round(1 - math.pow(0.05, 1 / runs), 6)


def _drop_contradiction(reason: str, cells: Mapping[Cell, CellResult]) -> Decision:
    """Return the drop for a contradiction; its detail describes the cell that the reason names.

    If that code was not built because a library is missing, the library's reason takes its place.
    """
    result = next((r for cell, r in cells.items() if reason.startswith(f'{cell}_')), None)
    if result is None:
        return _make_drop(reason)
    verdict = result.deciding_verdict
    if verdict.outcome is Outcome.UNBUILDABLE and verdict.signature in LIBRARY_REASONS:
        return _make_drop(verdict.signature, reason)
    withheld = f'environment: {verdict.environment}' if verdict.environment else None
    parts = (verdict.signature, find_missing_environment_variable(verdict), withheld)
    return _make_drop(reason, ', '.join(filter(None, parts)))


def find_missing_environment_variable(verdict: Verdict) -> str | None:
    """Return the name that a test looked up in vain, if it is written like an environment variable.

    Other messages are not the same in each run.
    """
    match = _VARIABLE.fullmatch(verdict.message)
    is_lookup = (verdict.signature or '').startswith('KeyError@')
    return match[1] if match is not None and is_lookup else None


def _make_drop(reason: str, detail: str = '') -> Decision:
    return Decision(
        label=None,
        track=None,
        label_by_module=None,
        track_by_module=None,
        cause=None,
        reason=reason,
        detail=detail,
        no_track=None,
        flake_upper_95=None,
    )


# Check that the fault is the test's own where a label is `repair` (docs/evidence.md).
#
# There are two checks. Another test nearby must pass in t_old_c_old, so that tests can run there at
# all. And the cells must have the same outcomes with the clock set to the dates of the commits, so
# that the test was already broken at that time.

# Returns groups of other tests for a test of the old tree, the nearest group first; all are small.
Siblings = Callable[[TestMethod], Iterable[Sequence[TestMethod]]]


class RepairKind(StrEnum):
    """The kinds of TAM-Eval (section III, "Test Repair") in which the test is broken.

    In its other kinds the test passes.
    """

    SYNTAX = 'syntax'
    EXECUTION = 'execution'  # it parses, but does not compile or does not pass


def classify_repair(label: Label | None, cause: BreakageCause | None) -> RepairKind | None:
    """Return the kind of a repair; None for other labels and for causes outside of the test."""
    if label is not Label.REPAIR or cause not in CAUSES_WITH_TRACK[Track.REPAIR]:
        return None
    return RepairKind.SYNTAX if cause is BreakageCause.SYNTAX else RepairKind.EXECUTION


def run_and_collect_repair_evidence(
    evaluation: PairEvaluation,
    repairs: Sequence[SelectedMethod],
    selected: Sequence[SelectedMethod],
    siblings: Siblings,
) -> Mapping[str, RepairGuard]:
    """Return evidence that tests with the label `repair` were at fault themselves, by method id.

    Tests near each of them are run on the old code until one passes. Its own cells are run again
    with the clock set to the dates of the commits.
    selected  all methods that were evaluated; their results are reused for siblings
    siblings  returns the tests near a test, in groups, the nearest group first
    """
    pair = evaluation.built.pair
    runner = _GuardRunner(
        built=evaluation.built, cost=evaluation.cost, override=evaluation.override
    )
    named = _run_and_name_passing_siblings(
        runner, repairs, _collect_known_passes_on_old(evaluation, selected), siblings
    )
    old = _run_under_clock(runner, evaluation, repairs, Cell.T_OLD_C_OLD, pair.old)
    new = _run_under_clock(runner, evaluation, repairs, Cell.T_NEW_C_NEW, pair.new)
    return {
        item.method_id: RepairGuard(
            sibling=named.get(item.method_id),
            clock_t_old_c_old=old[item.method_id],
            clock_t_new_c_new=new[item.method_id],
        )
        for item in repairs
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _GuardRunner:
    """Runs tests as in the cells of the pair, and counts the CPU time as a cost."""

    built: BuiltPair
    cost: Cost
    override: str | None
    compiled: dict[tuple[str, str], CompiledTests] = field(default_factory=dict)

    def compile_on_own_code(self, rev: str, module: str) -> CompiledTests:
        """Compile a module's tests against the code of the same revision, once."""
        if (rev, module) not in self.compiled:
            compiled = self.built.compile(rev, rev, module, methods=())
            self.cost.add(Step.COMPILE, compiled.cpu_seconds)
            self.compiled[rev, module] = compiled
        return self.compiled[rev, module]

    def run_methods(
        self, compiled: CompiledTests, methods: Sequence[TestMethod], conditions: RunConditions
    ) -> Sequence[Verdict | None]:
        """Run methods in one process, under the override of the pair's cells."""
        batch = self.built.run(compiled, methods, replace(conditions, override=self.override))
        self.cost.add(Step.RUN_FOR_GUARD, batch.cpu_seconds)
        return batch.verdicts


# -- siblings ------------------------------------------------------------------------------------


def _collect_known_passes_on_old(
    evaluation: PairEvaluation, selected: Sequence[SelectedMethod]
) -> dict[TestMethod, bool]:
    """Return whether tests pass in t_old_c_old, for all tests that were run there."""
    return {
        item.candidate.old: cells[Cell.T_OLD_C_OLD].outcome is Outcome.PASS
        for item in selected
        if item.candidate.old is not None
        and Cell.T_OLD_C_OLD in (cells := evaluation.get_deciding_cells(item.method_id))
    }


def _run_and_name_passing_siblings(
    runner: _GuardRunner,
    repairs: Sequence[SelectedMethod],
    known: dict[TestMethod, bool],
    siblings: Siblings,
) -> dict[str, str]:
    """Run tests near each repair in t_old_c_old until one passes, and return its name by method id.

    A repair without a passing test near it is absent.
    """
    sibling_names: dict[str, str] = {}
    for item in repairs:
        for group in siblings(_get_old_method(item)):
            _run_on_old_and_note_passes(
                runner, [method for method in group if method not in known], known
            )
            passing = next((method for method in group if known[method]), None)
            if passing is not None:
                sibling_names[item.method_id] = f'{passing.test_class}#{passing.test_method}'
                break
    return sibling_names


def _run_on_old_and_note_passes(
    runner: _GuardRunner, methods: Sequence[TestMethod], known: dict[TestMethod, bool]
) -> None:
    """Run tests of one module in t_old_c_old and add to `known` whether they pass.

    A test that another test's end of the process kept from running counts as not passing.

    Raises: Transient if the test process does not start.
    """
    known |= dict.fromkeys(methods, False)
    if not methods:
        return
    compiled = runner.compile_on_own_code(runner.built.old.rev, methods[0].module)
    methods = [m for m in methods if runner.built.find_compile_verdict(compiled, m) is None]
    verdicts = runner.run_methods(compiled, methods, RunConditions()) if methods else ()
    for method, verdict in zip(methods, verdicts, strict=True):
        if verdict is not None and verdict.outcome is Outcome.INFRA:
            raise Transient(f'a test process did not start: {verdict.message.strip()}')
        known[method] = verdict is not None and verdict.outcome is Outcome.PASS


# -- the clock -----------------------------------------------------------------------------------


def _run_under_clock(
    runner: _GuardRunner,
    evaluation: PairEvaluation,
    repairs: Sequence[SelectedMethod],
    cell: Cell,
    commit: Commit,
) -> dict[str, Outcome | None]:
    """Return the outcome of each repair in a cell, with the clock set to the date of the commit.

    None where it cannot be found out, such as without a date or a clock that can be set. A compile
    error is taken over from the cell, since the compiler does not depend on the date.
    """
    outcomes: dict[str, Outcome | None] = dict.fromkeys((item.method_id for item in repairs), None)
    by_module: dict[str, dict[str, TestMethod]] = {}
    for item in repairs:
        method = _get_old_method(item) if cell is Cell.T_OLD_C_OLD else item.candidate.method
        if evaluation.get_deciding_cells(item.method_id)[cell].outcome is Outcome.COMPILE_ERROR:
            outcomes[item.method_id] = Outcome.COMPILE_ERROR
        else:
            by_module.setdefault(method.module, {})[item.method_id] = method
    if commit.committer_date is None:
        return outcomes
    conditions = RunConditions(clock=commit.committer_date)
    for module, methods in by_module.items():
        compiled = runner.compile_on_own_code(commit.rev, module)
        verdicts = runner.run_methods(compiled, tuple(methods.values()), conditions)
        for (method_id, method), verdict in zip(methods.items(), verdicts, strict=True):
            expected = evaluation.get_deciding_cells(method_id)[cell].outcome
            if verdict is None or verdict.outcome not in (expected, Outcome.INFRA):
                verdict = runner.run_methods(compiled, [method], conditions)[
                    0
                ]  # run again alone, to rule out that another method caused it
            assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
            known = verdict.outcome is not Outcome.INFRA
            outcomes[method_id] = verdict.outcome if known else None
    return outcomes


def _get_old_method(item: SelectedMethod) -> TestMethod:
    assert item.candidate.old is not None, 'a repair has been there before'
    return item.candidate.old
