"""Run the cells of a pair: compile, run in fresh processes in three orders, compare, repeat.

The rule of evidence (docs/evidence.md): a cell that decides a
label is run in given order, in reversed order, and with one process per method (TestEvo-Bench,
A.2). Runs that disagree in outcome or failure signature are repeated once per order, to tell
`flaky` from `order_dependent`. What the compiler says is deterministic and asked once.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

from coevo.engine.cache import Cache
from coevo.engine.cache import Known
from coevo.engine.cache import batch_key
from coevo.engine.groups import CellsOf
from coevo.engine.groups import Ends
from coevo.engine.groups import Group
from coevo.engine.groups import Results
from coevo.engine.groups import compiled_group
from coevo.engine.groups import form_groups
from coevo.engine.groups import is_mute
from coevo.engine.groups import results_of
from coevo.engine.groups import unbuildable
from coevo.engine.results import RUN_ORDERS
from coevo.engine.results import CellResult
from coevo.engine.results import Cost
from coevo.engine.results import Evidence
from coevo.engine.results import Order
from coevo.engine.results import PairEvaluation
from coevo.engine.results import SelectedMethod
from coevo.engine.results import Step
from coevo.languages.capabilities import Capability
from coevo.languages.cells import BorrowedSettings
from coevo.languages.cells import Scope
from coevo.languages.conditions import Conditions
from coevo.languages.engine import Builder
from coevo.languages.engine import BuiltPair
from coevo.languages.table import LANGUAGES
from coevo.languages.table import offers
from coevo.languages.verdicts import Verdict
from coevo.model.errors import Transient
from coevo.model.labels import BROKEN_CELL
from coevo.model.labels import RECORDED_CELL
from coevo.model.labels import RECORDED_LABELS
from coevo.model.labels import deciding_cells
from coevo.model.labels import label
from coevo.model.records import Cell
from coevo.model.records import Change
from coevo.model.records import Label
from coevo.model.records import Outcome
from coevo.model.records import Pair

# Raised only when the rule of evidence, and so verdicts of all languages, may change: each language's
# own ENGINE_VERSION rises with it.
RULES_VERSION = 7

NO_CACHE = Cache(None)

_STEPS = {
    Order.GIVEN: Step.RUN_GIVEN,
    Order.REVERSED: Step.RUN_REVERSED,
    Order.ALONE: Step.RUN_ALONE,
}


@dataclass(slots=True, kw_only=True)
class _CellRunner:
    """Where the groups of one pair are run, under one override or none."""

    built: BuiltPair
    cache: Cache
    override: str | None = None
    step: Step | None = None  # what all runs count as, instead of by their order
    cost: Cost = field(default_factory=Cost)


def evaluate(
    builder: Builder,
    pair: Pair,
    selected: Sequence[SelectedMethod],
    cache: Cache = NO_CACHE,
    override: str | None = None,
    *,
    all_cells: bool = False,
) -> PairEvaluation:
    """Run the deciding cells of every selected method; `selected` in a fixed order.

    override   of all runs from the first one on, where it is known that one is needed
    all_cells  whether new tests of labels that do not ask for it run on old code as well
    """
    runner = _CellRunner(built=builder.build(pair), cache=cache, override=override)
    ends, settled, groups = _begin_where_tests_speak(runner, selected, deciding_cells)
    _pass_all(runner, groups, Order.REVERSED)
    contradicted = _contradicted(selected, results_of(settled, groups))
    _pass_all(runner, groups, Order.ALONE, without=contradicted)
    _keep_and_repeat(runner, groups)
    results = results_of(settled, groups)
    return PairEvaluation(
        built=runner.built,
        override=runner.override,
        results=results,
        fixed_by_settings=_fixed_by_settings(runner, ends, groups, _broken(selected, results))
        if offers(pair.language, Capability.BORROW)
        else {},
        cost=runner.cost,
        recorded=_recorded(runner, ends, selected, results) if all_cells else {},
    )


def observe(
    builder: Builder, pair: Pair, selected: Sequence[SelectedMethod], cache: Cache = NO_CACHE
) -> PairEvaluation:
    """Run tests of the new revision on its own code alone, as a cell that decides is run."""
    runner = _CellRunner(built=builder.build(pair), cache=cache)
    _, settled, groups = _begin_where_tests_speak(runner, selected, _own_cells)
    for order in (Order.REVERSED, Order.ALONE):
        _pass_all(runner, groups, order)
    _keep_and_repeat(runner, groups)
    return PairEvaluation(
        built=runner.built,
        override=runner.override,
        results=results_of(settled, groups),
        fixed_by_settings={},
        cost=runner.cost,
    )


def _own_cells(_: Change) -> tuple[Cell, ...]:
    return (Cell.TNEW_CNEW,)


def _begin_where_tests_speak(
    runner: _CellRunner, selected: Sequence[SelectedMethod], cells: CellsOf
) -> tuple[Ends, Results, list[Group]]:
    """The same as `_begin`, built otherwise while no test is heard of and there is another way."""
    override = runner.override
    begun = _begin(runner, selected, cells)
    while is_mute(begun[-1]) and (other := runner.built.otherwise()) is not None:
        runner.built, runner.override = other, override
        begun = _begin(runner, selected, cells)
    return begun


def _begin(
    runner: _CellRunner, selected: Sequence[SelectedMethod], cells: CellsOf
) -> tuple[Ends, Results, list[Group]]:
    """What cannot be built, and groups of the rest, compiled and run once."""
    ends = Ends(old=runner.built.old, new=runner.built.new)
    for build in (ends.old, ends.new):
        runner.cost.add(Step.BUILD, build.cpu_seconds)
    settled, groups = _formed(runner, ends, selected, cells)
    _first_pass(runner, groups)
    return ends, settled, groups


def _formed(
    runner: _CellRunner, ends: Ends, selected: Sequence[SelectedMethod], cells: CellsOf
) -> tuple[Results, list[Group]]:
    """What cannot be built, and groups of the rest, compiled, with what the cache has of them."""
    settled = unbuildable(ends, selected, cells)
    groups = list(form_groups(runner.built, ends, selected, settled, cells))
    for group in groups:
        runner.cost.add(Step.COMPILE, group.compiled.cpu_seconds)
        group.known = _recall(runner, group)
    return settled, groups


def _keep_and_repeat(runner: _CellRunner, groups: Sequence[Group]) -> None:
    """Give the cache what was run in all orders, then repeat what disagrees."""
    for group in groups:
        _keep(runner, group)
        _repeat_where_split(runner, group)


# -- what is worth another run -------------------------------------------------------------------


def _contradicted(selected: Sequence[SelectedMethod], found: Results) -> frozenset[str]:
    """Methods that no label can have, by either verdict, after two runs that agree.

    A drop needs no process of its own for each method; where the runs disagree the rest is run.
    """
    return frozenset(
        item.method_id
        for item in selected
        if not _can_be_labelled(item, found.get(item.method_id, {}))
    )


def _can_be_labelled(item: SelectedMethod, cells: Mapping[Cell, CellResult]) -> bool:
    if not _agreed(cells):
        return True
    return any(isinstance(verdict, Label) for verdict in _verdicts(item, cells))


def _agreed(cells: Mapping[Cell, CellResult]) -> bool:
    return all(result.evidence is Evidence.AGREED for result in cells.values())


def _verdicts(
    item: SelectedMethod, cells: Mapping[Cell, CellResult]
) -> tuple[Label | str, Label | str]:
    """By the method's own outcomes, and by Maven's."""
    return (
        label(item.candidate.change, {cell: r.outcome for cell, r in cells.items()}),
        label(item.candidate.change, {cell: r.unit_outcome for cell, r in cells.items()}),
    )


# -- passes --------------------------------------------------------------------------------------


def _first_pass(runner: _CellRunner, groups: Sequence[Group]) -> None:
    """Run everything once; where an override may help what failed, again with it, in all cells."""
    _pass_all(runner, groups, Order.GIVEN)
    if runner.override is not None:
        return
    runner.override = _needed_workaround(runner.built.pair.language, groups)
    if runner.override is not None:
        for group in groups:
            for method_id in group.open_methods():
                del group.runs[method_id]
            group.known = {}
        _pass_all(runner, groups, Order.GIVEN)


def _needed_workaround(language: str, groups: Sequence[Group]) -> str | None:
    for group in groups:
        for method_id in group.open_methods():
            workaround = LANGUAGES[language].workaround(group.runs[method_id][-1].verdict)
            if workaround is not None:
                return workaround
    return None


def _pass_all(
    runner: _CellRunner, groups: Sequence[Group], order: Order, without: Collection[str] = ()
) -> None:
    for group in groups:
        chosen = [
            method_id
            for method_id in group.open_methods()
            if method_id not in without and not group.timed_out_enough(method_id)
        ]
        for batch in _batches(chosen, order):
            if not _settle_known(group, batch, order):
                _run_batch(runner, group, batch, order)


def _settle_known(group: Group, batch: Sequence[str], order: Order) -> bool:
    """Whether the cache had all of a batch; a part of it would be another process."""
    known = [group.known.get((method_id, order)) for method_id in batch]
    verdicts = [verdict for verdict in known if verdict is not None]
    if len(verdicts) < len(batch):
        return False
    for method_id, verdict in zip(batch, verdicts, strict=True):
        group.settle(method_id, verdict, order)
    return True


def _recall(runner: _CellRunner, group: Group) -> Known:
    key = _key(runner, group)
    return runner.cache.recall(key, group.open_methods()) if key else {}


def _keep(runner: _CellRunner, group: Group) -> None:
    key = _key(runner, group)
    if key and runner.override is None:
        runner.cache.keep(key, group.open_methods(), group.runs)


def _key(runner: _CellRunner, group: Group) -> str | None:
    """None where there is nothing to run."""
    methods = [group.methods[method_id] for method_id in group.open_methods()]
    content = runner.built.content(group.compiled) if methods else None
    return batch_key(content, methods, str(RULES_VERSION)) if content else None


def _batches(methods: list[str], order: Order) -> list[list[str]]:
    """Which methods share a process, and in which order."""
    match order:
        case Order.ALONE:
            return [[method_id] for method_id in methods]
        case Order.REVERSED:
            return [methods[::-1]]
        case _:
            return [methods]


def _run_batch(runner: _CellRunner, group: Group, batch: Sequence[str], order: Order) -> None:
    """Run a batch in one process; who lost it to a neighbour runs again alone."""
    step = runner.step or _STEPS[order]
    for method_id, verdict in zip(batch, _run(runner, group, batch, step), strict=True):
        recorded = order
        if verdict is None:
            verdict, recorded = _run(runner, group, [method_id], step)[0], Order.ALONE
        assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
        group.settle(method_id, verdict, recorded)


def _run(
    runner: _CellRunner, group: Group, batch: Sequence[str], step: Step
) -> Sequence[Verdict | None]:
    if not batch:
        return ()
    methods = [group.methods[method_id] for method_id in batch]
    process = runner.built.run(group.compiled, methods, Conditions(override=runner.override))
    heard = [verdict for verdict in process.verdicts if verdict is not None]
    for verdict in heard:
        if verdict.outcome is Outcome.INFRA and group.compiled.borrowed is None:
            raise Transient(f'a test process did not start: {verdict.message.strip()}')
    runner.cost.add(step, process.cpu_seconds)
    runner.cost.add(Step.TESTS, sum(v.cpu_seconds for v in heard), len(heard))
    return process.verdicts


def _repeat_where_split(runner: _CellRunner, group: Group) -> None:
    """Repeat each order once where a method's runs disagree.

    The whole batch runs, so that the order is the same; only the split methods are recorded.
    """
    split = group.split_methods()
    if not split:
        return
    for order in RUN_ORDERS:
        for batch in _batches(group.open_methods(), order):
            if order is not Order.ALONE or split.issuperset(batch):
                verdicts = _run(runner, group, batch, Step.RUN_REPEATED)
                for method_id, verdict in zip(batch, verdicts, strict=True):
                    if verdict is not None and method_id in split:
                        group.settle(method_id, verdict, order)


# -- cells that decide nothing -------------------------------------------------------------------


def _recorded(
    runner: _CellRunner, ends: Ends, selected: Sequence[SelectedMethod], found: Results
) -> Results:
    """The new tests of some labels on the old code, run three times as a deciding cell is.

    Runs that disagree stay as they are: nothing rests on them.
    """
    chosen = [
        item
        for item in selected
        if _agreed(cells := found.get(item.method_id, {}))
        and any(verdict in RECORDED_LABELS for verdict in _verdicts(item, cells))
    ]
    settled, groups = _formed(runner, ends, chosen, _recorded_cells)
    runner.step = Step.RUN_RECORDED
    for order in RUN_ORDERS:
        _pass_all(runner, groups, order)
    for group in groups:
        _keep(runner, group)
    return results_of(settled, groups)


def _recorded_cells(_: Change) -> tuple[Cell, ...]:
    return (RECORDED_CELL,)


# -- causes --------------------------------------------------------------------------------------


def _broken(selected: Sequence[SelectedMethod], found: Results) -> dict[str, Cell]:
    """Methods with a label that a broken cell decides, and that cell."""
    broken: dict[str, Cell] = {}
    for item in selected:
        cells = found.get(item.method_id, {})
        verdict = label(item.candidate.change, {cell: r.outcome for cell, r in cells.items()})
        if isinstance(verdict, Label) and verdict in BROKEN_CELL:
            broken[item.method_id] = BROKEN_CELL[verdict]
    return broken


def _fixed_by_settings(
    runner: _CellRunner, ends: Ends, groups: Sequence[Group], broken: Mapping[str, Cell]
) -> dict[str, Scope]:
    """Which of the broken pass with libraries or settings of the pair's other revision.

    Asked only where a module's libraries or settings differ; test libraries alone come first
    (docs/evidence.md: `build`).
    """
    fixed_by_settings: dict[str, Scope] = {}
    for group in groups:
        for scope in Scope:
            methods = {
                method_id: group.methods[method_id]
                for method_id, cell in broken.items()
                if cell is group.cell
                and method_id in group.methods
                and method_id not in fixed_by_settings
            }
            borrowed = BorrowedSettings(rev=ends.other(group.cell).rev, scope=scope)
            compiled = group.compiled
            if methods and runner.built.differs(compiled.code_rev, compiled.module, borrowed):
                tried = compiled_group(
                    runner.built,
                    group.cell,
                    runner.built.compile(
                        compiled.tests_rev, compiled.code_rev, compiled.module, borrowed
                    ),
                    methods,
                )
                fixed_by_settings |= dict.fromkeys(_passing(runner, tried), scope)
    return fixed_by_settings


def _passing(runner: _CellRunner, group: Group) -> list[str]:
    """The methods of a group that pass, each in the same process; the cause is no cell."""
    runner.cost.add(Step.COMPILE, group.compiled.cpu_seconds)
    batch = group.open_methods()
    verdicts = _run(runner, group, batch, Step.RUN_FOR_CAUSE)
    return [
        method_id
        for method_id, verdict in zip(batch, verdicts, strict=True)
        if verdict is not None and verdict.outcome is Outcome.PASS
    ]
