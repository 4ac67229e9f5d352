"""Decide how far back a repository is mined, by the tasks that it gave for its CPU seconds.

A repository is mined in steps: 25 commits, then twice as many each time. It is mined further back
while its tasks are cheap, and while too little was run to judge it. One that gave no task in
60 CPU seconds, in all or of one step, waits: only its new commits are mined. The rule looks at recorded
segments alone and never at a clock, so a run that was interrupted takes the same steps.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from coevo.model.measures import count_tasks
from coevo.storage.store import Partition, Store
from coevo.storage.walks import BudgetOutcome, WalkBudget
from flows.timings import select_disjoint_timings

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
    store: Store, partitions: tuple[Partition, ...], *groups: AbstractSet[str]
) -> tuple[Yield, ...]:
    """Return the yield of each group of mined pairs, given by their ids; segments are read once.

    Tasks are counted before duplicates are removed.
    """
    yields = [NO_YIELD for _ in groups]
    for partition in partitions:
        for segment in store.load_segments(partition):
            there = [at for at, group in enumerate(groups) if segment.pair.pair_id in group]
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
