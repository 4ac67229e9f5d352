"""Read a list that comes in pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

# As many entries as a Prefect server gives in one answer.
PAGE = 200

_T = TypeVar('_T')


def read_pages(read_page: Callable[[int, int], Sequence[_T]], size: int = PAGE) -> Iterator[_T]:
    """Yield the entries of all pages, until a page is not full.

    read_page  returns the entries of one page, given their greatest number and how many to skip
    """
    offset = 0
    while True:
        page = read_page(size, offset)
        yield from page
        if len(page) < size:
            return
        offset += len(page)
