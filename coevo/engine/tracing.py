"""What labelled methods execute in their cells: one more run of each module and cell.

A test is traced in cells that it passes: what a failing test executes ends where it fails.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from coevo.engine.groups import Ends
from coevo.engine.groups import method_in
from coevo.engine.results import PairEvaluation
from coevo.engine.results import SelectedMethod
from coevo.engine.results import Step
from coevo.languages.conditions import Conditions
from coevo.languages.traces import Trace
from coevo.model.quality import End
from coevo.model.records import TestMethod
from coevo.model.words import Cell
from coevo.model.words import Outcome

OWN_CELL = {End.OLD: Cell.TOLD_COLD, End.NEW: Cell.TNEW_CNEW}

Traces = Mapping[tuple[str, Cell], Trace]
"""By method id and cell; what is not known is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    cell: Cell
    module: str
    shared: bool
    methods: Mapping[str, TestMethod]


def trace_cells(
    evaluation: PairEvaluation,
    selected: Mapping[Cell, Sequence[SelectedMethod]],
    files: Mapping[End, Collection[str]],
    alone: Collection[str],
) -> Traces:
    """Trace what is wanted; the evaluation's cost pays for it.

    files  the source files whose lines are wanted, by the end of the code
    alone  ids of methods that have a process of their own; the others may share one
    """
    traces: dict[tuple[str, Cell], Trace] = {}
    built = evaluation.built
    ends = Ends(old=evaluation.old, new=evaluation.new)
    conditions = Conditions(override=evaluation.override)
    for group in _groups(evaluation, selected, alone):
        tests, code = ends.tests(group.cell), ends.code(group.cell)
        methods = tuple(group.methods.values())
        compiled = built.compile(tests.rev, code.rev, group.module, methods=methods)
        end = End.NEW if group.cell.code_is_new else End.OLD
        traced = built.trace(compiled, methods, files[end], conditions, shared=group.shared)
        evaluation.cost.add(Step.TRACE, traced.cpu_seconds)
        for method_id, trace in zip(group.methods, traced.traces, strict=True):
            if trace is not None:
                traces[method_id, group.cell] = trace
    return traces


def _groups(
    evaluation: PairEvaluation,
    selected: Mapping[Cell, Sequence[SelectedMethod]],
    alone: Collection[str],
) -> Iterator[_Group]:
    """The methods that pass, by cell and module, those for themselves first, in their order."""
    for cell, items in selected.items():
        found: dict[tuple[str, bool], dict[str, TestMethod]] = {}
        for item in items:
            result = evaluation.cells(item.method_id).get(cell)
            method = method_in(item.candidate, cell)
            if result is not None and result.outcome is Outcome.PASS and method is not None:
                key = method.module, item.method_id not in alone
                found.setdefault(key, {})[item.method_id] = method
        for module, shared in sorted(found):
            methods = found[module, shared]
            yield _Group(cell=cell, module=module, shared=shared, methods=methods)
