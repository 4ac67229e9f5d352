from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.report import make_report
from coevo.model.words import BreakageCause, Track
from tests.evaluation.rows import row


@pytest.mark.parametrize(
    ('date', 'name'),
    [
        (datetime(2014, 12, 31, 23, 59, tzinfo=UTC), 'Older'),
        (datetime(2015, 1, 1, tzinfo=UTC), '2015 H1'),
        (datetime(2016, 7, 1, 0, 30, tzinfo=timezone(timedelta(hours=2))), '2016 H1'),
        (datetime(2016, 7, 1, 0, 30, tzinfo=UTC), '2016 H2'),
        (None, 'Unknown'),
    ],
)
def test_half_year_is_that_of_the_date_in_utc(date: datetime | None, name: str) -> None:
    rows = [row('a', f'T#{i}', new_date=date) for i in range(20)]
    assert [one.name for one in make_report(rows).tracks[0].half_years] == [name]


def _year(year: int, methods: int, successes: int) -> list[MethodResult]:
    return [
        row(
            f'{year}',
            f'T#{i}',
            TaskOutcome.SUCCESS if i < successes else TaskOutcome.EXEC_FAIL,
            new_date=datetime(year, 1, 2, tzinfo=UTC),
        )
        for i in range(methods)
    ]


def test_half_years_of_fewer_than_twenty_methods_are_left_out() -> None:
    trouble = row('2019', 'T#x', TaskOutcome.INFRA, new_date=datetime(2019, 1, 2, tzinfo=UTC))
    rows = [*_year(2021, 20, 5), *_year(2020, 19, 19), *_year(2019, 19, 1), trouble]
    rows += _year(2014, 20, 10)
    found = make_report(rows).tracks[0].half_years
    assert [(one.name, one.tasks, one.methods, one.macro.success.value) for one in found] == [
        ('Older', 1, 20, 0.5),
        ('2021 H1', 1, 20, 0.25),
    ]


def test_cause_subsets_include_causes_of_few_methods() -> None:
    rows = [
        row('a', 'T#1', cause=BreakageCause.SYNTAX, track=Track.REPAIR),
        row('a', 'T#2', TaskOutcome.CMPL_FAIL, cause=BreakageCause.TEST, track=Track.REPAIR),
        row('b', 'T#1', cause=BreakageCause.TEST, track=Track.REPAIR),
        row('b', 'T#2', cause=BreakageCause.TEST, track=Track.REPAIR),
        row('b', 'T#3', track=Track.REPAIR),
    ]
    found = make_report(rows).tracks[0].causes
    assert [(one.name, one.tasks, one.methods, one.macro.success.value) for one in found] == [
        ('syntax', 1, 1, 1.0),
        ('test', 2, 3, pytest.approx((0 + 1) / 2)),
        ('unknown', 1, 1, 1.0),
    ]
    assert found[1].micro.success.value == pytest.approx(2 / 3)
