"""The methods of one module in one cell, compiled together, with their runs as they come."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

from coevo.engine.cache import Known
from coevo.engine.results import CellResult
from coevo.engine.results import Order
from coevo.engine.results import Run
from coevo.engine.results import SelectedMethod
from coevo.languages.builds import Build
from coevo.languages.cells import Compiled
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import OPTIONS_REFUSED
from coevo.languages.verdicts import Verdict
from coevo.model.labels import deciding_cells
from coevo.model.records import Candidate
from coevo.model.records import TestMethod
from coevo.model.words import Cell
from coevo.model.words import Change
from coevo.model.words import Outcome

# A time limit that is hit twice says all it can (docs/evidence.md: confirmed once).
TIMEOUT_RUNS = 2

Results = Mapping[str, Mapping[Cell, CellResult]]
CellsOf = Callable[[Change], Sequence[Cell]]
"""Which cells are run of a test method, by what became of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Both revisions of a pair, built."""

    old: Build
    new: Build

    def tests(self, cell: Cell) -> Build:
        return self.new if cell.tests_are_new else self.old

    def code(self, cell: Cell) -> Build:
        return self.new if cell.code_is_new else self.old

    def other(self, cell: Cell) -> Build:
        """The revision that is not the code's."""
        return self.old if cell.code_is_new else self.new


@dataclass(slots=True, kw_only=True)
class Group:
    cell: Cell
    compiled: Compiled
    methods: dict[str, TestMethod]
    runs: dict[str, list[Run]] = field(default_factory=dict)
    known: Known = field(default_factory=dict)  # what the cache has of its batch

    def settle(self, method_id: str, verdict: Verdict, order: Order) -> None:
        self.runs.setdefault(method_id, []).append(Run(order=order, verdict=verdict))

    def open_methods(self) -> list[str]:
        """Methods that a process must run: the compiler has said nothing against them."""
        return [m for m in self.methods if not self._compiled_away(m)]

    def split_methods(self) -> set[str]:
        """Methods whose runs disagree."""
        return {m for m in self.open_methods() if len({r.agreement for r in self.runs[m]}) > 1}

    def timed_out_enough(self, method_id: str) -> bool:
        runs = self.runs.get(method_id, ())
        timed_out = all(run.verdict.outcome is Outcome.TIMEOUT for run in runs)
        return len(runs) >= TIMEOUT_RUNS and timed_out

    def _compiled_away(self, method_id: str) -> bool:
        return any(run.order is Order.COMPILE for run in self.runs.get(method_id, ()))


def is_mute(groups: Sequence[Group]) -> bool:
    """Whether tests could say nothing of their own code: none of them compiles, or its process starts.

    One that is not found says nothing either, but would not be found by another runtime.
    """
    own = [
        run.verdict
        for group in groups
        if group.cell.tests_are_new == group.cell.code_is_new
        for runs in group.runs.values()
        for run in runs
    ]
    kept_back = [verdict for verdict in own if _is_kept_back(verdict)]
    others = {verdict.outcome for verdict in own if not _is_kept_back(verdict)}
    return bool(kept_back) and others <= {Outcome.MISSING}


def _is_kept_back(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.COMPILE_ERROR or verdict.signature == OPTIONS_REFUSED


def unbuildable(
    ends: Ends, selected: Sequence[SelectedMethod], cells: CellsOf = deciding_cells
) -> Results:
    """Cells of which the code does not build."""
    found: dict[str, dict[Cell, CellResult]] = {}
    for item, cell, method in _demanded(selected, cells):
        trouble = ends.code(cell).trouble(method.module)
        if trouble is not None:
            verdict = Verdict(outcome=Outcome.UNBUILDABLE, signature=trouble)
            run = Run(order=Order.COMPILE, verdict=verdict)
            found.setdefault(item.method_id, {})[cell] = CellResult(runs=(run,), unit_ok=True)
    return found


def form_groups(
    built: BuiltPair,
    ends: Ends,
    selected: Sequence[SelectedMethod],
    settled: Results,
    cells: CellsOf = deciding_cells,
) -> Iterator[Group]:
    """The cells that are not settled, compiled, with what the compiler says of each."""
    members: dict[tuple[Cell, str], dict[str, TestMethod]] = {}
    for item, cell, method in _demanded(selected, cells):
        if cell not in settled.get(item.method_id, {}):
            members.setdefault((cell, method.module), {})[item.method_id] = method
    for (cell, module), methods in sorted(members.items()):
        compiled = built.compile(
            ends.tests(cell).rev, ends.code(cell).rev, module, methods=tuple(methods.values())
        )
        yield compiled_group(built, cell, compiled, methods)


def compiled_group(
    built: BuiltPair, cell: Cell, compiled: Compiled, methods: dict[str, TestMethod]
) -> Group:
    """A group of methods with the compiler's verdict on each that does not compile."""
    group = Group(cell=cell, compiled=compiled, methods=methods)
    for method_id, method in methods.items():
        verdict = built.compile_verdict(compiled, method)
        if verdict is not None:
            group.settle(method_id, verdict, Order.COMPILE)
    return group


def results_of(settled: Results, groups: Sequence[Group]) -> Results:
    """What was settled without a run, and what the groups hold by now; in a fixed order."""
    found = {method_id: dict(cells) for method_id, cells in settled.items()}
    for group in groups:
        for method_id, runs in group.runs.items():
            whole = group.compiled.is_whole(group.methods[method_id])
            result = CellResult(runs=tuple(runs), unit_ok=whole)
            found.setdefault(method_id, {})[group.cell] = result
    return {method_id: dict(sorted(cells.items())) for method_id, cells in sorted(found.items())}


def _demanded(
    selected: Sequence[SelectedMethod], cells: CellsOf
) -> Iterator[tuple[SelectedMethod, Cell, TestMethod]]:
    for item in selected:
        for cell in cells(item.candidate.change):
            method = method_in(item.candidate, cell)
            assert method is not None, 'a cell that is asked for has a test at its revision'
            yield item, cell, method


def method_in(candidate: Candidate, cell: Cell) -> TestMethod | None:
    """The test method as a cell's tests have it; None where they do not."""
    return candidate.new if cell.tests_are_new else candidate.old
