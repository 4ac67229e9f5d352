"""Success before a model's cutoff minus success after it, on matched tasks, with placebos.

Tasks are matched by repository, family and size of the gold patch (`matched.sql`). The remaining
difference is one in time. Part of it is not contamination, since projects and their tests change.
So the same is estimated at placebo cutoffs, dates at which the model learned nothing, each among
tasks on one side of the true cutoff only. Intervals are bootstrapped over repositories, which
contain whole strata.
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

# Placebo cutoffs are at these quantiles of the dates of the tasks on one side of the true cutoff.
QUANTILES = (1 / 4, 1 / 2, 3 / 4)

_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptedTask:
    """A task with the success of its first attempt.

    family         its track, or its family and kind of start
    changed_lines  lines that gold's patch adds and removes
    date           the date from which its answer may have been public; None if unknown
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
    """Success before a moment minus success after it.

    difference     of shares, -1 to 1; None if no stratum has tasks on both sides
    low, high      the 95 % interval; None if fewer than two repositories contribute
    before, after  numbers of matched tasks
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
        """True if the interval excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class ContaminationEstimate:
    """The effect at a model's cutoff, and the effects at placebo cutoffs.

    unmatched       the plain difference of means at the cutoff, without matching; None if there are
                    no tasks before it or none after it
    dated, undated  numbers of tasks with a date, which count, and without, which do not
    """

    effect: Effect
    unmatched: float | None
    placebos: Sequence[Effect]
    dated: int
    undated: int

    @property
    def clear_placebos(self) -> int:
        """The number of placebo cutoffs whose interval excludes 0."""
        return sum(placebo.is_clear for placebo in self.placebos)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutoffSplit:
    """The moment at which tasks are split into before and after.

    margin  tasks this close to the moment are left out
    sized   whether tasks are matched by size, too
    """

    moment: datetime
    margin: timedelta = timedelta(0)
    sized: bool = True


def estimate_contamination(
    tasks: Sequence[AttemptedTask], question: CutoffSplit
) -> ContaminationEstimate:
    """Return success before a cutoff minus success after it, with the same at placebo cutoffs.

    Tasks without a date are only counted.
    """
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
    """Yield the effects at placebo cutoffs, each among the tasks of one side of the true cutoff."""
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
    """Return the effect among tasks from `first` on and before `last`."""
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
    """Return the mean success before a moment minus the mean success from it on, without matching.

    Different tasks on both sides may be the reason for it. None if a side has no tasks.
    """
    before = [task.success for task in dated if task.date is not None and task.date < moment]
    after = [task.success for task in dated if task.date is not None and task.date >= moment]
    if not before or not after:
        return None
    return math.fsum(before) / len(before) - math.fsum(after) / len(after)
