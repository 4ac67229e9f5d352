"""Success before a model's cutoff less success after it, on matched tasks, beside the same at placebo cutoffs.

Tasks are matched by repository, family and size of the gold patch (`matched.sql`): what remains is a
difference in time. Some of that is none of contamination, since projects and their tests change. So
the same is estimated at dates at which the model learned nothing, each among tasks of one side of
the cutoff alone. Intervals are bootstrapped over repositories, inside which all strata lie.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

from coevo.evaluation.reporting.bootstrap import compute_interval
from coevo.model.schema import build_table

if TYPE_CHECKING:
    import duckdb

# A placebo cutoff parts one side of the true one at these quantiles of its tasks' dates.
QUANTILES = (1 / 4, 1 / 2, 3 / 4)

_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptedTask:
    """A task with what came of its first attempt.

    family         its track, or family and start
    changed_lines  of gold's patch, added and removed
    date           from when on its answer may have been public; None where that is unknown
    success        share of its targets that succeed, 0 to 1
    """

    task_id: str
    repo: str
    family: str
    changed_lines: int
    date: datetime | None
    success: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Success before a moment less success after it.

    difference    of shares, -1 to 1; None where no stratum has tasks on both sides
    low, high     of its 95 % interval; None where fewer than two repositories contribute
    before, after matched tasks
    """

    moment: datetime
    difference: float | None
    low: float | None
    high: float | None
    before: int
    after: int
    repositories: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class ContaminationEstimate:
    """The estimate at a model's cutoff, what would be said without matching, and placebo cutoffs.

    dated, undated  tasks that count, and those without a date, which do not
    """

    effect: Effect
    unmatched: float | None
    placebos: Sequence[Effect]
    dated: int
    undated: int

    @property
    def clear_placebos(self) -> int:
        return sum(placebo.is_clear for placebo in self.placebos)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutoffSplit:
    """At which moment tasks are parted.

    margin  tasks so near to it are left out
    sized   whether tasks are matched by size, too
    """

    moment: datetime
    margin: timedelta = timedelta(0)
    sized: bool = True


def estimate_contamination(
    tasks: Sequence[AttemptedTask], question: CutoffSplit
) -> ContaminationEstimate:
    """Of the tasks that have a date."""
    import duckdb

    dated = [task for task in tasks if task.date is not None]
    with duckdb.connect() as connection:
        connection.register('attempted', build_table(AttemptedTask, dated))
        return ContaminationEstimate(
            effect=_estimate_effect(connection, question),
            unmatched=_compute_unmatched_difference(dated, question.moment),
            placebos=list(_estimate_placebos(connection, dated, question)),
            dated=len(dated),
            undated=len(tasks) - len(dated),
        )


def _estimate_placebos(
    connection: duckdb.DuckDBPyConnection, dated: Sequence[AttemptedTask], question: CutoffSplit
) -> Iterator[Effect]:
    """Each among the tasks of one side of the cutoff."""
    moment = question.moment
    dates = sorted(task.date for task in dated if task.date is not None)
    before = [date for date in dates if date < moment]
    after = [date for date in dates if date >= moment]
    for side, first, last in ((before, _FIRST, moment), (after, moment, _LAST)):
        moments = sorted({side[int(len(side) * share)] for share in QUANTILES if side})
        for at in moments:
            placebo_split = CutoffSplit(moment=at, margin=question.margin, sized=question.sized)
            effect = _estimate_effect(connection, placebo_split, first, last)
            if effect.difference is not None:
                yield effect


def _estimate_effect(
    connection: duckdb.DuckDBPyConnection,
    question: CutoffSplit,
    first: datetime = _FIRST,
    last: datetime = _LAST,
) -> Effect:
    """Among tasks from `first` on and before `last`."""
    sql = files('coevo').joinpath('evaluation', 'contamination', 'matched.sql').read_text('utf-8')
    values = {
        'moment': question.moment,
        'sized': question.sized,
        'first': first,
        'last': last,
        'gap': question.moment - question.margin,
        'resumed': question.moment + question.margin,
    }
    rows = connection.execute(sql, values).fetchall()
    points, weights = [row[1] for row in rows], [row[2] for row in rows]
    low, high = compute_interval(points, weights)
    whole = math.fsum(weights)
    return Effect(
        moment=question.moment,
        difference=math.fsum(points) / whole if whole else None,
        low=low,
        high=high,
        before=sum(row[3] for row in rows),
        after=sum(row[4] for row in rows),
        repositories=len(rows),
    )


def _compute_unmatched_difference(dated: Sequence[AttemptedTask], moment: datetime) -> float | None:
    """The plain difference of means, which other tasks on either side may explain."""
    before = [task.success for task in dated if task.date is not None and task.date < moment]
    after = [task.success for task in dated if task.date is not None and task.date >= moment]
    if not before or not after:
        return None
    return math.fsum(before) / len(before) - math.fsum(after) / len(after)
