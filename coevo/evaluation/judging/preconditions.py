"""What the start state has to be: without that, a task asks for nothing.

Old tests are broken on the new code (update, repair); where they are absent (generation), the tests
that the start file keeps compile and pass (docs/tasks.md). Those of them that pass
beside a submission need not be asked.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

from coevo.evaluation.judging.submissions import located
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.languages.table import reading
from coevo.model import codec
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import is_broken
from coevo.starts.kept_tests import kept_tests
from coevo.starts.kept_tests import lost_test

_WHAT = 'precondition'


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What the old tests do on the new code, by target; of those that the start file has.

    lost  a test of the start file that it costs, and what that does there
    """

    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    lost: str | None = None
    cpu_seconds: float = 0.0

    @property
    def holds(self) -> bool:
        return self.lost is None and all(one.broken for one in self.outcomes.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    name: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    kept: tuple[_Kept, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preconditions:
    """Asked once for each task, however many predictions answer it, where there is a ledger."""

    ledger: Ledger | None = None

    def of(self, context: TaskContext, passing: Collection[str] = ()) -> Held:
        """`passing` has the names of other tests of the file that pass with a patch; Transient."""
        if context.start is None:
            return Held()  # targets and siblings are absent
        known = self._recall(context)
        if known is not None:
            return known
        if context.assignment.is_generation:
            held = _kept_on_new(context, context.start, passing)
        else:
            held = _told_on_new(context, context.start)
        if self.ledger is not None and held.holds and not passing:
            kept = (_Kept(name=name, outcome=one) for name, one in held.outcomes.items())
            data = codec.encode(_Entry(kept=tuple(kept)))
            self.ledger.write(data, context.assignment, _WHAT)
        return held

    def _recall(self, context: TaskContext) -> Held | None:
        data = self.ledger.read(context.assignment, _WHAT) if self.ledger is not None else None
        if data is None:
            return None
        entry = codec.decode(_Entry, data)
        return Held(outcomes={kept.name: kept.outcome for kept in entry.kept})


def _told_on_new(context: TaskContext, start: bytes) -> Held:
    task = context.assignment.task
    file = reading(task.language).parse(start, task.test_file)
    found = {
        target.name: located(file, target, target.method_at_start)
        for target in context.assignment.targets
    }
    methods = {name: method for name, method in found.items() if method is not None}
    runner = context.runner()
    verdicts = runner.verdicts(context.start_cell(runner), methods, is_broken)
    return Held(
        outcomes={name: verdict.outcome for name, verdict in verdicts.items()},
        cpu_seconds=runner.cpu_seconds,
    )


def _kept_on_new(context: TaskContext, start: bytes, passing: Collection[str]) -> Held:
    """Gold is asked only where a sibling does not pass, in a process that sees no submission."""
    task, runner = context.assignment.task, context.runner()
    kept = kept_tests(start, context.module, task.test_file, task.pair_id)
    lost = lost_test(
        runner,
        {name: method for name, method in kept.items() if name not in passing},
        at_start=lambda: context.start_cell(runner),
        as_gold=lambda: context.gold_cell(runner),
    )
    return Held(lost=lost, cpu_seconds=runner.cpu_seconds)
