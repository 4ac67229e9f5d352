"""What happened to repositories between two crawls of a profile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flows.crawling.rows import CrawlEvent, EventKind, RepositorySeen
from miners.discovery.candidates import Presence, RootContent

_GONE = {Presence.DELETED: EventKind.DELETED, Presence.BLOCKED: EventKind.BLOCKED}

_Change = tuple[EventKind, str | None, str | None]


def list_events(
    before: Mapping[int, RepositorySeen], after: Iterable[RepositorySeen]
) -> tuple[CrawlEvent, ...]:
    """All that happened, by repository; a repository that is new has appeared."""
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
    """A transfer may come with a new name; then it is both."""
    old_owner, _, old_name = old.full_name.partition('/')
    new_owner, _, new_name = new.full_name.partition('/')
    if old_owner != new_owner:
        yield EventKind.TRANSFERRED, old.full_name, new.full_name
    if old_name != new_name:
        yield EventKind.RENAMED, old.full_name, new.full_name
