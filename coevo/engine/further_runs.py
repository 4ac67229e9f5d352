"""Further runs of labelled tests: passes confirmed by an observer, and traces of what a test
executes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from coevo.engine.groups import BuiltRevisions, get_method_in_cell, list_cells_of_candidate
from coevo.engine.results import PairEvaluation, SelectedMethod, Step
from coevo.git.repository import Repository, load_content
from coevo.languages.capabilities import Capability
from coevo.languages.table import detect_file_language, get_reading_of_file, offers_capability
from coevo.languages.verdicts import RunConditions, Trace, Verdict
from coevo.model.quality import PairEnd
from coevo.model.records import TestMethod
from coevo.model.words import Cell, Outcome

# Confirm the deciding passes of mined tests by an observer outside of the test process.
#
# A test that forges its own verdict does so in all three runs alike. Each pass that a track depends
# on is therefore run again under the observer that also watches submissions. If the observer doubts
# the pass, the method loses its track but keeps its label.

# A doubt must occur in this many runs: a failure of coevo hardly repeats, a forged pass does.
_RUNS = 2


def rerun_and_find_doubts(
    evaluation: PairEvaluation,
    selected: Sequence[SelectedMethod],
    repository: Repository,
) -> dict[str, str]:
    """Run the deciding passes again under the observer, and return why one of them is doubted.

    The reasons are by method id; a confirmed method has none, and neither has a method whose
    language has no observer. A reason is a kind of tampering, see docs/trust.md. The CPU time is
    counted as a cost.
    """
    reasons = {}
    ends = BuiltRevisions(old=evaluation.old, new=evaluation.new)
    for item in selected:
        if not offers_capability(
            detect_file_language(item.candidate.method.test_file), Capability.OBSERVE
        ):
            continue
        for cell, method in _list_passing_cells(evaluation, item):
            tests, code = ends.get_tests_build(cell).rev, ends.get_code_build(cell).rev
            conditions = _make_observing_conditions(evaluation, repository, tests, method)
            reason = _rerun_and_find_confirmed_doubt(evaluation, (tests, code), method, conditions)
            if reason is not None:
                reasons[item.method_id] = reason
                break
    return reasons


def rerun_and_find_suite_doubt(
    evaluation: PairEvaluation, methods: Sequence[TestMethod], repository: Repository
) -> str | None:
    """Run the passing tests of a test file at the new revision again under the observer.

    All of them run together first, since nearly always none is doubted. A test that is doubted, or
    has no verdict, then runs alone. Return the reason and the test's name for the first doubted
    test; None without one, or if the language has no observer.
    """
    if not offers_capability(detect_file_language(methods[0].test_file), Capability.OBSERVE):
        return None
    rev = evaluation.new.rev
    conditions = _make_observing_conditions(evaluation, repository, rev, methods[0])
    compiled = evaluation.built.compile(rev, rev, methods[0].module, methods=methods)
    batch = evaluation.built.run(compiled, methods, conditions)
    evaluation.cost.add(Step.RUN_OBSERVED, batch.cpu_seconds)
    for method, verdict in zip(methods, batch.verdicts, strict=True):
        if verdict is None or verdict.tampered is not None:
            reason = _rerun_and_find_confirmed_doubt(evaluation, (rev, rev), method, conditions)
            if reason is not None:
                return f'{reason} {method.test_method}'
    return None


def _make_observing_conditions(
    evaluation: PairEvaluation, repository: Repository, tests: str, method: TestMethod
) -> RunConditions:
    """Return the conditions of an observed run.

    tests  the revision of the method's test file
    """
    source = load_content(repository, tests, method.test_file) or b''
    expects = get_reading_of_file(method.test_file).list_expected_throws(source)
    return RunConditions(override=evaluation.override, observed=True, expects=expects)


def _list_passing_cells(
    evaluation: PairEvaluation, item: SelectedMethod
) -> Iterator[tuple[Cell, TestMethod]]:
    """Yield the deciding cells in which a method passes, with the method as it is there."""
    results = evaluation.get_deciding_cells(item.method_id)
    for cell in list_cells_of_candidate(item.candidate):
        method = get_method_in_cell(item.candidate, cell)
        if cell in results and results[cell].outcome is Outcome.PASS and method is not None:
            yield cell, method


def _rerun_and_find_confirmed_doubt(
    evaluation: PairEvaluation,
    revs: tuple[str, str],
    method: TestMethod,
    conditions: RunConditions,
) -> str | None:
    """Return why a pass is doubted in each of the observed runs; None if one run does not doubt it.

    A run that fails raises no doubt: whether runs agree is checked elsewhere.
    """
    reason = None
    for _ in range(_RUNS):
        verdict = _run_observed(evaluation, revs, method, conditions)
        reason = verdict.tampered if verdict is not None else None
        if reason is None:
            return None
    return reason


def _run_observed(
    evaluation: PairEvaluation,
    revs: tuple[str, str],
    method: TestMethod,
    conditions: RunConditions,
) -> Verdict | None:
    compiled = evaluation.built.compile(*revs, method.module, methods=(method,))
    batch = evaluation.built.run(compiled, [method], conditions)
    evaluation.cost.add(Step.RUN_OBSERVED, batch.cpu_seconds)
    return batch.verdicts[0]


# Record what labelled test methods execute, in one more run for each module and cell.
#
# A test is traced only in cells in which it passes: the trace of a failing test would end where the
# test fails.

OWN_CELL = {PairEnd.OLD: Cell.T_OLD_C_OLD, PairEnd.NEW: Cell.T_NEW_C_NEW}

Traces = Mapping[tuple[str, Cell], Trace]
"""Traces by method id and cell; unknown ones are left out."""


def trace_passing_cells(
    evaluation: PairEvaluation,
    selected: Mapping[Cell, Sequence[SelectedMethod]],
    files: Mapping[PairEnd, Collection[str]],
    alone: Collection[str],
) -> Traces:
    """Run selected methods again in the cells in which they pass, and record what they execute.

    Methods that do not pass in a cell are left out there. The CPU time is counted as a cost.
    selected  the methods to trace, by cell
    files     the source files whose lines are recorded, by the end of the pair whose code runs
    alone     ids of methods that get a process of their own; the others may share one
    """
    traces: dict[tuple[str, Cell], Trace] = {}
    built = evaluation.built
    ends = BuiltRevisions(old=evaluation.old, new=evaluation.new)
    conditions = RunConditions(override=evaluation.override)
    for cell, module, shared, methods_by_id in _group_passing_by_cell_module_shared(
        evaluation, selected, alone
    ):
        tests, code = ends.get_tests_build(cell), ends.get_code_build(cell)
        methods = tuple(methods_by_id.values())
        compiled = built.compile(tests.rev, code.rev, module, methods=methods)
        end = PairEnd.NEW if cell.code_is_new else PairEnd.OLD
        traced = built.trace(compiled, methods, files[end], conditions, shared=shared)
        evaluation.cost.add(Step.TRACE, traced.cpu_seconds)
        for method_id, trace in zip(methods_by_id, traced.traces, strict=True):
            if trace is not None:
                traces[method_id, cell] = trace
    return traces


def _group_passing_by_cell_module_shared(
    evaluation: PairEvaluation,
    selected: Mapping[Cell, Sequence[SelectedMethod]],
    alone: Collection[str],
) -> Iterator[tuple[Cell, str, bool, Mapping[str, TestMethod]]]:
    """Yield each cell and module, whether the methods share a process, and the passing methods.

    For a cell and module, methods that do not share a process come first.
    """
    for cell, items in selected.items():
        members: dict[tuple[str, bool], dict[str, TestMethod]] = {}
        for item in items:
            result = evaluation.get_deciding_cells(item.method_id).get(cell)
            method = get_method_in_cell(item.candidate, cell)
            if result is not None and result.outcome is Outcome.PASS and method is not None:
                key = method.module, item.method_id not in alone
                members.setdefault(key, {})[item.method_id] = method
        for module, shared in sorted(members):
            yield cell, module, shared, members[module, shared]
