"""What labelled methods execute in their cells: one more run of each module and cell.

A test is traced in cells that it passes: what a failing test executes ends where it fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from coevo.engine.groups import BuiltRevisions, get_method_in_cell
from coevo.engine.results import PairEvaluation, SelectedMethod, Step
from coevo.languages.conditions import RunConditions
from coevo.languages.traces import Trace
from coevo.model.quality import PairEnd
from coevo.model.records import TestMethod
from coevo.model.words import Cell, Outcome

OWN_CELL = {PairEnd.OLD: Cell.T_OLD_C_OLD, PairEnd.NEW: Cell.T_NEW_C_NEW}

Traces = Mapping[tuple[str, Cell], Trace]
"""By method id and cell; what is not known is not there."""


def trace_cells(
    evaluation: PairEvaluation,
    selected: Mapping[Cell, Sequence[SelectedMethod]],
    files: Mapping[PairEnd, Collection[str]],
    alone: Collection[str],
) -> Traces:
    """Trace what is wanted; the evaluation's cost pays for it.

    files  the source files whose lines are wanted, by the end of the code
    alone  ids of methods that have a process of their own; the others may share one
    """
    traces: dict[tuple[str, Cell], Trace] = {}
    built = evaluation.built
    ends = BuiltRevisions(old=evaluation.old, new=evaluation.new)
    conditions = RunConditions(override=evaluation.override)
    for cell, module, shared, methods_by_id in _form_groups(evaluation, selected, alone):
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


def _form_groups(
    evaluation: PairEvaluation,
    selected: Mapping[Cell, Sequence[SelectedMethod]],
    alone: Collection[str],
) -> Iterator[tuple[Cell, str, bool, Mapping[str, TestMethod]]]:
    """The methods that pass, by cell and module and whether they share a process; those that do not come first."""
    for cell, items in selected.items():
        members: dict[tuple[str, bool], dict[str, TestMethod]] = {}
        for item in items:
            result = evaluation.get_cells(item.method_id).get(cell)
            method = get_method_in_cell(item.candidate, cell)
            if result is not None and result.outcome is Outcome.PASS and method is not None:
                key = method.module, item.method_id not in alone
                members.setdefault(key, {})[item.method_id] = method
        for module, shared in sorted(members):
            yield cell, module, shared, members[module, shared]
