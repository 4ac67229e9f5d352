"""Find repositories on GitHub and read their metadata.

Repositories are looked up by their number, which stays when name and owner change. The paths are
those to which GitHub redirects a former name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from coevo.model.errors import Transient
from miners.discovery.budgets import Resource
from miners.discovery.candidate_profiles import CandidateProfile
from miners.discovery.candidates import (
    Presence,
    RepositoryFacts,
    RepositoryMetadata,
    RootContent,
    parse_metadata,
)
from miners.discovery.github_requests import GitHubApi, Reply
from miners.discovery.github_search import SearchPartResult, SearchResult, search_repositories

_EMPTY = 'this repository is empty'
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


def add_root_facts(
    api: GitHubApi, github_id: int, facts: RepositoryFacts, build_files: Sequence[str]
) -> RepositoryFacts:
    """Return the facts with what is at the root: a build file, none, or nothing at all.

    Unknown answers give None. Unchanged answers (by ETag) cost no budget.
    """
    root = RootContent.NO_BUILD_FILE
    for name in build_files:
        reply = _request_part(api, github_id, f'/contents/{name}', facts.root_etag)
        if reply.status == 304:
            return facts
        if reply.status == 200:
            return replace(facts, root=RootContent.BUILD_FILE, root_etag=reply.etag)
        if reply.status != 404:
            return replace(facts, root=None, root_etag=None)
        if reply.message.lower().startswith(_EMPTY):
            root = RootContent.EMPTY
            break
    return replace(facts, root=root, root_etag=None)


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
