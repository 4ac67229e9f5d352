"""The cost of a pair's steps, and how far back a repository is mined by the tasks that it gave for
it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Set as AbstractSet
from dataclasses import dataclass

from coevo.engine.results import Cost, PairEvaluation, Step
from coevo.model.pair_rows import PairRow, TimingRow
from coevo.model.records import Pair
from coevo.model.segment import count_tasks
from coevo.storage.store import Partition, Store
from coevo.storage.walks import BudgetOutcome, WalkBudget

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


FIRST_COMMITS = 25
MOST_COMMITS = 3200
PATIENCE_SECONDS = 60.0
WORTHWHILE_SECONDS = 30.0

RULE = (
    f'{FIRST_COMMITS} commits, then twice as many up to {MOST_COMMITS}, while a task costs at most '
    f'{WORTHWHILE_SECONDS:g} CPU seconds, and until a step takes {PATIENCE_SECONDS:g} without a task'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Yield:
    """The tasks of some pairs, and the CPU seconds of labelling them."""

    tasks: int
    cpu_seconds: float


NO_YIELD = Yield(tasks=0, cpu_seconds=0.0)


def compute_yields(
    store: Store, partitions: tuple[Partition, ...], *pair_id_groups: AbstractSet[str]
) -> tuple[Yield, ...]:
    """Return the yield of each group of mined pairs, given by their ids; segments are read once.

    Tasks are counted before duplicates are removed.
    """
    yields = [NO_YIELD for _ in pair_id_groups]
    for partition in partitions:
        for segment in store.load_current_segments(partition):
            there = [at for at, group in enumerate(pair_id_groups) if segment.pair.pair_id in group]
            if not there:
                continue
            tasks = count_tasks(segment)
            cpu = sum(row.cpu_seconds for row in select_disjoint_timings(segment.timings))
            for at in there:
                yields[at] = Yield(
                    tasks=yields[at].tasks + tasks, cpu_seconds=yields[at].cpu_seconds + cpu
                )
    return tuple(yields)


def decide_budget(commits: int, visited: int, *, total: Yield, step: Yield) -> WalkBudget:
    """Return the budget after the newest commits were mined, with the reason to go on or to stop.

    commits  the number that was asked for; the walk has no more if it visited fewer
    total    of all pairs so far
    step     of the pairs that the last step added
    """
    return WalkBudget(
        rule=RULE,
        commits=commits,
        tasks=total.tasks,
        cpu_seconds=round(total.cpu_seconds, 3),
        outcome=_decide_outcome(commits, visited, total, step),
    )


def _decide_outcome(commits: int, visited: int, total: Yield, step: Yield) -> BudgetOutcome:
    for part in (total, step):
        if not part.tasks and part.cpu_seconds >= PATIENCE_SECONDS:
            return BudgetOutcome.WAITS
    if total.tasks and total.cpu_seconds > WORTHWHILE_SECONDS * total.tasks:
        return BudgetOutcome.DEAR
    if visited < commits or commits >= MOST_COMMITS:
        return BudgetOutcome.END
    return BudgetOutcome.DEEPER
