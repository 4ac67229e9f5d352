"""One test method in a fresh process of its own."""

from __future__ import annotations

from dataclasses import replace

from coevo.languages.cells import Compiled
from coevo.languages.conditions import Conditions
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import UNOBSERVED
from coevo.languages.verdicts import Batch
from coevo.languages.verdicts import Verdict
from coevo.model.errors import Transient
from coevo.model.records import TestMethod
from coevo.model.words import Outcome


def run_alone(
    built: BuiltPair, cell: Compiled, method: TestMethod, conditions: Conditions
) -> tuple[Verdict, Batch]:
    """What the compiler says, else one process; a time limit that is hit is confirmed. Transient."""
    told = built.compile_verdict(cell, method)
    if told is not None:
        return told, Batch(verdicts=(told,), cpu_seconds=0.0)
    verdict, batch = _once(built, cell, method, conditions)
    # An observer that was in trouble may have been ours to blame.
    if verdict.outcome is Outcome.TIMEOUT or verdict.tampered == UNOBSERVED:
        used = batch.cpu_seconds
        verdict, batch = _once(built, cell, method, conditions)
        batch = replace(batch, cpu_seconds=batch.cpu_seconds + used)
    return verdict, batch


def _once(
    built: BuiltPair, cell: Compiled, method: TestMethod, conditions: Conditions
) -> tuple[Verdict, Batch]:
    batch = built.run(cell, [method], conditions)
    (verdict,) = batch.verdicts
    assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
    if verdict.outcome is Outcome.INFRA:
        raise Transient(f'a test process did not start: {verdict.message.strip()}')
    return verdict, batch
