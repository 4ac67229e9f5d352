"""No list that comes in pages is cut."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flows.live.reap import PAGE, read_pages


@pytest.mark.parametrize('count', [0, 1, 199, 200, 201, 400, 450])
def test_all_entries_are_read_though_a_page_has_200(count: int) -> None:
    asked = []

    def read_page(limit: int, offset: int) -> Sequence[int]:
        """As a Prefect server does."""
        asked.append(offset)
        return range(count)[offset : offset + min(limit, PAGE)]

    assert list(read_pages(read_page)) == list(range(count))
    assert asked == list(range(0, count + 1, PAGE))
