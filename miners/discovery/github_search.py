"""A search for repositories, whole: split by stars, then by creation date, until GitHub shows all.

GitHub shows 1,000 hits of a query and says nothing of the others. Parts are disjoint and cover
their parent, so nothing is lost if each part has as many repositories as it says and all parts
together as many as the whole query says.
https://docs.github.com/en/rest/search/search#about-search
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from math import isqrt
from typing import Any

from coevo.model.errors import Fatal, Transient
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
    UNSTEADY = 'unstable'  # never as many repositories as it says, read after read


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
        return f'{stars} created:{_format_time(self.created_from)}..{_format_time(self.created_to)}'

    def split_in_halves(
        self, most_stars: int, now: datetime
    ) -> tuple[SearchPart, SearchPart] | None:
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
class SearchPartResult:
    """A part, how many repositories GitHub says it has, and how many it showed."""

    query: str
    total: int
    shown: int
    outcome: SearchOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Items by id, each once; `total` is what the whole query says."""

    items: dict[int, dict[str, Any]]
    parts: tuple[SearchPartResult, ...]
    total: int

    @property
    def query(self) -> str:
        return self.parts[0].query

    @property
    def unsplit_parts(self) -> tuple[SearchPartResult, ...]:
        return tuple(part for part in self.parts if part.outcome is not SearchOutcome.SPLIT)

    @property
    def parts_total(self) -> int:
        """How many repositories all parts together say they have."""
        return sum(part.total for part in self.unsplit_parts)

    @property
    def is_complete(self) -> bool:
        """Whether all parts are whole and together as many as the query has."""
        whole = all(part.outcome is SearchOutcome.WHOLE for part in self.unsplit_parts)
        return whole and self.parts_total == self.total == len(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SearchPage:
    total: int
    incomplete: bool
    items: list[dict[str, Any]]


def search_repositories(api: GitHubApi, words: str, stars: int, now: datetime) -> SearchResult:
    """All repositories with at least so many stars that match `words`, as of `now`.

    Parts are read from few stars to many: what gains stars meanwhile is seen twice, not never.
    Transient if GitHub stays in trouble; Fatal if it does not understand the query.
    """
    items: dict[int, dict[str, Any]] = {}
    parts: list[SearchPartResult] = []
    waiting = [SearchPart(stars_from=stars)]
    while waiting:
        part = waiting.pop()
        query = f'{words} {part.query}'
        first = _load_page(api, query, 1)
        halves = None
        if first.total >= CAP:
            most = max((_get_stars(item) for item in first.items), default=part.stars_from)
            halves = part.split_in_halves(most, now)
        if halves is None:
            read, seen = _load_pages(api, query, first)
            items |= seen
        else:
            waiting += reversed(halves)
            read = SearchPartResult(
                query=query, total=first.total, shown=0, outcome=SearchOutcome.SPLIT
            )
        parts.append(read)
    return _add_total(api, f'{words} {SearchPart(stars_from=stars).query}', items, parts)


def _add_total(
    api: GitHubApi, query: str, items: dict[int, dict[str, Any]], parts: Sequence[SearchPartResult]
) -> SearchResult:
    """The total as it was before; as it is now, if repositories came or went meanwhile."""
    result = SearchResult(items=items, parts=tuple(parts), total=parts[0].total)
    if result.is_complete or len(parts) == 1:
        return result
    return replace(result, total=_load_page(api, query, 1).total)


def _load_pages(
    api: GitHubApi, query: str, first: _SearchPage
) -> tuple[SearchPartResult, dict[int, dict[str, Any]]]:
    """All pages of a part; once more where what they show is not what it says."""
    seen: dict[int, dict[str, Any]] = {}
    for attempt in range(_READS):
        page = first if attempt == 0 else _load_page(api, query, 1)
        pages = [page, *_load_other_pages(api, query, page)]
        now = {_get_id(item): item for each_page in pages for item in each_page.items}
        seen |= now
        outcome = _classify_outcome(pages, {len(now), len(seen)})
        if outcome is not SearchOutcome.UNSTEADY:
            break
    return SearchPartResult(
        query=query, total=pages[-1].total, shown=len(seen), outcome=outcome
    ), seen


def _classify_outcome(pages: Sequence[_SearchPage], shown: set[int]) -> SearchOutcome:
    total = pages[-1].total
    if any(page.incomplete for page in pages):
        return SearchOutcome.INCOMPLETE
    if total > CAP:
        return SearchOutcome.UNSPLITTABLE
    return SearchOutcome.WHOLE if total in shown else SearchOutcome.UNSTEADY


def _load_other_pages(api: GitHubApi, query: str, first: _SearchPage) -> Iterator[_SearchPage]:
    last = -(-min(first.total, CAP) // _PER_PAGE)
    for number in range(2, last + 1):
        yield _load_page(api, query, number)


def _load_page(api: GitHubApi, query: str, number: int) -> _SearchPage:
    """One page; asked again while GitHub says that it ran out of time."""
    parameters = {
        'q': query,
        'sort': 'stars',
        'order': 'desc',
        'per_page': _PER_PAGE,
        'page': number,
    }
    for _ in range(_READS):
        page = _request_page(api, query, parameters)
        if not page.incomplete:
            break
    return page


def _request_page(api: GitHubApi, query: str, parameters: dict[str, Any]) -> _SearchPage:
    reply = api.get('/search/repositories', parameters, Resource.SEARCH)
    if reply.status != 200:
        raise Fatal(f'GitHub does not take the query {query!r}: {reply.message}')
    try:
        page = _SearchPage(
            total=int(reply.data['total_count']),
            incomplete=bool(reply.data['incomplete_results']),
            items=list(reply.data['items']),
        )
        for item in page.items:
            _get_id(item), _get_stars(item)
        return page
    except (KeyError, TypeError, ValueError):
        raise Transient('GitHub answered a search with something else') from None


def _get_id(item: dict[str, Any]) -> int:
    return int(item['id'])


def _get_stars(item: dict[str, Any]) -> int:
    return int(item['stargazers_count'])


def _format_time(date: datetime | None) -> str:
    return '*' if date is None else date.astimezone(UTC).strftime('%Y-%m-%dT%H:%M:%SZ')
