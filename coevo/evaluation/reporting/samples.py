"""Scores of test methods as samples of means: over tasks (macro) or over methods (micro).

A score is a number for each method, or None where it could not be measured: the paper's ⊥.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.bootstrap import Sample

Score = Callable[[MethodResult], float | None]
Rows = Sequence[MethodResult]


def tasks(rows: Iterable[MethodResult]) -> Mapping[str, Rows]:
    """The rows of each task, in the order of the tasks' ids."""
    found: dict[str, list[MethodResult]] = {}
    for row in rows:
        found.setdefault(row.task_id, []).append(row)
    return dict(sorted(found.items()))


def micro(rows: Rows, score: Score) -> Iterator[Sample]:
    """Every method that has the score counts once."""
    for row in rows:
        value = score(row)
        if value is not None:
            yield Sample(repo=row.repo, value=value)


def narrow(rows: Rows, score: Score) -> Iterator[Sample]:
    """Every task counts once, by the mean over those S of its methods that have the score.

    A task in which no method has it gives no sample (TestEvo-Bench, A.6, Eq. 5).
    """
    for task in tasks(rows).values():
        known = [value for value in map(score, task) if value is not None]
        if known:
            yield Sample(repo=task[0].repo, value=math.fsum(known) / len(known))


def wide(rows: Rows, score: Score) -> Iterator[Sample]:
    """Every task counts once, by the mean over all its N methods; ⊥ is 0 (A.6, Eq. 5)."""
    return narrow(rows, lambda row: score(row) or 0.0)
