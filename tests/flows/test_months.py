from __future__ import annotations

from datetime import UTC, datetime

import pytest

from coevo.model.errors import Fatal
from flows.months import find_month_end, find_previous_month

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)


def test_a_past_month_ends_at_its_last_microsecond() -> None:
    assert find_month_end('2024-02', NOW) == datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=UTC)
    assert find_month_end('2025-12', NOW) == datetime(2025, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


def test_the_present_month_has_no_end() -> None:
    assert find_month_end('2026-03', NOW) is None


def test_an_invalid_month_is_refused() -> None:
    with pytest.raises(Fatal, match='2026-01'):
        find_month_end('2026-13', NOW)


@pytest.mark.parametrize(('day', 'month'), [((2026, 3, 31), '2026-02'), ((2026, 1, 3), '2025-12')])
def test_the_previous_month_is_found_across_a_year_boundary(
    day: tuple[int, int, int], month: str
) -> None:
    assert find_previous_month(datetime(*day, tzinfo=UTC)) == month
