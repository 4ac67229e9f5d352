"""Whether tests that had to stay are weaker than they were: mutants that they do not notice any more.

Asked are mutants of the focus, drawn as those of suites are, with which the test fails both as it was at
the start and as it is in gold: what its developers gave up nobody has to keep.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from coevo.evaluation.judging.memory import asked_once
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.mutant_sets import DrawnMutant
from coevo.measures.mutants import compiled_with
from coevo.measures.mutants import cpu_limit
from coevo.measures.suites import drawn
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

_WHAT = 'maintained_kills'

Methods = Mapping[str, TestMethod]
"""By the names of the old file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """A mutant, and the tests that notice it, by their names in the old file."""

    mutant: DrawnMutant
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    noticed: tuple[Noticed, ...]


@dataclass(slots=True, kw_only=True)
class StrengthRunner:
    """What is asked of the tests of one task that had to stay.

    start, gold  these tests, as they are called there
    """

    context: TaskContext
    ledger: Ledger | None
    start: Methods
    gold: Methods
    cpu_seconds: float = 0.0

    def weaker(self, patched: bytes, methods: Methods) -> dict[str, bool]:
        """Whether each of some submitted tests misses what it noticed; who noticed nothing, or does not
        pass beside the others, is left out. Transient."""
        asked = [one for one in self._noticed() if methods.keys() & set(one.tests)]
        runner = self._runner(patched)
        kills = self._kills(runner, methods, [one.mutant for one in asked])
        found: dict[str, bool] = {}
        for one, noticing in zip(asked, kills.by_mutant, strict=True):
            for name in kills.measured & set(one.tests):
                found[name] = found.get(name, False) or name not in noticing
        return found

    def _noticed(self) -> tuple[Noticed, ...]:
        asked = asked_once(self.ledger, self.context.assignment, (_WHAT,), _Entry, self._ask)
        return asked.noticed

    def _ask(self) -> _Entry:
        start, gold = self._runner(self.context.start), self._runner(self.context.gold)
        focus = self.context.assignment.task.focus or ()
        mutants = drawn(start, focus)
        before = self._kills(start, self.start, mutants)
        after = self._kills(gold, self.gold, mutants)
        both = (
            Noticed(mutant=one, tests=tuple(sorted(was & is_)))
            for one, was, is_ in zip(mutants, before.by_mutant, after.by_mutant, strict=True)
        )
        return _Entry(noticed=tuple(one for one in both if one.tests))

    def _runner(self, tests: bytes | None) -> EditedCellRunner:
        return EditedCellRunner(
            built=self.context.built,
            repository=self.context.repository,
            override=self.context.conditions.override,
            sources=self.context.conditions.sources,
            tests=((self.context.assignment.task.test_file, tests),),
        )

    def _kills(
        self, runner: EditedCellRunner, methods: Methods, mutants: Sequence[DrawnMutant]
    ) -> _Kills:
        found = _kills(runner, self.context.module, methods, mutants)
        self.cpu_seconds += runner.cpu_seconds
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kills:
    """Tests that pass without a mutant, and of these, for each mutant, those that do not pass with it."""

    measured: frozenset[str]
    by_mutant: tuple[frozenset[str], ...]


def _kills(
    runner: EditedCellRunner, module: str, methods: Methods, mutants: Iterable[DrawnMutant]
) -> _Kills:
    plain = runner.compile(module)
    verdicts = runner.run_all(plain, tuple(methods.values()), None)
    passing = {
        name: verdict.cpu_seconds
        for name, verdict in zip(methods, verdicts, strict=True)
        if verdict is not None and verdict.outcome is Outcome.PASS
    }
    limit = cpu_limit(max(passing.values(), default=0.0))
    own = {name: methods[name] for name in passing}
    return _Kills(
        measured=frozenset(own),
        by_mutant=tuple(frozenset(_noticing(runner, module, own, one, limit)) for one in mutants),
    )


def _noticing(
    runner: EditedCellRunner, module: str, methods: Methods, one: DrawnMutant, limit: float
) -> Iterator[str]:
    """Who loses the process to a neighbour gets one of its own."""
    if not methods:
        return
    compiled = compiled_with(runner, module, one, ())
    verdicts = runner.run_all(compiled, tuple(methods.values()), limit)
    for (name, method), verdict in zip(methods.items(), verdicts, strict=True):
        told = verdict or runner.run(compiled, method, limit)
        if told.outcome is not Outcome.PASS:
            yield name
