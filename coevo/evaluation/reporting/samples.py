"""Scores of test methods as samples of means: over tasks (macro) or over methods (micro).

A score is a number for each method, or None where it could not be measured: the paper's ⊥.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.bootstrap import Sample

Score = Callable[[MethodResult], float | None]
Rows = Sequence[MethodResult]


def group_by_task(rows: Iterable[MethodResult]) -> Mapping[str, Rows]:
    """The rows of each task, in the order of the tasks' ids."""
    groups: dict[str, list[MethodResult]] = {}
    for row in rows:
        groups.setdefault(row.task_id, []).append(row)
    return dict(sorted(groups.items()))


def sample_methods(rows: Rows, score: Score) -> Iterator[Sample]:
    """Every method that has the score counts once."""
    for row in rows:
        value = score(row)
        if value is not None:
            yield Sample(repo=row.repo, value=value)


def sample_measured_tasks(rows: Rows, score: Score) -> Iterator[Sample]:
    """Every task counts once, by the mean over those S of its methods that have the score.

    A task in which no method has it gives no sample (TestEvo-Bench, A.6, Eq. 5).
    """
    for task in group_by_task(rows).values():
        known = [value for value in map(score, task) if value is not None]
        if known:
            yield Sample(repo=task[0].repo, value=math.fsum(known) / len(known))


def sample_all_tasks(rows: Rows, score: Score) -> Iterator[Sample]:
    """Every task counts once, by the mean over all its N methods; ⊥ is 0 (A.6, Eq. 5)."""
    return sample_measured_tasks(rows, lambda row: score(row) or 0.0)
