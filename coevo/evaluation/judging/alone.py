"""The run of one test method in a fresh process of its own."""

from __future__ import annotations

from dataclasses import replace

from coevo.languages.cells import CompiledTests
from coevo.languages.conditions import RunConditions
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import UNOBSERVED, Verdict, VerdictBatch
from coevo.model.errors import Transient
from coevo.model.records import TestMethod
from coevo.model.words import Outcome


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
