"""The tables of a crawl as records."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from miners.discovery.candidates import (
    CandidateReason,
    Presence,
    RepositoryFacts,
    RepositoryMetadata,
    RootContent,
)
from miners.discovery.github import SearchOutcome

_Part = TypeVar('_Part')


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySeen:
    """`repositories`: every repository that this or an earlier crawl of the profile found.

    github_id   the key: the number that stays when name and owner change
    repo        its permanent name in all data: its name when it was first found
    presence    where it was found; `search` and `lookup` exist, the others are gone
    kept        whether it is a candidate; if not, `reason` says why
    unanswered  requests that GitHub did not answer; earlier facts stay
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
    contributors_etag: str | None

    @property
    def metadata(self) -> RepositoryMetadata:
        """The metadata columns as a record."""
        return copy_fields(RepositoryMetadata, self)

    @property
    def facts(self) -> RepositoryFacts:
        """The columns of facts that need separate requests, as a record."""
        return copy_fields(RepositoryFacts, self)


def copy_fields(record: type[_Part], whole: object, **more: object) -> _Part:
    """Return a new record of another type with the same-named fields of `whole`.

    Fields given in `more` have these values instead.
    """
    hint: Any = record  # mypy takes no type variable for a dataclass
    names = {item.name for item in dataclasses.fields(hint)} - more.keys()
    part_record: _Part = hint(**{name: getattr(whole, name) for name in names}, **more)
    return part_record


def parse_repository_row(row: dict[str, Any]) -> RepositorySeen:
    """Parse a row of the table, where closed choices are stored as text.

    Columns of older crawls that are not recorded any more are ignored.
    """
    reason, root = row['reason'], row['root']
    names = {item.name for item in dataclasses.fields(RepositorySeen)}
    closed = {
        'presence': Presence(row['presence']),
        'reason': CandidateReason(reason) if reason is not None else None,
        'root': RootContent(root) if root is not None else None,
        'unanswered': tuple(row['unanswered']),
    }
    known: dict[str, Any] = {**row, **closed}
    return RepositorySeen(**{name: known[name] for name in names})


class EventKind(StrEnum):
    """The changes of a repository between two crawls."""

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
    """`events`: a change of a repository since the profile's previous crawl."""

    github_id: int
    repo: str
    kind: EventKind
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlQuery:
    """`queries`: every query that was sent, in that order.

    total  the number of repositories according to GitHub
    shown  the number that GitHub showed; none for a part that was split
    """

    query: str
    total: int
    shown: int
    outcome: SearchOutcome


# The rest compares the repositories of two crawls of a profile.

_GONE = {Presence.DELETED: EventKind.DELETED, Presence.BLOCKED: EventKind.BLOCKED}

_Change = tuple[EventKind, str | None, str | None]


def list_events(
    before: Mapping[int, RepositorySeen], after: Iterable[RepositorySeen]
) -> tuple[CrawlEvent, ...]:
    """Return all changes of repositories since the previous crawl, sorted by repository number.

    A repository that is not in `before` has appeared.
    """
    return tuple(
        CrawlEvent(github_id=now.github_id, repo=now.repo, kind=kind, before=old, after=new)
        for now in sorted(after, key=lambda row: row.github_id)
        for kind, old, new in _compare_rows(before.get(now.github_id), now)
    )


def _compare_rows(old: RepositorySeen | None, new: RepositorySeen) -> Iterator[_Change]:
    if old is None:
        yield EventKind.APPEARED, None, new.full_name
        return
    yield from _compare_presence(old.presence, new.presence)
    yield from _compare_names(old, new)
    if old.archived != new.archived:
        yield EventKind.ARCHIVED if new.archived else EventKind.UNARCHIVED, None, None
    if old.fork != new.fork:
        yield EventKind.FORKED if new.fork else EventKind.UNFORKED, None, None
    if old.license != new.license:
        yield EventKind.LICENCE_CHANGED, old.license, new.license
    if old.default_branch != new.default_branch:
        yield EventKind.DEFAULT_BRANCH_CHANGED, old.default_branch, new.default_branch
    if None not in (old.root, new.root) and (old.root is RootContent.EMPTY) != (
        new.root is RootContent.EMPTY
    ):
        yield (
            EventKind.EMPTIED if new.root is RootContent.EMPTY else EventKind.FILLED,
            old.root,
            new.root,
        )


def _compare_presence(old: Presence, new: Presence) -> Iterator[_Change]:
    if old is new:
        return
    if new in _GONE:
        yield _GONE[new], None, None
        return
    if old in _GONE:
        yield EventKind.RESTORED, None, None
    if new is Presence.LOOKUP:
        yield EventKind.GONE_FROM_SEARCH, None, None
    elif old is Presence.LOOKUP:
        yield EventKind.BACK_IN_SEARCH, None, None


def _compare_names(old: RepositorySeen, new: RepositorySeen) -> Iterator[_Change]:
    """Yield a transfer and a renaming; both may happen at once."""
    old_owner, _, old_name = old.full_name.partition('/')
    new_owner, _, new_name = new.full_name.partition('/')
    if old_owner != new_owner:
        yield EventKind.TRANSFERRED, old.full_name, new.full_name
    if old_name != new_name:
        yield EventKind.RENAMED, old.full_name, new.full_name
