"""Sheets that are drawn for readings, and what two of them say."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.reading import QUESTIONS, draw_sheet, sum_sheets
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.words import Track
from tests import snapshots


def _row(task: str, **marks: str) -> dict[str, str]:
    return {'task_id': task, 'repo': 'o/r', **QUESTIONS, 'note': '', **marks}


def test_agreement_of_two_sheets_is_counted_by_task() -> None:
    first = [_row('a', trivial='yes'), _row('b', trivial='yes'), _row('c'), _row('d')]
    second = [_row('d'), _row('c', trivial='unsure'), _row('b'), _row('a', trivial='yes')]
    rows = {row['question']: row for row in sum_sheets(first, second)}
    trivial = rows['trivial']
    assert (trivial['not so, first'], trivial['second'], trivial['either']) == (2, 2, 3)
    # Same marks of a and d; by chance 1/2 * 1/4 (yes) + 1/2 * 1/2 (no) would agree.
    assert (trivial['agree'], trivial['kappa']) == ('50%', f'{(0.5 - 0.375) / 0.625:.2f}')
    assert (rows['natural']['either'], rows['natural']['kappa']) == (0, '-')


@pytest.mark.parametrize(
    ('second', 'said'),
    [
        ([_row('a', natural='')], "natural of task a is ''; write one of yes, no, unsure"),
        ([_row('b')], 'task a stands in one of the two sheets alone'),
    ],
)
def test_incomplete_or_mismatched_sheet_is_refused(second: list[dict[str, str]], said: str) -> None:
    with pytest.raises(Fatal, match=said):
        sum_sheets([_row('a')], second)


def test_sheet_has_as_many_tasks_of_each_kind_as_asked_for(tmp_path: Path) -> None:
    place = str(snapshots.make(tmp_path, 1, 2))
    # These tasks are made up, and none of them is in the view `verified`.
    everything = draw_sheet(place, seed=1, tasks=2)
    assert len(everything) == 2
    assert draw_sheet(place, seed=1, tasks=2, verified=1) == everything[:1]
    assert draw_sheet(place, seed=1, tasks=2, verified=0) == everything
    read = {everything[0]['task_id']}
    assert draw_sheet(place, seed=1, tasks=1, without=read) == everything[1:]
    assert draw_sheet(place, seed=1, tasks=2, family=Family.IMPLEMENT) == []
    by_track = [draw_sheet(place, seed=1, tasks=9, track=each) for each in Track]
    assert sum(map(bool, by_track)) > 1
    assert sorted(row['task_id'] for rows in by_track for row in rows) == sorted(
        row['task_id'] for row in draw_sheet(place, seed=1, tasks=9)
    )
    with pytest.raises(Fatal, match='--verified 3 is more than --tasks 2; draw more tasks'):
        draw_sheet(place, seed=1, tasks=2, verified=3)
