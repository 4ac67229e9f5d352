"""Choose the repositories of a scheduled run, and their addresses, by what the store knows.

A repository that was completely mined, or validated, and to which nothing was pushed since, is not
even fetched: the crawl that reports this has seen its current state.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from coevo.languages.table import LANGUAGES, get_engine_version
from coevo.storage.place import Root
from coevo.storage.store import Partition, Store
from flows.batches.jobs import Verb
from flows.crawling.crawls import CrawledRepository, load_latest_candidates
from flows.segment_keys import compute_mining_code
from flows.validations import load_latest_validation, load_validated_push


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRepositories:
    """Names of repositories: those with work to do, and those without anything new."""

    repositories: tuple[str, ...]
    unchanged: tuple[str, ...] = ()


def find_due_repositories(
    store: Root, verb: Verb, profile: str | None = None, sandbox: str | None = None
) -> DueRepositories:
    """Return the repositories of the latest crawls with work to do, and those without.

    To validate, all candidates count; to mine, only those whose latest validation found them valid.

    profile  the profile by which they are to be mined; None for any
    sandbox  the sandbox in which they are to be validated; None for any
    """
    candidates = load_latest_candidates(store)
    if verb is Verb.VALIDATE:
        return _find_due_for_validation(store, candidates, sandbox)
    valid = [candidate for candidate in candidates if _is_valid(store, candidate.repo)]
    mined = Store(store)
    unchanged = {
        candidate.repo
        for candidate, partitions in _join_partitions(mined, valid)
        if partitions
        and all(_is_fully_mined(mined, partition, candidate, profile) for partition in partitions)
    }
    return DueRepositories(
        repositories=tuple(
            repository.repo for repository in valid if repository.repo not in unchanged
        ),
        unchanged=tuple(sorted(unchanged)),
    )


def _find_due_for_validation(
    store: Root, kept: Sequence[CrawledRepository], sandbox: str | None
) -> DueRepositories:
    proven = {
        candidate.repo for candidate in kept if _is_validation_current(store, candidate, sandbox)
    }
    return DueRepositories(
        repositories=tuple(candidate.repo for candidate in kept if candidate.repo not in proven),
        unchanged=tuple(sorted(proven)),
    )


def advance_unchanged_walks(store: Root, unchanged: tuple[str, ...]) -> None:
    """Record that the walks of unchanged repositories reach up to their latest crawl.

    This writes `reached` of each partition in the store.
    """
    mined = Store(store)
    some = [
        candidate for candidate in load_latest_candidates(store) if candidate.repo in set(unchanged)
    ]
    for candidate, partitions in _join_partitions(mined, some):
        for partition in partitions:
            walk = mined.load_walk(partition)
            mined.write_walk(partition, dataclasses.replace(walk, reached=candidate.crawled))


def index_candidates(store: Root) -> dict[str, CrawledRepository]:
    """Return what crawls say about each candidate, by its name in the data."""
    return {candidate.repo: candidate for candidate in load_latest_candidates(store)}


def _is_valid(store: Root, repo: str) -> bool:
    validation = load_latest_validation(store, repo)
    return validation is not None and validation.valid


def _is_validation_current(store: Root, candidate: CrawledRepository, sandbox: str | None) -> bool:
    """Return whether the latest validation, valid or not, would give the same result again.

    False if a push, another engine version or another sandbox came since, or if any of these is
    unknown.
    """
    validation = load_latest_validation(store, candidate.repo)
    if validation is None or candidate.pushed_at is None:
        return False
    language = LANGUAGES.get(validation.language or '')
    return (
        load_validated_push(store, candidate.repo) == candidate.pushed_at
        and language is not None
        and validation.engine_version == get_engine_version(language.NAME)
        and sandbox in (None, validation.sandbox)
    )


def _join_partitions(
    store: Store, candidates: list[CrawledRepository]
) -> list[tuple[CrawledRepository, list[Partition]]]:
    there: dict[str, list[Partition]] = defaultdict(list)
    for partition in store.list_partitions():
        there[partition.repo].append(partition)
    return [(candidate, there[candidate.repo]) for candidate in candidates]


def _is_fully_mined(
    store: Store, partition: Partition, candidate: CrawledRepository, profile: str | None
) -> bool:
    """Return whether a walk is completely mined with the current code and has no newer push.

    The time of the last push that GitHub reported before mining is compared with the time that a
    later crawl reports, not with a clock. If a crawl's own stamp is too late, the repository is
    only mined later: the next crawl reports the push.
    """
    walk = store.load_walk(partition)
    row = walk.repository
    return (
        candidate.pushed_at is not None
        and walk.pushed == candidate.pushed_at
        and walk.reached is not None
        and candidate.crawled >= walk.reached
        and partition.language in LANGUAGES
        and row.engine_version == compute_mining_code(partition.language).digest
        and profile in (None, row.profile)
        and not store.list_pending_pairs(partition)
    )
