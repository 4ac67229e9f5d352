"""A search for repositories, whole: split by stars, then by creation date, until GitHub shows all.

GitHub shows 1,000 hits of a query and says nothing of the others. Parts are disjoint and cover
their parent, so nothing is lost if each part has as many repositories as it says and all parts
together as many as the whole query says.
https://docs.github.com/en/rest/search/search#about-search
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from datetime import UTC
from datetime import datetime
from datetime import timedelta
from enum import StrEnum
from math import isqrt
from typing import Any

from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from miners.discovery.budgets import Resource
from miners.discovery.github_requests import GitHubApi

CAP = 1000

_PER_PAGE = 100
_READS = 3
_SECOND = timedelta(seconds=1)
# GitHub's oldest repository is a few weeks younger.
_OLDEST = datetime(2007, 10, 1, tzinfo=UTC)


class SearchOutcome(StrEnum):
    """What became of a part."""

    WHOLE = 'whole'  # as many repositories as it says
    SPLIT = 'split'  # too many for one query: its two halves follow
    UNSPLITTABLE = 'unsplittable'  # too many of the same stars and the same second of creation
    INCOMPLETE = 'incomplete'  # GitHub ran out of time again and again
    UNSTEADY = 'unsteady'  # never as many repositories as it says, read after read


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPart:
    """Both ends are within; None is no end."""

    stars_from: int
    stars_to: int | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None

    @property
    def query(self) -> str:
        if self.stars_to is None:
            stars = f'stars:>={self.stars_from}'
        else:
            stars = f'stars:{self.stars_from}..{self.stars_to}'
        if self.created_from is None and self.created_to is None:
            return stars
        return f'{stars} created:{_day(self.created_from)}..{_day(self.created_to)}'

    def halves(self, most_stars: int, now: datetime) -> tuple[SearchPart, SearchPart] | None:
        """The lower half first; None if there is nothing left to split by.

        Stars are spread like a power law, hence their geometric mean.
        """
        if self.stars_to is None or self.stars_to > self.stars_from:
            top = most_stars if self.stars_to is None else min(most_stars, self.stars_to)
            middle = isqrt(self.stars_from * top)
            middle = max(self.stars_from, min(middle, top - 1))
            return replace(self, stars_to=middle), replace(self, stars_from=middle + 1)
        first, last = self.created_from or _OLDEST, self.created_to or now
        if first >= last:
            return None
        half = first + timedelta(seconds=int((last - first).total_seconds()) // 2)
        return replace(self, created_to=half), replace(self, created_from=half + _SECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRead:
    """A part, how many repositories GitHub says it has, and how many it showed."""

    query: str
    total: int
    shown: int
    outcome: SearchOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFound:
    """Items by id, each once; `total` is what the whole query says."""

    items: dict[int, dict[str, Any]]
    parts: tuple[PartRead, ...]
    total: int

    @property
    def query(self) -> str:
        return self.parts[0].query

    @property
    def leaves(self) -> tuple[PartRead, ...]:
        return tuple(one for one in self.parts if one.outcome is not SearchOutcome.SPLIT)

    @property
    def sum(self) -> int:
        """How many repositories all parts together say they have."""
        return sum(one.total for one in self.leaves)

    @property
    def proven(self) -> bool:
        """Whether all parts are whole and together as many as the query has."""
        whole = all(one.outcome is SearchOutcome.WHOLE for one in self.leaves)
        return whole and self.sum == self.total == len(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    total: int
    incomplete: bool
    items: list[dict[str, Any]]


def search(api: GitHubApi, words: str, stars: int, now: datetime) -> SearchFound:
    """All repositories with at least so many stars that match `words`, as of `now`.

    Parts are read from few stars to many: what gains stars meanwhile is seen twice, not never.
    Transient if GitHub stays in trouble; Fatal if it does not understand the query.
    """
    items: dict[int, dict[str, Any]] = {}
    parts: list[PartRead] = []
    waiting = [SearchPart(stars_from=stars)]
    while waiting:
        part = waiting.pop()
        query = f'{words} {part.query}'
        first = _page(api, query, 1)
        halves = None
        if first.total >= CAP:
            most = max((_stars(item) for item in first.items), default=part.stars_from)
            halves = part.halves(most, now)
        if halves is None:
            read, seen = _read(api, query, first)
            items |= seen
        else:
            waiting += reversed(halves)
            read = PartRead(query=query, total=first.total, shown=0, outcome=SearchOutcome.SPLIT)
        parts.append(read)
    return _with_total(api, f'{words} {SearchPart(stars_from=stars).query}', items, parts)


def _with_total(
    api: GitHubApi, query: str, items: dict[int, dict[str, Any]], parts: Sequence[PartRead]
) -> SearchFound:
    """The total as it was before; as it is now, if repositories came or went meanwhile."""
    found = SearchFound(items=items, parts=tuple(parts), total=parts[0].total)
    if found.proven or len(parts) == 1:
        return found
    return replace(found, total=_page(api, query, 1).total)


def _read(api: GitHubApi, query: str, first: _Page) -> tuple[PartRead, dict[int, dict[str, Any]]]:
    """All pages of a part; once more where what they show is not what it says."""
    seen: dict[int, dict[str, Any]] = {}
    for attempt in range(_READS):
        page = first if attempt == 0 else _page(api, query, 1)
        pages = [page, *_others(api, query, page)]
        now = {_id(item): item for one in pages for item in one.items}
        seen |= now
        outcome = _outcome(pages, {len(now), len(seen)})
        if outcome is not SearchOutcome.UNSTEADY:
            break
    return PartRead(query=query, total=pages[-1].total, shown=len(seen), outcome=outcome), seen


def _outcome(pages: Sequence[_Page], shown: set[int]) -> SearchOutcome:
    total = pages[-1].total
    if any(one.incomplete for one in pages):
        return SearchOutcome.INCOMPLETE
    if total > CAP:
        return SearchOutcome.UNSPLITTABLE
    return SearchOutcome.WHOLE if total in shown else SearchOutcome.UNSTEADY


def _others(api: GitHubApi, query: str, first: _Page) -> Iterator[_Page]:
    last = -(-min(first.total, CAP) // _PER_PAGE)
    for number in range(2, last + 1):
        yield _page(api, query, number)


def _page(api: GitHubApi, query: str, number: int) -> _Page:
    """One page; asked again while GitHub says that it ran out of time."""
    parameters = {
        'q': query,
        'sort': 'stars',
        'order': 'desc',
        'per_page': _PER_PAGE,
        'page': number,
    }
    for _ in range(_READS):
        page = _parsed(api, query, parameters)
        if not page.incomplete:
            break
    return page


def _parsed(api: GitHubApi, query: str, parameters: dict[str, Any]) -> _Page:
    reply = api.get('/search/repositories', parameters, Resource.SEARCH)
    if reply.status != 200:
        raise Fatal(f'GitHub does not take the query {query!r}: {reply.message}')
    try:
        page = _Page(
            total=int(reply.data['total_count']),
            incomplete=bool(reply.data['incomplete_results']),
            items=list(reply.data['items']),
        )
        for item in page.items:
            _id(item), _stars(item)
        return page
    except (KeyError, TypeError, ValueError):
        raise Transient('GitHub answered a search with something else') from None


def _id(item: dict[str, Any]) -> int:
    return int(item['id'])


def _stars(item: dict[str, Any]) -> int:
    return int(item['stargazers_count'])


def _day(date: datetime | None) -> str:
    return '*' if date is None else date.astimezone(UTC).strftime('%Y-%m-%dT%H:%M:%SZ')
