"""Whether the model of an evaluation may have seen its tasks: dates of these against its cutoff.

A task counts as clean where it was public strictly later than the end of the cutoff's day or month.
Neither a task without a date nor any task of a model without a cutoff ever is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coevo.evaluation.records import MethodResult
from coevo.evaluation.suites.records import SuiteResult
from coevo.snapshots.cutoffs import compute_first_clean_moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Since when the answers to the tasks may have been public.

    first, last  ISO 8601, of those tasks of which it is known; None where of none
    unknown      tasks of which it is not known
    clean        tasks that were public only after the cutoff of the model that answered them
    cutoff       only tasks public after this day were scored; None where those of any date were
    """

    first: str | None
    last: str | None
    unknown: int
    clean: int
    cutoff: str | None


def is_clean(row: MethodResult | SuiteResult) -> bool:
    if row.contamination_date is None or row.model_cutoff is None:
        return False
    return row.contamination_date >= compute_first_clean_moment(row.model_cutoff)


def summarise_exposure(rows: Iterable[MethodResult | SuiteResult], cutoff: str | None) -> Exposure:
    tasks = {row.task_id: row for row in rows}.values()
    dates = sorted(row.contamination_date for row in tasks if row.contamination_date is not None)
    return Exposure(
        first=dates[0].isoformat() if dates else None,
        last=dates[-1].isoformat() if dates else None,
        unknown=len(tasks) - len(dates),
        clean=sum(map(is_clean, tasks)),
        cutoff=cutoff,
    )
