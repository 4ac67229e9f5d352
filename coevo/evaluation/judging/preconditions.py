"""Preconditions: what must hold in the start state for a task to make sense.

For updates and repairs, the old tests are broken on the new code; for extensions they pass. For
generation, where they are absent, the tests that the start file keeps compile and pass
(docs/internals/tasks.md). Kept tests that pass
beside a submission are not run again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from coevo.evaluation.assignments import locate_target
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.languages.table import get_reading
from coevo.model import codec
from coevo.model.words import Outcome
from coevo.starts.executed_start import draw_kept_tests, find_broken_kept_test

_WHAT = 'precondition'


@dataclass(frozen=True, slots=True, kw_only=True)
class PreconditionResult:
    """The result of checking a start state.

    holds     whether the start state is as the task needs it
    outcomes  the outcomes of the old tests on the new code, for each target that the start file has
    lost      a kept test that passes in gold's file and not in the start file, with its outcome;
              None if there is none
    """

    holds: bool = True
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    lost: str | None = None
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _MethodOutcome:
    name: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _PreconditionEntry:
    method_outcome: tuple[_MethodOutcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreconditionChecker:
    """A checker of start states; the ledger, if any, keeps the results of those that hold."""

    ledger: Ledger | None = None

    def check(self, context: TaskContext, passing: Collection[str] = ()) -> PreconditionResult:
        """Check that the start state of a task is as required, and return what was found.

        A known result is taken from the ledger. Without a start file there is nothing to check, and
        the start state holds.
        passing  names of other tests of the file that pass with a patch, which are not run
        Raises: Transient if a test process does not start.
        """
        if context.start is None:
            return PreconditionResult()  # without a start file there is nothing to run
        known = self._recall(context)
        if known is not None:
            return known
        if context.assignment.is_generation:
            result = _run_kept_tests_on_new(context, context.start, passing)
        else:
            result = _run_start_targets_on_new(context, context.start)
        if self.ledger is not None and result.holds and not passing:
            method_outcomes = (
                _MethodOutcome(name=name, outcome=outcome)
                for name, outcome in result.outcomes.items()
            )
            data = codec.encode_record(_PreconditionEntry(method_outcome=tuple(method_outcomes)))
            self.ledger.write_entry(data, context.assignment, _WHAT)
        return result

    def _recall(self, context: TaskContext) -> PreconditionResult | None:
        data = self.ledger.read(context.assignment, _WHAT) if self.ledger is not None else None
        if data is None:
            return None
        entry = codec.decode_record(_PreconditionEntry, data)
        return PreconditionResult(
            outcomes={
                method_outcome.name: method_outcome.outcome
                for method_outcome in entry.method_outcome
            }
        )


def _run_start_targets_on_new(context: TaskContext, start: bytes) -> PreconditionResult:
    task = context.assignment.task
    file = get_reading(task.language).parse(start, task.test_file)
    located_methods = {
        target.name: locate_target(file, target, target.method_at_start)
        for target in context.assignment.targets
    }
    methods = {name: method for name, method in located_methods.items() if method is not None}
    runner = context.make_runner()
    verdicts = runner.collect_verdicts_rerunning_undemanded(
        context.compile_start_cell(runner), methods, task.track.accepts_at_start
    )
    outcomes = {name: verdict.outcome for name, verdict in verdicts.items()}
    return PreconditionResult(
        holds=all(map(task.track.accepts_at_start, outcomes.values())),
        outcomes=outcomes,
        cpu_seconds=runner.cpu_seconds,
    )


def _run_kept_tests_on_new(
    context: TaskContext, start: bytes, passing: Collection[str]
) -> PreconditionResult:
    """Run the tests that the start file keeps.

    Gold runs only if one of them does not pass, in a process that sees no submission.
    """
    task, runner = context.assignment.task, context.make_runner()
    sibling_tests = draw_kept_tests(start, context.module, task.test_file, task.pair_id)
    lost = find_broken_kept_test(
        runner,
        {name: method for name, method in sibling_tests.items() if name not in passing},
        at_start=lambda: context.compile_start_cell(runner),
        as_gold=lambda: context.compile_gold_cell(runner),
    )
    return PreconditionResult(holds=lost is None, lost=lost, cpu_seconds=runner.cpu_seconds)
