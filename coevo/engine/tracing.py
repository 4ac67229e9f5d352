"""Record what labelled test methods execute, in one more run for each module and cell.

A test is traced only in cells in which it passes: the trace of a failing test would end where the
test fails.
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
"""Traces by method id and cell; unknown ones are left out."""


def trace_cells(
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
    """Yield each cell and module, whether the methods share a process, and the passing methods.

    For a cell and module, methods that do not share a process come first.
    """
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
