"""Run the cells of a pair: compile, run in fresh processes in three orders, compare, repeat.

The rule of evidence is the design's ("A label stands only on evidence"): a cell that decides a
label is run in given order, in reversed order, and with one process per method (TestEvo-Bench,
A.2). Runs that disagree in outcome or failure signature are repeated once per order, to tell
`flaky` from `order_dependent`. What the compiler says is deterministic and asked once.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from enum import StrEnum

from coevo.errors import Transient
from coevo.labels import deciding_cells
from coevo.labels import label
from coevo.languages.base import Build
from coevo.languages.base import Compiled
from coevo.languages.base import Verdict
from coevo.languages.base import Workshop
from coevo.records import Candidate
from coevo.records import Cell
from coevo.records import Label
from coevo.records import Outcome
from coevo.records import Pair
from coevo.records import TestMethod

# Raised only when verdicts may change: it is part of the key of every segment and cached verdict.
ENGINE_VERSION = 1

# A time limit that is hit twice says all it can (design: "confirmed once more, not three times").
TIMEOUT_RUNS = 2

# Outcomes of one method over subclasses and invocations, and over runs: the first one counts.
WORST_FIRST = tuple(Outcome)


class Order(StrEnum):
    GIVEN = 'given'
    REVERSED = 'reversed'
    ALONE = 'alone'
    COMPILE = 'compile'  # a verdict that needed no run


RUN_ORDERS = (Order.GIVEN, Order.REVERSED, Order.ALONE)


class Evidence(StrEnum):
    """Whether the runs of a method's deciding cells agree."""

    AGREED = 'agreed'
    FLAKY = 'flaky'
    ORDER_DEPENDENT = 'order_dependent'


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A candidate that is to be run, under the id of its row."""

    method_id: str
    candidate: Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    order: Order
    verdict: Verdict

    @property
    def agreement(self) -> tuple[Outcome, str | None]:
        return self.verdict.outcome, self.verdict.signature


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """All runs of one method in one cell; `unit_ok` is Maven's verdict on the whole test tree."""

    runs: tuple[Run, ...]
    unit_ok: bool

    @property
    def outcome(self) -> Outcome:
        return self.deciding.outcome

    @property
    def deciding(self) -> Verdict:
        """The run that names the cell: the worst, the first of equals."""
        return min((run.verdict for run in self.runs), key=lambda v: WORST_FIRST.index(v.outcome))

    @property
    def unit_outcome(self) -> Outcome:
        return self.unit_outcome_of(self.deciding)

    def unit_outcome_of(self, verdict: Verdict) -> Outcome:
        """What Maven would say: nothing runs where any test of the module does not compile."""
        if verdict.outcome in (Outcome.UNBUILDABLE, Outcome.INFRA) or self.unit_ok:
            return verdict.outcome
        return Outcome.COMPILE_ERROR

    @property
    def passes(self) -> int:
        return sum(run.verdict.outcome is Outcome.PASS for run in self.runs)

    @property
    def evidence(self) -> Evidence:
        if len({run.agreement for run in self.runs}) == 1:
            return Evidence.AGREED
        by_order = {
            order: {run.agreement for run in self.runs if run.order is order}
            for order in RUN_ORDERS
        }
        steady = all(len(found) <= 1 for found in by_order.values())
        return Evidence.ORDER_DEPENDENT if steady else Evidence.FLAKY


@dataclass(slots=True, kw_only=True)
class Cost:
    """CPU seconds of the sandboxed programs, and how often they were called."""

    compile_cpu_seconds: float = 0.0
    compiles: int = 0
    run_cpu_seconds: float = 0.0  # of whole processes
    processes: int = 0
    test_cpu_seconds: float = 0.0  # of the tests alone, as their processes measured them
    runs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What the cells of a pair gave, by method id and cell."""

    old: Build
    new: Build
    override: str | None
    results: Mapping[tuple[str, Cell], CellResult]
    cost: Cost

    def cells(self, method_id: str) -> dict[Cell, CellResult]:
        return {cell: found for (owner, cell), found in self.results.items() if owner == method_id}

    def evidence(self, method_id: str) -> Evidence:
        """Of all cells; one that is flaky outweighs one that depends on order."""
        found = {result.evidence for result in self.cells(method_id).values()}
        for worst in (Evidence.FLAKY, Evidence.ORDER_DEPENDENT):
            if worst in found:
                return worst
        return Evidence.AGREED

    @property
    def overrides(self) -> tuple[str, ...]:
        """All that was changed against the repository's own word, in every cell alike."""
        found = {
            *self.old.overrides,
            *self.new.overrides,
            *((self.override,) * bool(self.override)),
        }
        return tuple(sorted(o for o in found if o))


@dataclass(slots=True, kw_only=True)
class _Group:
    """The methods of one module in one cell, with their runs as they come."""

    cell: Cell
    compiled: Compiled
    methods: dict[str, TestMethod]
    runs: dict[str, list[Run]] = field(default_factory=dict)

    def settle(self, method_id: str, verdict: Verdict, order: Order) -> None:
        self.runs.setdefault(method_id, []).append(Run(order=order, verdict=verdict))

    def open_methods(self) -> list[str]:
        """Methods that a process must run: the compiler has said nothing against them."""
        return [m for m in self.methods if not self._compiled_away(m)]

    def _compiled_away(self, method_id: str) -> bool:
        return any(run.order is Order.COMPILE for run in self.runs.get(method_id, ()))


def evaluate(workshop: Workshop, pair: Pair, wanted: Sequence[Wanted]) -> Evaluation:
    """Run the deciding cells of every wanted method; `wanted` in a fixed order."""
    old, new = workshop.build(pair.old.rev), workshop.build(pair.new.rev)
    settled = dict(_unbuildable(old, new, wanted))
    groups = list(_groups(workshop, old, new, wanted, settled))
    cost = Cost(
        compile_cpu_seconds=sum(group.compiled.cpu_seconds for group in groups),
        compiles=len(groups),
    )
    override = _first_pass(workshop, groups, cost)
    for group in groups:
        _pass(workshop, group, Order.REVERSED, override, cost)
    contradicted = _contradicted(wanted, settled, groups)
    for group in groups:
        _pass(workshop, group, Order.ALONE, override, cost, without=contradicted)
    for group in groups:
        _repeat_where_split(workshop, group, override, cost)
    return Evaluation(
        old=old,
        new=new,
        override=override,
        results=_results(settled, groups),
        cost=cost,
    )


def _identity(candidate: Candidate, cell: Cell) -> TestMethod | None:
    return candidate.new if cell.tests_are_new else candidate.old


def _unbuildable(
    old: Build, new: Build, wanted: Sequence[Wanted]
) -> Iterator[tuple[tuple[str, Cell], CellResult]]:
    for item, cell, method in _demanded(wanted):
        build = new if cell.code_is_new else old
        trouble = build.trouble(method.module)
        if trouble is not None:
            verdict = Verdict(outcome=Outcome.UNBUILDABLE, signature=trouble)
            run = Run(order=Order.COMPILE, verdict=verdict)
            yield (item.method_id, cell), CellResult(runs=(run,), unit_ok=True)


def _demanded(wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, Cell, TestMethod]]:
    for item in wanted:
        for cell in deciding_cells(item.candidate.change):
            method = _identity(item.candidate, cell)
            assert method is not None, 'a deciding cell has a test at its revision'
            yield item, cell, method


def _groups(
    workshop: Workshop,
    old: Build,
    new: Build,
    wanted: Sequence[Wanted],
    settled: Mapping[tuple[str, Cell], CellResult],
) -> Iterator[_Group]:
    members: dict[tuple[Cell, str], dict[str, TestMethod]] = {}
    for item, cell, method in _demanded(wanted):
        if (item.method_id, cell) not in settled:
            members.setdefault((cell, method.module), {})[item.method_id] = method
    for (cell, module), methods in sorted(members.items()):
        tests = new if cell.tests_are_new else old
        code = new if cell.code_is_new else old
        compiled = workshop.compile(tests.rev, code.rev, module)
        group = _Group(cell=cell, compiled=compiled, methods=methods)
        for method_id, method in methods.items():
            verdict = workshop.compile_verdict(compiled, method)
            if verdict is not None:
                group.settle(method_id, verdict, Order.COMPILE)
        yield group


def _contradicted(
    wanted: Sequence[Wanted],
    settled: Mapping[tuple[str, Cell], CellResult],
    groups: Sequence[_Group],
) -> frozenset[str]:
    """Methods that no label can have, by either verdict, after two runs that agree.

    A drop needs no process of its own for each method; where the runs disagree the rest is run.
    """
    found = _results(settled, groups)
    return frozenset(
        item.method_id
        for item in wanted
        if not _can_be_labelled(item, {c: r for (m, c), r in found.items() if m == item.method_id})
    )


def _can_be_labelled(item: Wanted, cells: Mapping[Cell, CellResult]) -> bool:
    if any(result.evidence is not Evidence.AGREED for result in cells.values()):
        return True
    verdicts = (
        label(item.candidate.change, {cell: r.outcome for cell, r in cells.items()}),
        label(item.candidate.change, {cell: r.unit_outcome for cell, r in cells.items()}),
    )
    return any(isinstance(verdict, Label) for verdict in verdicts)


def _results(
    settled: Mapping[tuple[str, Cell], CellResult], groups: Sequence[_Group]
) -> dict[tuple[str, Cell], CellResult]:
    """What was settled without a run, and what the groups hold by now; in a fixed order."""
    found = dict(settled)
    for group in groups:
        for method_id, runs in group.runs.items():
            found[method_id, group.cell] = CellResult(
                runs=tuple(runs), unit_ok=group.compiled.unit_ok
            )
    return dict(sorted(found.items()))


def _first_pass(workshop: Workshop, groups: Sequence[_Group], cost: Cost) -> str | None:
    """Run everything once; where an override may cure what failed, again with it, in all cells."""
    for group in groups:
        _pass(workshop, group, Order.GIVEN, None, cost)
    override = _needed_cure(workshop, groups)
    if override is None:
        return None
    for group in groups:
        for method_id in group.open_methods():
            del group.runs[method_id]
        _pass(workshop, group, Order.GIVEN, override, cost)
    return override


def _needed_cure(workshop: Workshop, groups: Sequence[_Group]) -> str | None:
    for group in groups:
        for method_id in group.open_methods():
            cure = workshop.cure(group.runs[method_id][-1].verdict)
            if cure is not None:
                return cure
    return None


def _pass(
    workshop: Workshop,
    group: _Group,
    order: Order,
    override: str | None,
    cost: Cost,
    without: Collection[str] = (),
) -> None:
    chosen = [
        m for m in group.open_methods() if m not in without and not _timed_out_enough(group, m)
    ]
    if order is Order.ALONE:
        batches = [[method_id] for method_id in chosen]
    else:
        batches = [chosen if order is Order.GIVEN else chosen[::-1]]
    for batch in batches:
        _run_batch(workshop, group, batch, order, override, cost)


def _timed_out_enough(group: _Group, method_id: str) -> bool:
    runs = group.runs.get(method_id, ())
    return len(runs) >= TIMEOUT_RUNS and all(run.verdict.outcome is Outcome.TIMEOUT for run in runs)


def _run_batch(
    workshop: Workshop,
    group: _Group,
    batch: Sequence[str],
    order: Order,
    override: str | None,
    cost: Cost,
) -> None:
    """Run a batch in one process; who lost it to a neighbour runs again alone."""
    for method_id, verdict in zip(batch, _run(workshop, group, batch, override, cost), strict=True):
        recorded = order
        if verdict is None:
            verdict, recorded = _run(workshop, group, [method_id], override, cost)[0], Order.ALONE
        assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
        group.settle(method_id, verdict, recorded)


def _run(
    workshop: Workshop, group: _Group, batch: Sequence[str], override: str | None, cost: Cost
) -> Sequence[Verdict | None]:
    if not batch:
        return ()
    methods = [group.methods[method_id] for method_id in batch]
    process = workshop.run(group.compiled, methods, override)
    for verdict in process.verdicts:
        if verdict is not None and verdict.outcome is Outcome.INFRA:
            raise Transient(f'a test process did not start: {verdict.message.strip()}')
    cost.processes += 1
    cost.run_cpu_seconds += process.cpu_seconds
    cost.runs += sum(verdict is not None for verdict in process.verdicts)
    cost.test_cpu_seconds += sum(v.cpu_seconds for v in process.verdicts if v is not None)
    return process.verdicts


def _repeat_where_split(
    workshop: Workshop, group: _Group, override: str | None, cost: Cost
) -> None:
    """Repeat each order once where a method's runs disagree."""
    split = {m for m in group.open_methods() if len({r.agreement for r in group.runs[m]}) > 1}
    if not split:
        return
    for order in RUN_ORDERS:
        batch = group.open_methods()
        if order is Order.REVERSED:
            batch = batch[::-1]
        alone = order is Order.ALONE
        batches = [[m] for m in batch if m in split] if alone else [batch]
        for chosen in batches:
            _repeat_batch(workshop, group, (chosen, split), order, override, cost)


def _repeat_batch(
    workshop: Workshop,
    group: _Group,
    batch: tuple[Sequence[str], set[str]],
    order: Order,
    override: str | None,
    cost: Cost,
) -> None:
    """The whole batch runs, so that the order is the same; only the split methods are recorded."""
    chosen, split = batch
    for method_id, verdict in zip(
        chosen, _run(workshop, group, chosen, override, cost), strict=True
    ):
        if verdict is not None and method_id in split:
            group.settle(method_id, verdict, order)
