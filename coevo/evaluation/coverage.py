"""What submitted tests execute and cover of their changed dependencies (TestEvo-Bench, A.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coevo.evaluation.scene import Scene
from coevo.languages.base import Trace
from coevo.measures.bench import Bench
from coevo.measures.bench import GoldTest
from coevo.measures.coverage import coverage_of
from coevo.measures.executed import executed_at_new
from coevo.quality import Coverage
from coevo.records import Dependency
from coevo.records import Revised


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """executes_delta is None where no changed dependency stands at new, so that none can be."""

    executes_delta: bool | None
    coverage: Coverage | None


def executed(scene: Scene, bench: Bench, tests: Sequence[GoldTest]) -> dict[str, Executed]:
    """By method id; a method that does not run to its end is left out."""
    found = {}
    for test in tests:
        trace = _trace(scene, bench, test)
        if trace is not None:
            own = executed_at_new(scene.repository, scene.pair, test.dependencies, trace)
            found[test.method_id] = Executed(
                executes_delta=_executes(own),
                coverage=coverage_of(own, trace),
            )
    return found


def _executes(dependencies: tuple[Dependency, ...]) -> bool | None:
    known = [one.executed_new for one in dependencies if one.revised is not Revised.REMOVED]
    told = [one for one in known if one is not None]
    return any(told) if told else None


def _trace(scene: Scene, bench: Bench, test: GoldTest) -> Trace | None:
    """Of a process of its own."""
    compiled = bench.compile(test.method.module)
    files = _files(test.dependencies)
    traced = scene.workshop.trace(compiled, [test.method], files, scene.conditions)
    bench.cpu_seconds += traced.cpu_seconds
    (trace,) = traced.traces
    return trace


def _files(dependencies: tuple[Dependency, ...]) -> frozenset[str]:
    return frozenset(
        one.file
        for one in dependencies
        if one.revised is not Revised.REMOVED and one.file.endswith('.java')
    )
