"""Neighbours that a patch weakens: they pass, but no longer notice what they noticed before.

Only neighbours that the patch touches are asked, so a patch that leaves them alone costs nothing.
They are run with released mutants of the change, and have to notice those that they notice in
gold's file. Where they notice none there, they may at least not have fewer assertions. Rewritten
ones also have to pass under the observer, as targets do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coevo.evaluation.assignments import locate_target
from coevo.evaluation.judging.alone import run_alone
from coevo.evaluation.judging.memory import recall_or_ask
from coevo.evaluation.judging.neighbours import NeighbourResult
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.measuring.adequacy import select_released_mutants
from coevo.evaluation.measuring.gold import GoldMethod
from coevo.evaluation.measuring.touched_neighbours import NeighbourFile, find_touched_neighbours
from coevo.evaluation.suites.maintained_kills import measure_kills
from coevo.languages.capabilities import Capability
from coevo.languages.declarations import SourceFile
from coevo.languages.table import get_reading, offers_capability
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.mutant_sets import DrawnMutant, join_sets
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

# The most mutants, drawn by their ids, and the most rewritten neighbours that are watched.
MOST_MUTANTS = 30
MOST_WATCHED = 20

_WHAT = 'neighbour_kills'

Methods = Mapping[str, TestMethod]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourStrength:
    """The neighbours that became weaker, by name; `touched` is the number of those asked."""

    weakened: tuple[str, ...] = ()
    touched: int = 0
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _GoldKill:
    """A mutant, and the neighbours that notice it in gold's file: at least one."""

    mutant_id: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _GoldKills:
    kills: tuple[_GoldKill, ...]


def find_weakened_neighbours(
    context: TaskContext,
    patched: bytes,
    others: NeighbourResult,
    gold: Iterable[GoldMethod],
    ledger: Ledger | None,
) -> NeighbourStrength:
    """Return the neighbours that pass with a patch and are weaker than in gold's file.

    Raises: Transient if a test process does not start.
    """
    found = find_touched_neighbours(_describe_file(context, others.methods), patched)
    if not found.touched:
        return NeighbourStrength()
    mutants = _select_mutants(gold)
    runner = context.make_edited_runner(context.gold)
    entry = recall_or_ask(
        ledger,
        context.assignment,
        (_WHAT, *sorted(others.methods)),
        _GoldKills,
        lambda: _find_gold_kills(context, runner, others.methods, mutants),
    )
    kills = {kill.mutant_id: frozenset(kill.tests) for kill in entry.kills}
    asked = [mutant for mutant in mutants if mutant.mutant_id in kills]
    touched = {name: others.methods[name] for name in others.methods if name in found.touched}
    own = context.make_edited_runner(patched)
    missed, settled = _find_neighbours_missing_mutants(context, own, touched, asked, kills)
    watched = [name for name in touched if name in found.rewritten][:MOST_WATCHED]
    unseen, cpu_seconds = _find_unconfirmed(
        context, patched, {name: touched[name] for name in watched}
    )
    lacking = found.fewer_assertions - settled
    return NeighbourStrength(
        weakened=tuple(sorted(missed | unseen | lacking)),
        touched=len(touched),
        cpu_seconds=runner.cpu_seconds + own.cpu_seconds + cpu_seconds,
    )


def _describe_file(context: TaskContext, neighbours: Methods) -> NeighbourFile:
    def find_targets(file: SourceFile) -> Iterator[TestMethod]:
        """Yield the targets of the task, by their names at the start and in gold's file."""
        for target in context.assignment.targets:
            for name in (target.method_at_start, target.row.test_method):
                method = locate_target(file, target, name)
                if method is not None:
                    yield method

    return NeighbourFile(
        language=context.pair.language,
        path=context.assignment.task.test_file,
        known=tuple(text for text in (context.start, context.gold) if text is not None),
        find_targets=find_targets,
        neighbours=neighbours,
    )


def _select_mutants(gold: Iterable[GoldMethod]) -> Sequence[DrawnMutant]:
    joined = join_sets(map(select_released_mutants, gold))
    usable = {mutant.mutant_id: mutant for mutant in joined.mutants if not mutant.equal_compiled}
    return [usable[mutant_id] for mutant_id in sorted(usable)[:MOST_MUTANTS]]


def _find_gold_kills(
    context: TaskContext,
    runner: EditedCellRunner,
    methods: Methods,
    mutants: Sequence[DrawnMutant],
) -> _GoldKills:
    kills = measure_kills(runner, context.module, methods, mutants) if mutants else None
    noticing = zip(mutants, kills.by_mutant if kills else (), strict=True)
    return _GoldKills(
        kills=tuple(
            _GoldKill(mutant_id=mutant.mutant_id, tests=tuple(sorted(names)))
            for mutant, names in noticing
            if names
        )
    )


def _find_neighbours_missing_mutants(
    context: TaskContext,
    runner: EditedCellRunner,
    touched: Methods,
    asked: Sequence[DrawnMutant],
    kills: Mapping[str, frozenset[str]],
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the neighbours that miss a mutant, and all that were asked about one."""
    concerned = [mutant for mutant in asked if touched.keys() & kills[mutant.mutant_id]]
    if not concerned:
        return frozenset(), frozenset()
    now = measure_kills(runner, context.module, touched, concerned)
    missed: set[str] = set()
    settled: set[str] = set()
    for mutant, noticing in zip(concerned, now.by_mutant, strict=True):
        wanted = now.measured & kills[mutant.mutant_id]
        settled |= wanted
        missed |= wanted - noticing
    return frozenset(missed), frozenset(settled)


def _find_unconfirmed(
    context: TaskContext, patched: bytes, methods: Methods
) -> tuple[frozenset[str], float]:
    """Return the neighbours whose pass the observer does not confirm, and the CPU seconds.

    None are returned if the language offers no observer.
    """
    if not methods or not offers_capability(context.pair.language, Capability.OBSERVE):
        return frozenset(), 0.0
    conditions = replace(
        context.conditions,
        observed=True,
        expects=get_reading(context.pair.language).list_expected_throws(patched),
    )
    cell = context.compile(context.pair.new.rev, ((context.assignment.task.test_file, patched),))
    unseen, cpu_seconds = set(), cell.cpu_seconds
    for name, method in methods.items():
        verdict, batch = run_alone(context.built, cell, method, conditions)
        cpu_seconds += batch.cpu_seconds
        if verdict.outcome is not Outcome.PASS or verdict.tampered is not None:
            unseen.add(name)
    return frozenset(unseen), cpu_seconds
