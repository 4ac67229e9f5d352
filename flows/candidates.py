"""Which repositories a scheduled run takes, and where they are cloned from, by what the store knows.

One that was mined to its end, or validated, and to which nothing was pushed since, is not even fetched: the
crawl that says so has seen all that it has.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from coevo.languages.table import LANGUAGES
from coevo.languages.table import engine_version
from coevo.storage.place import Root
from coevo.storage.store import Partition
from coevo.storage.store import Store
from flows.batches.jobs import Verb
from flows.crawling.crawls import CrawledRepository
from flows.crawling.crawls import latest_kept
from flows.validations import latest_validation
from flows.validations import validated_push


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Names of repositories: those that there is something to do for, and those without anything new."""

    repositories: tuple[str, ...]
    unchanged: tuple[str, ...] = ()


def due(store: Root, verb: Verb, profile: str | None = None, sandbox: str | None = None) -> Due:
    """All candidates of the latest crawls to be validated; to be mined those that proved valid.

    profile  that they are to be mined by; None for any
    sandbox  that they are to be proven in; None for any
    """
    kept = latest_kept(store)
    if verb is Verb.VALIDATE:
        return _due_for_validation(store, kept, sandbox)
    valid = [candidate for candidate in kept if _valid(store, candidate.repo)]
    mined = Store(store)
    unchanged = {
        candidate.repo
        for candidate, partitions in _with_partitions(mined, valid)
        if partitions and all(_is_whole(mined, one, candidate, profile) for one in partitions)
    }
    return Due(
        repositories=tuple(one.repo for one in valid if one.repo not in unchanged),
        unchanged=tuple(sorted(unchanged)),
    )


def _due_for_validation(store: Root, kept: Sequence[CrawledRepository], sandbox: str | None) -> Due:
    proven = {one.repo for one in kept if _is_proven(store, one, sandbox)}
    return Due(
        repositories=tuple(one.repo for one in kept if one.repo not in proven),
        unchanged=tuple(sorted(proven)),
    )


def note_unchanged(store: Root, unchanged: tuple[str, ...]) -> None:
    """Let the walks of repositories without anything new say until when that is known."""
    mined = Store(store)
    some = [candidate for candidate in latest_kept(store) if candidate.repo in set(unchanged)]
    for candidate, partitions in _with_partitions(mined, some):
        for partition in partitions:
            walk = mined.walk(partition)
            mined.write_walk(partition, dataclasses.replace(walk, reached=candidate.crawled))


def known(store: Root) -> dict[str, CrawledRepository]:
    """What crawls say of each candidate, by its name in the data."""
    return {candidate.repo: candidate for candidate in latest_kept(store)}


def _valid(store: Root, repo: str) -> bool:
    found = latest_validation(store, repo)
    return found is not None and found.valid


def _is_proven(store: Root, candidate: CrawledRepository, sandbox: str | None) -> bool:
    """Whether what was found of it, valid or not, is what would be found again."""
    found = latest_validation(store, candidate.repo)
    if found is None or candidate.pushed_at is None:
        return False
    language = LANGUAGES.get(found.language or '')
    return (
        validated_push(store, candidate.repo) == candidate.pushed_at
        and language is not None
        and found.engine_version == language.ENGINE_VERSION
        and sandbox in (None, found.sandbox)
    )


def _with_partitions(
    store: Store, candidates: list[CrawledRepository]
) -> list[tuple[CrawledRepository, list[Partition]]]:
    there: dict[str, list[Partition]] = defaultdict(list)
    for partition in store.partitions():
        there[partition.repo].append(partition)
    return [(one, there[one.repo]) for one in candidates]


def _is_whole(
    store: Store, partition: Partition, candidate: CrawledRepository, profile: str | None
) -> bool:
    """Whether all of a walk is mined, by what mines now, and nothing was pushed since.

    What GitHub said before it was mined is held against what a later crawl says, not against a clock. A crawl
    that is stamped too late makes it late, and loses nothing: the next one tells of the push.
    """
    walk = store.walk(partition)
    row = walk.repository
    return (
        candidate.pushed_at is not None
        and walk.pushed == candidate.pushed_at
        and walk.reached is not None
        and candidate.crawled >= walk.reached
        and partition.language in LANGUAGES
        and row.engine_version == engine_version(partition.language)
        and profile in (None, row.profile)
        and not store.pending(partition)
    )
