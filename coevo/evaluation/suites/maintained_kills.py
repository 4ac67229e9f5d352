"""Tests that had to stay and became weaker: they miss mutants that they noticed before.

The mutants are those of the focus, drawn as for suites, with which the test fails both in its start
version and in gold's version. What the developers themselves gave up need not be kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coevo.evaluation.judging.task_context import TaskContext, recall_or_compute
from coevo.evaluation.ledger import Ledger
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.mutant_sets import DrawnMutant
from coevo.measures.mutants import compile_with_mutant, compute_cpu_limit
from coevo.measures.suites import draw_mutants
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

_WHAT = 'maintained_kills'

Methods = Mapping[str, TestMethod]
"""Tests by their names in the old file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticedMutant:
    """A mutant, and the tests that notice it, by their names in the old file."""

    mutant: DrawnMutant
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _NoticedMutants:
    noticed: tuple[NoticedMutant, ...]


@dataclass(slots=True, kw_only=True)
class StrengthRunner:
    """A runner of mutants for those tests of one task that had to stay.

    start, gold  these tests in the start file and in gold's file, by their names in the old file
    """

    context: TaskContext
    ledger: Ledger | None
    start: Methods
    gold: Methods
    cpu_seconds: float = 0.0

    def decide_which_tests_are_weaker(self, patched: bytes, methods: Methods) -> dict[str, bool]:
        """Return for submitted tests whether each misses a mutant that it noticed before.

        A mutant counts if the test fails with it both in the start file and in gold's file. Tests
        without such a mutant, or that do not pass together with the others, are left out.
        methods  the submitted tests by their names in the old file
        Raises: Transient if a test process does not start.
        """
        relevant_mutants = [
            noticed_mutant
            for noticed_mutant in self._recall_noticed_mutants()
            if methods.keys() & set(noticed_mutant.tests)
        ]
        runner = self.context.make_edited_runner(patched)
        kills = self._run_mutants(
            runner, methods, [noticed_mutant.mutant for noticed_mutant in relevant_mutants]
        )
        is_weaker: dict[str, bool] = {}
        for noticed_mutant, noticing in zip(relevant_mutants, kills.by_mutant, strict=True):
            for name in kills.measured & set(noticed_mutant.tests):
                is_weaker[name] = is_weaker.get(name, False) or name not in noticing
        return is_weaker

    def _recall_noticed_mutants(self) -> tuple[NoticedMutant, ...]:
        entry = recall_or_compute(
            self.ledger,
            self.context.assignment,
            (_WHAT,),
            _NoticedMutants,
            self._find_noticed_mutants,
        )
        return entry.noticed

    def _find_noticed_mutants(self) -> _NoticedMutants:
        start = self.context.make_edited_runner(self.context.start)
        gold = self.context.make_edited_runner(self.context.gold)
        focus = self.context.assignment.task.focus or ()
        mutants = draw_mutants(start, focus)
        before = self._run_mutants(start, self.start, mutants)
        after = self._run_mutants(gold, self.gold, mutants)
        both = (
            NoticedMutant(mutant=mutant, tests=tuple(sorted(was & is_)))
            for mutant, was, is_ in zip(mutants, before.by_mutant, after.by_mutant, strict=True)
        )
        return _NoticedMutants(
            noticed=tuple(noticed_mutant for noticed_mutant in both if noticed_mutant.tests)
        )

    def _run_mutants(
        self, runner: EditedCellRunner, methods: Methods, mutants: Sequence[DrawnMutant]
    ) -> MutantKills:
        kills = measure_kills(runner, self.context.module, methods, mutants)
        self.cpu_seconds += runner.cpu_seconds
        return kills


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantKills:
    """The tests that pass without a mutant and, for each mutant, those that fail with it."""

    measured: frozenset[str]
    by_mutant: tuple[frozenset[str], ...]


def measure_kills(
    runner: EditedCellRunner, module: str, methods: Methods, mutants: Iterable[DrawnMutant]
) -> MutantKills:
    """Run tests together with each mutant, those that pass together without one.

    Raises: Transient if a test process does not start.
    """
    plain = runner.compile(module)
    verdicts = runner.run_all(plain, tuple(methods.values()), None)
    passing = {
        name: verdict.cpu_seconds
        for name, verdict in zip(methods, verdicts, strict=True)
        if verdict is not None and verdict.outcome is Outcome.PASS
    }
    limit = compute_cpu_limit(max(passing.values(), default=0.0))
    own = {name: methods[name] for name in passing}
    return MutantKills(
        measured=frozenset(own),
        by_mutant=tuple(
            frozenset(_find_noticing_tests(runner, module, own, mutant, limit))
            for mutant in mutants
        ),
    )


def _find_noticing_tests(
    runner: EditedCellRunner,
    module: str,
    methods: Methods,
    one: DrawnMutant,
    cpu_seconds_limit: float,
) -> Iterator[str]:
    """Yield the tests that fail with a mutant; a test without a verdict gets a process of its own.

    A test has no verdict if another test ended the process they shared.
    """
    if not methods:
        return
    compiled = compile_with_mutant(runner, module, one, ())
    verdicts = runner.run_all(compiled, tuple(methods.values()), cpu_seconds_limit)
    for (name, method), verdict in zip(methods.items(), verdicts, strict=True):
        final_verdict = verdict or runner.run_alone(compiled, method, cpu_seconds_limit)
        if final_verdict.outcome is not Outcome.PASS:
            yield name
