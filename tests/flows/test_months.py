from __future__ import annotations

from datetime import UTC
from datetime import datetime

import pytest

from coevo.model.errors import Fatal
from flows.months import before
from flows.months import end_of

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)


def test_a_month_that_is_over_ends_with_its_last_moment() -> None:
    assert end_of('2024-02', NOW) == datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=UTC)
    assert end_of('2025-12', NOW) == datetime(2025, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


def test_the_present_month_is_no_limit() -> None:
    assert end_of('2026-03', NOW) is None


def test_what_is_no_month() -> None:
    with pytest.raises(Fatal, match='2026-01'):
        end_of('2026-13', NOW)


@pytest.mark.parametrize(('day', 'month'), [((2026, 3, 31), '2026-02'), ((2026, 1, 3), '2025-12')])
def test_the_month_before(day: tuple[int, int, int], month: str) -> None:
    assert before(datetime(*day, tzinfo=UTC)) == month
