"""Find repositories on GitHub, completely, and read their metadata.

Repositories are looked up by their number, which stays when name and owner change. The paths are
those to which GitHub redirects a former name.
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
from miners.discovery.candidates import (
    CandidateProfile,
    Presence,
    RepositoryFacts,
    RepositoryMetadata,
    RootContent,
    parse_metadata,
)
from miners.discovery.github_requests import GitHubApi, Reply

# Search for repositories completely, although GitHub shows only the first 1,000 hits of a query.
#
# A search is split by stars, then by creation date, as far as needed. Parts are disjoint and cover
# their parent. So nothing is lost if each part shows as many repositories as its total says, and
# the totals of all parts add up to the total of the whole query.
#
# https://docs.github.com/en/rest/search/search#about-search

CAP = 1000

_PER_PAGE = 100
_READS = 3
_SECOND = timedelta(seconds=1)
# GitHub's oldest repository is a few weeks younger.
_OLDEST = datetime(2007, 10, 1, tzinfo=UTC)


class SearchOutcome(StrEnum):
    """The result of reading one part."""

    WHOLE = 'whole'  # it showed as many repositories as its total says
    SPLIT = 'split'  # too many for one query: its two halves follow
    UNSPLITTABLE = 'unsplittable'  # too many with the same stars and the same second of creation
    INCOMPLETE = 'incomplete'  # GitHub ran out of time in every read
    UNSTEADY = 'unstable'  # it never showed as many repositories as its total says


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPart:
    """A range of stars and creation times, both ends included; None is an open end."""

    stars_from: int
    stars_to: int | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None

    @property
    def query(self) -> str:
        """The terms of the range in GitHub's query language."""
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
        """Return the lower and the upper half; None if the range cannot be split further.

        Stars follow a power law, so they are split at their geometric mean.
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
    """A part, its total according to GitHub, and the number of repositories that it showed."""

    query: str
    total: int
    shown: int
    outcome: SearchOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The items by id; `total` is the total of the whole query."""

    items: dict[int, dict[str, Any]]
    parts: tuple[SearchPartResult, ...]
    total: int

    @property
    def query(self) -> str:
        """The whole query."""
        return self.parts[0].query

    @property
    def read_parts(self) -> tuple[SearchPartResult, ...]:
        """The parts that were read rather than split."""
        return tuple(part for part in self.parts if part.outcome is not SearchOutcome.SPLIT)

    @property
    def parts_total(self) -> int:
        """The sum of the totals of all parts that were read."""
        return sum(part.total for part in self.read_parts)

    @property
    def is_complete(self) -> bool:
        """True if all parts are whole and add up to the total of the query."""
        whole = all(part.outcome is SearchOutcome.WHOLE for part in self.read_parts)
        return whole and self.parts_total == self.total == len(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SearchPage:
    total: int
    incomplete: bool
    items: list[dict[str, Any]]


def search_repositories(api: GitHubApi, words: str, stars: int, now: datetime) -> SearchResult:
    """Return all repositories with at least `stars` stars that match `words`, as of `now`.

    Parts are read from few stars to many: a repository that gains stars meanwhile is seen twice
    rather than missed.

    Raises: Transient if GitHub does not recover; Fatal if it does not accept the query.
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
    """Return the result of a search with the total of the whole query.

    It is the total before the search; if the parts do not add up to that, the present total.
    """
    result = SearchResult(items=items, parts=tuple(parts), total=parts[0].total)
    if result.is_complete or len(parts) == 1:
        return result
    return replace(result, total=_load_page(api, query, 1).total)


def _load_pages(
    api: GitHubApi, query: str, first: _SearchPage
) -> tuple[SearchPartResult, dict[int, dict[str, Any]]]:
    """Load all pages of a part, and return how that went and the repositories by id.

    It is repeated up to three times while fewer repositories are shown than the total says.
    """
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
    """Load one page; repeat it up to three times while GitHub says that it ran out of time."""
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


# Find repositories on GitHub and read their metadata.

_TOO_MANY = 'too large to list contributors'


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHits:
    """The results of the searches of a profile, by id.

    odd  ids of repositories that GitHub described in an unexpected form
    """

    repositories: dict[int, RepositoryMetadata]
    odd: tuple[int, ...]
    searches: tuple[SearchResult, ...]

    @property
    def is_complete(self) -> bool:
        """True if the searches are certain to have found every repository that they cover."""
        return not self.odd and all(search_result.is_complete for search_result in self.searches)

    @property
    def parts(self) -> tuple[SearchPartResult, ...]:
        """The parts of all searches."""
        return tuple(part for search_result in self.searches for part in search_result.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupResult:
    """The state of a repository that a search no longer finds.

    seen  None if it is gone, or nothing has changed since `etag`
    """

    presence: Presence
    seen: RepositoryMetadata | None = None
    etag: str | None = None


def discover_repositories(api: GitHubApi, profile: CandidateProfile, now: datetime) -> SearchHits:
    """Return all repositories that the searches of a profile find."""
    searches = tuple(
        search_repositories(api, words, profile.stars, now) for words in profile.search_queries
    )
    repositories: dict[int, RepositoryMetadata] = {}
    odd = []
    for search_result in searches:
        for number, item in search_result.items.items():
            try:
                repositories[number] = parse_metadata(item)
            except Transient:
                odd.append(number)
    return SearchHits(repositories=repositories, odd=tuple(odd), searches=searches)


def look_up_repository(api: GitHubApi, github_id: int, etag: str | None) -> LookupResult:
    """Return the state of one repository, looked up by its number.

    A private one counts as deleted. Raises: Transient if GitHub does not answer.
    """
    reply = _request_part(api, github_id, '', etag)
    if reply.status == 304:
        return LookupResult(presence=Presence.LOOKUP, etag=etag)
    if reply.status == 200:
        seen = parse_metadata(reply.data)
        if not reply.data.get('private'):
            return LookupResult(presence=Presence.LOOKUP, seen=seen, etag=reply.etag)
    blocked = reply.status in (403, 451)
    return LookupResult(presence=Presence.BLOCKED if blocked else Presence.DELETED)


# One GraphQL query costs one request of 5,000 an hour, however many repositories it names.
ROOTS_AT_ONCE = 100


def find_root_contents(
    api: GitHubApi, repositories: Sequence[RepositoryMetadata], build_files: Sequence[str]
) -> dict[int, RootContent | None]:
    """Return the content of the root of each repository by its id, with a single request.

    A repository that GitHub does not find under its name any more gives None.

    repositories  at most `ROOTS_AT_ONCE`

    Raises: Transient if GitHub does not answer.

    https://docs.github.com/en/graphql/reference/objects#repository
    """
    files = ' '.join(
        f'f{number}: object(expression: $f{number}) {{ __typename }}'
        for number in range(len(build_files))
    )
    variables = {f'f{number}': f'HEAD:{name}' for number, name in enumerate(build_files)}
    parts = []
    for number, seen in enumerate(repositories):
        variables[f'o{number}'], _, variables[f'n{number}'] = seen.full_name.partition('/')
        parts.append(
            f'r{number}: repository(owner: $o{number}, name: $n{number}) '
            f'{{ databaseId isEmpty {files} }}'
        )
    names = ', '.join(f'${name}: String!' for name in variables)
    data = api.query(f'query({names}) {{ {" ".join(parts)} }}', variables)
    return {
        seen.github_id: _parse_root_content(data.get(f'r{number}'), seen.github_id)
        for number, seen in enumerate(repositories)
    }


def _parse_root_content(answer: Any, github_id: int) -> RootContent | None:
    """Return the content of the root that an answer describes.

    None if the answer is about another repository, which has the name by now, or is incomplete.
    """
    if not isinstance(answer, dict) or answer.get('databaseId') != github_id:
        return None
    if answer.get('isEmpty'):
        return RootContent.EMPTY
    objects = [value for name, value in answer.items() if name.startswith('f')]
    is_there = any(
        isinstance(value, dict) and value.get('__typename') == 'Blob' for value in objects
    )
    return RootContent.BUILD_FILE if is_there else RootContent.NO_BUILD_FILE


def add_contributor_count(
    api: GitHubApi, github_id: int, facts: RepositoryFacts, wanted: int
) -> RepositoryFacts:
    """Return the facts with the number of contributors with an account, counted up to `wanted`.

    None if the answer is unknown; `wanted` if GitHub says that there are too many to list.
    """
    reply = _request_part(
        api, github_id, '/contributors', facts.contributors_etag, per_page=max(1, min(wanted, 100))
    )
    if reply.status == 304:
        return facts
    if reply.status == 200:
        if not isinstance(reply.data, list):
            raise Transient('GitHub answered a question for contributors with something else')
        return replace(facts, at_least_contributors=len(reply.data), contributors_etag=reply.etag)
    number = None
    if reply.status == 204:
        number = 0
    elif reply.status == 403 and _TOO_MANY in reply.message.lower():
        number = wanted
    return replace(facts, at_least_contributors=number, contributors_etag=None)


def _request_part(
    api: GitHubApi, github_id: int, part: str, etag: str | None, **parameters: int
) -> Reply:
    path = f'/repositories/{github_id}{part}'
    return api.get(path, parameters, Resource.CORE, etag=etag, affinity=github_id)
