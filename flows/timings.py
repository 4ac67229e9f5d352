"""Measure the cost of a pair's steps, with a clock of its own thread."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

from coevo.engine.results import Cost, PairEvaluation, Step
from coevo.model.pair_rows import PairRow, TimingRow
from coevo.model.records import Pair

# The whole time of a pair's own thread, and the part of it that finds changes.
OWN, DIFF = 'pair', 'diff'
# Steps whose seconds are also in other steps: in the thread's, or in those of the runs.
PARTS = (DIFF, Step.TESTS)

Lap = tuple[float, float, int]
"""CPU seconds, wall seconds, and how often a step was done."""


def select_disjoint_timings(timings: Iterable[TimingRow]) -> Iterator[TimingRow]:
    """Yield the rows whose seconds are in no other row, so that their sum is the total cost."""
    return (row for row in timings if row.step not in PARTS)


class StageClock:
    """Measures the CPU seconds of this thread and the wall seconds of steps, from its start on."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.thread_time(), time.monotonic()
        self._first_cpu, self._start = self._cpu, self._wall
        self._laps: dict[str, Lap] = {}

    def record_lap(self, step: str, count: int) -> None:
        """Record the time since the last lap, or since the start, as a step."""
        cpu, wall = time.thread_time(), time.monotonic()
        self._laps[step] = (cpu - self._cpu, wall - self._wall, count)
        self._cpu, self._wall = cpu, wall

    def build_rows(self, pair: Pair, evaluation: PairEvaluation | None) -> Iterator[TimingRow]:
        """Yield the laps, the cost of sandboxed programs, and the whole pair's wall time."""
        laps = dict(self._laps)
        if evaluation is not None:
            laps |= list_cost_laps(evaluation.cost)
        laps[OWN] = (time.thread_time() - self._first_cpu, time.monotonic() - self._start, 1)
        return build_timing_rows(pair, laps)


def list_cost_laps(cost: Cost) -> dict[str, Lap]:
    """Return a lap for each step of sandboxed programs, with 0 wall seconds."""
    return {str(step): (cost.cpu_seconds[step], 0.0, count) for step, count in cost.counts.items()}


def build_timing_rows(pair: Pair | PairRow, laps: Mapping[str, Lap]) -> Iterator[TimingRow]:
    """Yield a row for each lap of a pair, by the name of its step."""
    for step, (cpu, wall, count) in laps.items():
        yield TimingRow(
            repo=pair.repo,
            walk=pair.walk,
            pair_id=pair.pair_id,
            step=step,
            cpu_seconds=round(cpu, 3),
            wall_seconds=round(wall, 3),
            count=count,
        )
