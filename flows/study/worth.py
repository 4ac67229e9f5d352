"""What gold tests are worth: mutants, and each changed method undone alone."""

from __future__ import annotations

from collections.abc import Mapping

from coevo.measures.bench import Bench
from coevo.measures.bench import GoldTest
from coevo.measures.mutants import measure_mutants
from coevo.measures.reversals import measure_reversals
from coevo.results import Step
from flows.study.scene import Scene
from flows.study.scene import Study
from miners.delta import Delta


def measure(scene: Scene, changed: Mapping[str, Delta], found: Study) -> None:
    """Mutants and reversals for the methods that keep their track; half of the budget is for each."""
    tests = [
        GoldTest(
            method_id=item.wanted.method_id,
            method=item.wanted.candidate.new,
            dependencies=changed[item.wanted.method_id].dependencies,
        )
        for item in found.judged
        if item.decision.track is not None and item.wanted.candidate.new is not None
    ]
    budget = scene.tools.profile.measure_cpu_seconds / 2
    if not tests or not budget:
        return
    bench = _bench(scene, budget)
    mutated = measure_mutants(bench, tests)
    scene.evaluation.cost.add(Step.MUTANTS, bench.cpu_seconds, len(mutated.rows))
    found.mutants = mutated.rows
    found.add('mutation', mutated.mutations)
    bench = _bench(scene, budget)
    found.reversals = measure_reversals(bench, tests)
    scene.evaluation.cost.add(Step.REVERSALS, bench.cpu_seconds, len(found.reversals))


def _bench(scene: Scene, budget: float) -> Bench:
    return Bench(
        workshop=scene.workshop,
        repository=scene.tools.repository,
        pair=scene.pair,
        override=scene.evaluation.override,
        budget=budget,
    )
