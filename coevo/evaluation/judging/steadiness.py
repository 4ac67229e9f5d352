"""Re-runs of submitted tests, each in a fresh process of its own, to find those that do not always
do the same.
"""

from __future__ import annotations

import time
from dataclasses import replace

from coevo.evaluation.judging.outcomes import TargetResult
from coevo.evaluation.judging.task_context import TaskContext
from coevo.languages.cells import CompiledTests
from coevo.languages.engine import BuiltPair
from coevo.languages.observation import RunConditions
from coevo.languages.verdicts import UNOBSERVED, Verdict, VerdictBatch
from coevo.model.errors import Transient
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import describe_verdict


def run_alone(
    built: BuiltPair, cell: CompiledTests, method: TestMethod, conditions: RunConditions
) -> tuple[Verdict, VerdictBatch]:
    """Return the verdict on one method, from the compiler or else from a process of its own.

    A timeout, and a pass that the observer did not confirm, are run a second time before they
    count.

    Raises: Transient if the test process does not start.
    """
    compile_verdict = built.find_compile_verdict(cell, method)
    if compile_verdict is not None:
        return compile_verdict, VerdictBatch(verdicts=(compile_verdict,), cpu_seconds=0.0)
    verdict, batch = _run_once(built, cell, method, conditions)
    # An unconfirmed pass may be a failure of coevo's own observer, so it gets a second run.
    if verdict.outcome is Outcome.TIMEOUT or verdict.tampered == UNOBSERVED:
        used = batch.cpu_seconds
        verdict, batch = _run_once(built, cell, method, conditions)
        batch = replace(batch, cpu_seconds=batch.cpu_seconds + used)
    return verdict, batch


def _run_once(
    built: BuiltPair, cell: CompiledTests, method: TestMethod, conditions: RunConditions
) -> tuple[Verdict, VerdictBatch]:
    batch = built.run(cell, [method], conditions)
    (verdict,) = batch.verdicts
    assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
    if verdict.outcome is Outcome.INFRA:
        raise Transient(f'a test process did not start: {verdict.message.strip()}')
    return verdict, batch


# How often a test must pass unobserved before a failure on other code means anything.
PASSES = 3


def rerun_passing(
    context: TaskContext,
    cell: CompiledTests,
    method: TestMethod,
    seen: TargetResult,
    wanted_passes: int = PASSES,
) -> TargetResult:
    """Run a target on the new code, unobserved, until it has `passes` passes or fails.

    Passes that it has already count. A failure makes it unstable.
    """
    while seen.passes < wanted_passes and seen.unstable is None:
        began = time.monotonic()
        verdict, batch = run_alone(context.built, cell, method, context.conditions)
        steady = verdict.outcome is Outcome.PASS
        seen = replace(
            seen,
            passes=seen.passes + steady,
            slowest=max(seen.slowest, verdict.cpu_seconds),
            unstable=None
            if steady
            else f'on the new code once pass, once {describe_verdict(verdict)}',
            cpu_seconds=seen.cpu_seconds + batch.cpu_seconds,
            seconds=seen.seconds + time.monotonic() - began,
        )
    return seen


def rerun_failing(
    context: TaskContext, cell: CompiledTests, method: TestMethod, seen: TargetResult
) -> TargetResult:
    """Run a target that failed on the old code there once more.

    If the outcome or the failure is another one, the target is marked as unstable.
    """
    assert seen.old is not None, 'it was run on old code'
    if seen.unstable is not None:
        return seen
    began = time.monotonic()
    verdict, batch = run_alone(context.built, cell, method, context.conditions)
    same = describe_verdict(verdict) == describe_verdict(seen.old)
    return replace(
        seen,
        unstable=None
        if same
        else f'on old code once {describe_verdict(seen.old)}, once {describe_verdict(verdict)}',
        cpu_seconds=seen.cpu_seconds + batch.cpu_seconds,
        seconds=seen.seconds + time.monotonic() - began,
    )


def rerun_with_failing_edit(
    context: TaskContext,
    patched: bytes,
    method: TestMethod,
    edit: tuple[str, bytes | None],
    seen: TargetResult,
) -> TargetResult:
    """Run a target again with an edit of the code with which it ran and failed.

    If it now passes, it is marked as unstable. In between it has passed without the edit. So a test
    that depends on the time, which fails for a while and then passes for a while, is exposed.
    """
    began = time.monotonic()
    new = context.pair.new.rev
    cell = context.compile(new, ((context.assignment.task.test_file, patched),), (edit,))
    verdict, batch = run_alone(context.built, cell, method, context.conditions)
    steady = verdict.outcome is not Outcome.PASS
    return replace(
        seen,
        unstable=None if steady else 'once pass, once not with other code',
        cpu_seconds=seen.cpu_seconds + cell.cpu_seconds + batch.cpu_seconds,
        seconds=seen.seconds + time.monotonic() - began,
    )
