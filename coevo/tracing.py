"""What labelled methods execute in their cells: one more run of each module and cell.

A test is traced in cells that it passes: what a failing test executes ends where it fails.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from coevo.groups import Ends
from coevo.groups import method_in
from coevo.languages.base import Conditions
from coevo.languages.base import Trace
from coevo.languages.base import Workshop
from coevo.quality import End
from coevo.records import Cell
from coevo.records import Outcome
from coevo.records import TestMethod
from coevo.results import Evaluation
from coevo.results import Step
from coevo.results import Wanted

OWN_CELL = {End.OLD: Cell.TOLD_COLD, End.NEW: Cell.TNEW_CNEW}

Traces = Mapping[tuple[str, Cell], Trace]
"""By method id and cell; what is not known is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    cell: Cell
    module: str
    methods: Mapping[str, TestMethod]


def trace_cells(
    workshop: Workshop,
    evaluation: Evaluation,
    wanted: Mapping[Cell, Sequence[Wanted]],
    files: Mapping[End, Collection[str]],
) -> Traces:
    """Trace what is wanted; `files` are the source files whose lines are, by the end of the code.

    The evaluation's cost pays for it.
    """
    traces: dict[tuple[str, Cell], Trace] = {}
    ends = Ends(old=evaluation.old, new=evaluation.new)
    conditions = Conditions(override=evaluation.override)
    for group in _groups(evaluation, wanted):
        tests, code = ends.tests(group.cell), ends.code(group.cell)
        compiled = workshop.compile(tests.rev, code.rev, group.module)
        end = End.NEW if group.cell.code_is_new else End.OLD
        methods = tuple(group.methods.values())
        traced = workshop.trace(compiled, methods, files[end], conditions)
        evaluation.cost.add(Step.TRACE, traced.cpu_seconds)
        for method_id, trace in zip(group.methods, traced.traces, strict=True):
            if trace is not None:
                traces[method_id, group.cell] = trace
    return traces


def _groups(evaluation: Evaluation, wanted: Mapping[Cell, Sequence[Wanted]]) -> Iterator[_Group]:
    """The methods that pass, by cell and module, in their order."""
    for cell, items in wanted.items():
        found: dict[str, dict[str, TestMethod]] = {}
        for item in items:
            result = evaluation.cells(item.method_id).get(cell)
            method = method_in(item.candidate, cell)
            if result is not None and result.outcome is Outcome.PASS and method is not None:
                found.setdefault(method.module, {})[item.method_id] = method
        for module, methods in sorted(found.items()):
            yield _Group(cell=cell, module=module, methods=methods)
