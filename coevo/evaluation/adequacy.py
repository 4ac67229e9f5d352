"""What submitted tests that pass on the new code are worth, gold's numbers beside theirs."""

from __future__ import annotations

import math
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from coevo.evaluation.coverage import Executed
from coevo.evaluation.coverage import executed
from coevo.evaluation.gold import GoldMethod
from coevo.evaluation.gold import gold_methods
from coevo.evaluation.kills import mutant_kills
from coevo.evaluation.kills import released
from coevo.evaluation.kills import reversals
from coevo.evaluation.kills import undoable
from coevo.evaluation.records import Adequacy
from coevo.evaluation.scene import Scene
from coevo.measures.bench import Bench
from coevo.measures.bench import GoldTest
from coevo.measures.mutants import run_mutants
from coevo.measures.reversals import measure_reversals
from coevo.quality import MutantRow

UNKNOWN = Executed(executes_delta=None, coverage=None)

Gold = Mapping[str, GoldMethod]


def measure(scene: Scene, names: Collection[str]) -> dict[str, Adequacy]:
    """By name, the adequacy of targets of a scene; all of them passed on the new code.

    Gold's part is what the snapshot has, and only what was measured of gold is measured again.
    Transient where test processes do not start.
    """
    gold = {
        name: one
        for name, one in gold_methods(scene.snapshot, scene.assignment).items()
        if name in names
    }
    bench = Bench(
        workshop=scene.workshop,
        repository=scene.repository,
        pair=scene.pair,
        override=scene.conditions.override,
        tests=scene.files,
        budget=math.inf,
    )
    tests = [_test(scene, name, one) for name, one in gold.items()]
    covered = executed(scene, bench, tests)
    killed = _mutants(bench, tests, gold)
    noticed = measure_reversals(
        bench,
        [replace(t, dependencies=undoable(gold[t.method_id], t.dependencies)) for t in tests],
    )
    share = bench.cpu_seconds / max(1, len(tests))
    return {
        name: Adequacy(
            executes_delta=covered.get(name, UNKNOWN).executes_delta,
            coverage_pred=covered.get(name, UNKNOWN).coverage,
            coverage_gold=one.row.coverage,
            mutants=mutant_kills(one, [row for row in killed if row.method_id == name]),
            reversals=reversals(one, [row for row in noticed if row.method_id == name]),
            smells_gold=one.row.smells_new,
            cpu_seconds=share,
        )
        for name, one in gold.items()
    }


def _test(scene: Scene, name: str, gold: GoldMethod) -> GoldTest:
    """A submitted test under its target's name, with the dependencies of gold."""
    return GoldTest(method_id=name, method=scene.methods[name], dependencies=gold.row.dependencies)


def _mutants(bench: Bench, tests: Sequence[GoldTest], gold: Gold) -> tuple[MutantRow, ...]:
    sets = {name: released(one) for name, one in gold.items()}
    return run_mutants(bench, [t for t in tests if sets[t.method_id].kept], sets).rows
