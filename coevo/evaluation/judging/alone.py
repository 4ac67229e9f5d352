"""One test method in a fresh process of its own."""

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
    """What the compiler says, else one process; a time limit that is hit is confirmed. Transient."""
    compile_verdict = built.find_compile_verdict(cell, method)
    if compile_verdict is not None:
        return compile_verdict, VerdictBatch(verdicts=(compile_verdict,), cpu_seconds=0.0)
    verdict, batch = _run_once(built, cell, method, conditions)
    # An observer that was in trouble may have been ours to blame.
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
