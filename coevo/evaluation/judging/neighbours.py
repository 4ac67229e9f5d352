"""Neighbours: the other tests of a task's file, and which of them a patch breaks.

A submission must not, for example, delete all other tests of the file. Checked are the tests of the
start file except for the targets, and the tests of classes that inherit from its types. With each
patch all of them run in one process. If one does not pass there, all run once for each task in the
start state as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from coevo.evaluation.assignments import locate_target
from coevo.evaluation.judging.task_context import TaskContext, recall_or_compute
from coevo.evaluation.ledger import Ledger
from coevo.languages.cells import CompiledTests
from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.table import get_reading, get_surgery
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.executed_start import draw_tests
from coevo.starts.isolated_cells import IsolatedCellRunner, is_pass

# The most neighbours that are run; of more, always the same ones are drawn.
MOST_NEIGHBOURS = 200

# CPU seconds of a process with all neighbours, and of the confirmation of losses. A patch may make
# every one of them hang.
CPU_SECONDS = 120.0

# How often a loss must be repeated alone in a fresh process, after the run with all others.
CONFIRMATIONS = 2

_WHAT = 'neighbours'
_SETTLED = (Outcome.MISSING, Outcome.COMPILE_ERROR)

Methods = Mapping[str, TestMethod]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourResult:
    """The neighbours that a patch keeps and breaks, by name.

    count    how many pass in the start state or with the patch
    lost     those that the patch breaks
    passing  those that pass with the patch
    methods  these as methods
    weakened those of them that notice less than in gold's file; None if that was not measured
    """

    count: int
    lost: tuple[str, ...] = ()
    passing: frozenset[str] = frozenset()
    methods: Methods = field(default_factory=dict)
    weakened: tuple[str, ...] | None = None
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _PassingNeighbours:
    passing: tuple[str, ...]


def check_neighbours(
    context: TaskContext, cell: CompiledTests, ledger: Ledger | None
) -> NeighbourResult:
    """Run the other tests of the task's file with a patch on the new code; find those it breaks.

    Such a neighbour counts as broken by the patch if it fails three times with it (once with the
    others, twice alone) and passes in the start state, also when it runs alone, and with gold's
    file. So the patch is not blamed for flaky tests or for tests that gold breaks, too. A neighbour
    that is missing or does not compile is not run again.
    cell  the patched file, compiled on the new code
    Raises: Transient if a test process does not start.
    """
    if context.start is None:
        return NeighbourResult(count=0)
    runner = context.make_runner(replace(context.conditions, process_cpu_limit=CPU_SECONDS))
    methods = _list_neighbours(context)
    passing = _find_passing(runner, cell, methods)
    if passing == methods.keys():
        return NeighbourResult(
            count=len(methods),
            passing=frozenset(methods),
            methods=methods,
            cpu_seconds=runner.cpu_seconds,
        )
    at_start = _find_passing_at_start(context, runner, methods, ledger)
    lost = {name: methods[name] for name in methods if name in at_start - passing}
    confirmed = _confirm_losses(context, runner, cell, lost) if lost else ()
    return NeighbourResult(
        count=len(at_start | passing),
        lost=tuple(confirmed),
        passing=frozenset(passing),
        methods={name: methods[name] for name in methods if name in passing},
        cpu_seconds=runner.cpu_seconds,
    )


# -- in the start state ----------------------------------------------------------------------------


def _find_passing_at_start(
    context: TaskContext, runner: IsolatedCellRunner, methods: Methods, ledger: Ledger | None
) -> set[str]:
    def run_start() -> _PassingNeighbours:
        """Run all neighbours in the start state."""
        passing = _find_passing(runner, context.compile_start_cell(runner), methods)
        return _PassingNeighbours(passing=tuple(sorted(passing)))

    entry = recall_or_compute(ledger, context.assignment, (_WHAT,), _PassingNeighbours, run_start)
    return methods.keys() & set(entry.passing)


def _list_neighbours(context: TaskContext) -> dict[str, TestMethod]:
    """Return the neighbours by name, at most `MOST_NEIGHBOURS`.

    They are always the same ones in the same order.
    """
    start, task = context.start, context.assignment.task
    assert start is not None, 'a file that is there'
    file = get_reading(task.language).parse(start, task.test_file)
    targets = [
        locate_target(file, target, target.method_at_start) for target in context.assignment.targets
    ]
    chosen = [
        member
        for target_method in targets
        if target_method and (member := _find_member(file, target_method))
    ]
    others = get_surgery(task.language).list_other_tests(start, chosen, task.test_file)
    own = [(task.test_file, member) for member in others]
    members = (*own, *_list_inherited_tests(context, file.types))
    return draw_tests(members, context.module, MOST_NEIGHBOURS, task.pair_id, task.test_file)


def _find_member(file: SourceFile, method: TestMethod) -> Member | None:
    type_ = next(
        (declared_type for declared_type in file.types if declared_type.name == method.test_class),
        None,
    )
    return next(
        (
            member
            for member in (type_.members if type_ else ())
            if (member.kind, member.name, member.parameters)
            == ('method', method.test_method, method.parameters)
        ),
        None,
    )


def _list_inherited_tests(
    context: TaskContext, types: Iterable[DeclaredType]
) -> Iterator[tuple[str, Member]]:
    """Yield the tests of classes that inherit from these types, with their paths."""
    task = context.assignment.task
    cut = get_surgery(task.language)
    for path, source, names in cut.find_derived_classes(
        context.repository,
        context.pair.new.rev,
        task.test_file,
        [declared_type.simple for declared_type in types],
    ):
        for member in cut.list_other_tests(source, [], path):
            if member.owner in names:
                yield path, member


# -- with a patch ----------------------------------------------------------------------------------


def _confirm_losses(
    context: TaskContext, runner: IsolatedCellRunner, cell: CompiledTests, lost: Methods
) -> list[str]:
    """Return the names of the losses that are neither flaky nor caused by gold as well."""
    of_gold = _find_passing(runner, context.compile_gold_cell(runner), lost)
    start = context.compile_start_cell(runner)
    spent = runner.cpu_seconds
    confirmed = []
    for name, method in lost.items():
        only_method = {name: method}
        # When the time is used up, the one failure with all others is enough.
        in_time = runner.cpu_seconds - spent < CPU_SECONDS
        if name in of_gold and (
            not in_time or _is_loss_confirmed(runner, cell, start, only_method)
        ):
            confirmed.append(name)
    return confirmed


def _is_loss_confirmed(
    runner: IsolatedCellRunner, cell: CompiledTests, start: CompiledTests, one: Methods
) -> bool:
    for _ in range(CONFIRMATIONS):
        outcome = _collect_outcomes(runner, cell, one).get(*one)
        if outcome in _SETTLED:
            return True
        if outcome is Outcome.PASS:
            return False
    return bool(_find_passing(runner, start, one))


# -- running ---------------------------------------------------------------------------------------


def _find_passing(runner: IsolatedCellRunner, cell: CompiledTests, methods: Methods) -> set[str]:
    return {
        name
        for name, outcome in _collect_outcomes(runner, cell, methods).items()
        if is_pass(outcome)
    }


def _collect_outcomes(
    runner: IsolatedCellRunner, cell: CompiledTests, methods: Methods
) -> dict[str, Outcome]:
    return {
        name: verdict.outcome for name, verdict in runner.run_in_one_process(cell, methods).items()
    }
