"""Tasks that --only-tasks names and that another option leaves out, each with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

from coevo.evaluation.assignments import list_wanted_ids
from coevo.model.families import Family
from coevo.snapshots import snapshot
from coevo.snapshots.cutoffs import Cutoff

# Most tasks that a sentence names.
_MOST_NAMED = 10


def explain_left_out(
    place: Path | str,
    named: Collection[str],
    kept: Collection[str],
    *,
    in_views: Collection[str],
    cutoff: Cutoff | None = None,
    family: Family | None = None,
    otherwise: str = 'not graded',
) -> Iterator[str]:
    """Yield a sentence for each reason why named tasks are not among those kept.

    in_views   the named tasks that are in the views that were asked for
    otherwise  the reason for tasks that pass all of these options
    """
    lost = sorted(set(named) - set(kept))
    if not lost:
        return
    of_family = list_wanted_ids(place, lost, family=family)
    dates = _load_dates(place)
    late_enough = list_wanted_ids(place, lost, cutoff)
    by_reason: dict[str, list[str]] = defaultdict(list)
    for task_id in lost:
        if task_id not in in_views:
            reason = 'not in the view that was asked for'
        elif task_id not in of_family:
            reason = f'not of the family {family}'
        elif task_id not in late_enough:
            date = dates[task_id]
            reason = f'public since {date} and not {cutoff}' if date else 'of no known date'
        else:
            reason = otherwise
        by_reason[reason].append(task_id)
    for reason, task_ids in by_reason.items():
        more = f' and {len(task_ids) - _MOST_NAMED} more' if len(task_ids) > _MOST_NAMED else ''
        yield f'left out, {reason}: {", ".join(task_ids[:_MOST_NAMED])}{more}'


def _load_dates(place: Path | str) -> dict[str, str | None]:
    """Return the day on which each task became public; None if it is not known."""
    opened = snapshot.attach_snapshots_unchecked((place,))
    with snapshot.translate_read_errors((place,)):
        rows = opened.connection.execute(
            f"SELECT task_id, strftime(contamination_date, '%Y-%m-%d') FROM {opened.rows['tasks']}"
        ).fetchall()
    return dict(rows)
