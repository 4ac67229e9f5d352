"""The tables of a crawl as records."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from miners.discovery.candidates import CandidateReason, Presence, RepositoryFacts, RootContent
from miners.discovery.github_search import SearchOutcome
from miners.discovery.repository_metadata import RepositoryMetadata

_Part = TypeVar('_Part')


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySeen:
    """`repositories`: every repository that this or an earlier crawl of the profile met.

    github_id   the key: the number that stays when name and owner change
    repo        what the repository is called in all data, for ever: its name when it was first met
    presence    where it was met; `search` and `lookup` exist, the rest is gone
    kept        whether it is a candidate; `reason` says why not
    unanswered  questions to which GitHub gave no answer; what was known before stands
    first_seen, last_seen  stamps of crawls
    """

    github_id: int
    repo: str
    full_name: str
    clone_url: str
    default_branch: str
    stars: int
    license: str | None
    language: str | None
    archived: bool
    disabled: bool
    fork: bool
    created_at: datetime
    pushed_at: datetime | None
    presence: Presence
    kept: bool
    reason: CandidateReason | None
    root: RootContent | None
    at_least_contributors: int | None
    unanswered: tuple[str, ...]
    first_seen: str
    last_seen: str
    lookup_etag: str | None
    root_etag: str | None
    contributors_etag: str | None

    @property
    def metadata(self) -> RepositoryMetadata:
        return copy_fields(RepositoryMetadata, self)

    @property
    def facts(self) -> RepositoryFacts:
        return copy_fields(RepositoryFacts, self)


def copy_fields(record: type[_Part], whole: object, **more: object) -> _Part:
    """The record whose fields another one has, too, but for those that are given."""
    hint: Any = record  # mypy takes no type variable for a dataclass
    names = {item.name for item in dataclasses.fields(hint)} - more.keys()
    part_record: _Part = hint(**{name: getattr(whole, name) for name in names}, **more)
    return part_record


def parse_repository_row(row: dict[str, Any]) -> RepositorySeen:
    """From a row of the table, where what is closed is text."""
    reason, root = row['reason'], row['root']
    closed = {
        'presence': Presence(row['presence']),
        'reason': CandidateReason(reason) if reason is not None else None,
        'root': RootContent(root) if root is not None else None,
        'unanswered': tuple(row['unanswered']),
    }
    return RepositorySeen(**{**row, **closed})


class EventKind(StrEnum):
    """What can happen to a repository between two crawls."""

    APPEARED = 'appeared'
    GONE_FROM_SEARCH = 'gone_from_search'
    BACK_IN_SEARCH = 'back_in_search'
    DELETED = 'deleted'
    BLOCKED = 'blocked'
    RESTORED = 'restored'
    RENAMED = 'renamed'
    TRANSFERRED = 'transferred'
    ARCHIVED = 'archived'
    UNARCHIVED = 'unarchived'
    FORKED = 'forked'
    UNFORKED = 'unforked'
    EMPTIED = 'emptied'
    FILLED = 'filled'
    LICENCE_CHANGED = 'licence_changed'
    DEFAULT_BRANCH_CHANGED = 'default_branch_changed'


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlEvent:
    """`events`: what happened to a repository since the profile's crawl before."""

    github_id: int
    repo: str
    kind: EventKind
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlQuery:
    """`queries`: every query that was asked, in that order.

    total  how many repositories GitHub said it has
    shown  how many it showed; a part that was split showed none
    """

    query: str
    total: int
    shown: int
    outcome: SearchOutcome
