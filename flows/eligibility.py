"""Decide which repositories are worked on, and which are due: the one rule that all steps ask.

A repository is eligible if a crawl found it, its host still has it, the crawl's profile keeps it
(licence included), its latest validation is valid, and it is not withdrawn. `crawl` asks for
withdrawals; `spread`, the cohort of a month and `coevo pipeline status` ask for all of it; `mine`,
`validate` and `reverify`, which a person may start for a repository that no crawl has found, ask
for withdrawals.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from coevo.languages.table import LANGUAGES, get_engine_version
from coevo.model.errors import Fatal
from coevo.storage.place import Root, StoragePlace
from coevo.storage.places import open_place
from coevo.storage.store import Partition, Store
from coevo.storage.walk_states import WalkState
from coevo.storage.withdrawals import Withdrawal, WithdrawnKind, list_withdrawals
from flows.batches.batch import Verb
from flows.crawling.crawls import (
    CrawledRepository,
    build_candidate,
    load_latest_candidates,
    load_latest_stamps,
    load_rows_by_repo_and_profile,
)
from flows.crawling.rows import RepositorySeen
from flows.segment_keys import compute_mining_code_digest
from flows.validations import Validation, load_latest_validations, load_validated_pushes
from miners.discovery.candidates import REASONS, CandidateReason


class Obstacle(StrEnum):
    """The reasons why a repository is not worked on; the first that holds is the one that counts.

    The values are data; one is never renamed.
    """

    WITHDRAWN = 'withdrawn'
    GONE = 'gone'
    UNANSWERED = 'unanswered'
    NOT_A_CANDIDATE = 'not_a_candidate'
    NOT_VALIDATED = 'not_validated'
    INVALID = 'invalid'


_OBSTACLES = {
    CandidateReason.WITHDRAWN: Obstacle.WITHDRAWN,
    CandidateReason.DELETED: Obstacle.GONE,
    CandidateReason.BLOCKED: Obstacle.GONE,
    CandidateReason.DISABLED: Obstacle.GONE,
    CandidateReason.UNKNOWN: Obstacle.UNANSWERED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility:
    """The eligibility of a repository that crawls have found.

    candidate   what the crawls that keep it say; None if none keeps it
    validation  its latest validation; None if it has none
    obstacle    why it is not mined; None if it is eligible
    detail      the obstacle as a clause for a person; empty if it is eligible
    """

    repo: str
    candidate: CrawledRepository | None
    validation: Validation | None
    obstacle: Obstacle | None
    detail: str = ''

    @property
    def is_to_be_validated(self) -> bool:
        """True if the repository is to be validated, whatever earlier validations found."""
        return self.obstacle in (None, Obstacle.NOT_VALIDATED, Obstacle.INVALID)


def load_eligibility(store: Root) -> dict[str, Eligibility]:
    """Return the eligibility of each repository of the latest crawls, by its name, sorted."""
    rows = load_rows_by_repo_and_profile(store, load_latest_stamps(store))
    withdrawn = load_withdrawn_repositories(open_place(store))
    validations = load_latest_validations(store, tuple(rows))
    return {
        repo: _decide_eligibility(repo, by_profile, withdrawn.get(repo), validations.get(repo))
        for repo, by_profile in rows.items()
    }


def load_withdrawn_repositories(place: StoragePlace) -> dict[str, Withdrawal]:
    """Return the withdrawals of whole repositories by their names."""
    return {
        withdrawal.id: withdrawal
        for withdrawal in list_withdrawals(place)
        if withdrawal.kind is WithdrawnKind.REPOSITORY
    }


def load_withdrawn_repos_and_pair_ids(place: StoragePlace) -> frozenset[str]:
    """Return the names of withdrawn repositories and the ids of withdrawn pairs."""
    return frozenset(
        withdrawal.id
        for withdrawal in list_withdrawals(place)
        if withdrawal.kind in (WithdrawnKind.REPOSITORY, WithdrawnKind.PAIR)
    )


def check_not_withdrawn(store: Root, repo: str) -> None:
    """Raise Fatal if a repository is withdrawn."""
    withdrawal = load_withdrawn_repositories(open_place(store)).get(repo)
    if withdrawal is not None:
        raise Fatal(
            f'{repo} is withdrawn ({withdrawal.reason}), so that nothing is run of it; to have it '
            f'back, remove withdrawals/{withdrawal.number}.json of {store}'
        )


def _decide_eligibility(
    repo: str,
    rows: Mapping[str, RepositorySeen],
    withdrawal: Withdrawal | None,
    validation: Validation | None,
) -> Eligibility:
    candidate = build_candidate(rows)
    obstacle, detail = _find_obstacle(rows, candidate, withdrawal, validation)
    return Eligibility(
        repo=repo,
        candidate=candidate,
        validation=validation,
        obstacle=obstacle,
        detail=detail,
    )


def _find_obstacle(
    rows: Mapping[str, RepositorySeen],
    candidate: CrawledRepository | None,
    withdrawal: Withdrawal | None,
    validation: Validation | None,
) -> tuple[Obstacle | None, str]:
    """Return the first obstacle and a clause that explains it; None and '' if there is none."""
    if withdrawal is not None:
        return Obstacle.WITHDRAWN, withdrawal.reason
    if candidate is None:
        reason = list(rows.values())[-1].reason or CandidateReason.UNKNOWN
        return _OBSTACLES.get(reason, Obstacle.NOT_A_CANDIDATE), REASONS[reason]
    if validation is None:
        return Obstacle.NOT_VALIDATED, 'it was not validated yet'
    if validation.reason is not None:
        return Obstacle.INVALID, validation.reason.sentence.rstrip('.')
    return None, ''


# Of these, the repositories of a scheduled run are those with something new. One that was completely
# mined, or validated, and to which nothing was pushed since, is not even fetched: the crawl that
# reports this has seen its current state.


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRepositories:
    """Names of repositories: those with work to do, and those without anything new."""

    repositories: tuple[str, ...]
    unchanged: tuple[str, ...] = ()


def find_due_repositories(
    store: Root,
    verb: Verb,
    profile: str | None = None,
    sandbox: str | None = None,
    known: Mapping[str, Eligibility] | None = None,
    states: Mapping[Partition, WalkState] | None = None,
) -> DueRepositories:
    """Return the repositories of the latest crawls with work to do, and those without.

    To validate, all candidates count; to mine, only eligible ones.

    profile  the profile by which they are to be mined; None for any
    sandbox  the sandbox in which they are to be validated; None for any
    known    what `load_eligibility` says; None asks it
    states   the stored states of walks; None loads them
    """
    known = load_eligibility(store) if known is None else known
    if verb is Verb.VALIDATE:
        candidates = [
            (each.candidate, each.validation)
            for each in known.values()
            if each.is_to_be_validated and each.candidate
        ]
        return _find_due_for_validation(store, candidates, sandbox)
    valid = [each.candidate for each in known.values() if each.obstacle is None and each.candidate]
    mined = Store(store)
    states = mined.load_states() if states is None else states
    unchanged = {
        candidate.repo
        for candidate, partitions in _join_partitions(mined, valid)
        if partitions
        and all(
            _is_fully_mined(
                partition,
                states.get(partition) or mined.compute_state(partition),
                candidate,
                profile,
            )
            for partition in partitions
        )
    }
    return DueRepositories(
        repositories=tuple(
            repository.repo for repository in valid if repository.repo not in unchanged
        ),
        unchanged=tuple(sorted(unchanged)),
    )


def _find_due_for_validation(
    store: Root,
    kept: Sequence[tuple[CrawledRepository, Validation | None]],
    sandbox: str | None,
) -> DueRepositories:
    pushes = load_validated_pushes(store, [candidate.repo for candidate, _ in kept])
    proven = {
        candidate.repo
        for candidate, validation in kept
        if _is_validation_current(candidate, validation, pushes.get(candidate.repo), sandbox)
    }
    return DueRepositories(
        repositories=tuple(candidate.repo for candidate, _ in kept if candidate.repo not in proven),
        unchanged=tuple(sorted(proven)),
    )


def advance_unchanged_walks(store: Root, unchanged: tuple[str, ...]) -> None:
    """Record that the walks of unchanged repositories reach up to their latest crawl.

    This writes `reached` of each partition in the store.
    """
    mined, names = Store(store), set(unchanged)
    some = [candidate for candidate in load_latest_candidates(store) if candidate.repo in names]
    for candidate, partitions in _join_partitions(mined, some):
        for partition in partitions:
            _advance_walk(mined, partition, candidate.crawled)


def _advance_walk(mined: Store, partition: Partition, reached: datetime) -> None:
    with ExitStack() as stack:
        try:
            stack.enter_context(mined.lock_partition(partition))
        except Fatal:  # the miner that holds it records its state when it ends
            walk = mined.load_walk(partition)
            mined.merge_walk_into_stored(partition, dataclasses.replace(walk, reached=reached))
        else:
            mined.advance_reached(partition, reached)


def index_candidates(store: Root) -> dict[str, CrawledRepository]:
    """Return what crawls say about each candidate, by its name in the data."""
    return {candidate.repo: candidate for candidate in load_latest_candidates(store)}


def _is_validation_current(
    candidate: CrawledRepository,
    validation: Validation | None,
    validated_push: datetime | None,
    sandbox: str | None,
) -> bool:
    """Return whether the latest validation, valid or not, would give the same result again.

    False if a push, another engine version or another sandbox came since, or if any of these is
    unknown.
    """
    if validation is None or candidate.pushed_at is None:
        return False
    language = LANGUAGES.get(validation.language or '')
    return (
        validated_push == candidate.pushed_at
        and language is not None
        and validation.engine_version == get_engine_version(language.NAME)
        and sandbox in (None, validation.sandbox)
    )


def _join_partitions(
    store: Store, candidates: list[CrawledRepository]
) -> list[tuple[CrawledRepository, list[Partition]]]:
    there = store.group_partitions()
    return [(candidate, there[candidate.repo]) for candidate in candidates]


def _is_fully_mined(
    partition: Partition, state: WalkState, candidate: CrawledRepository, profile: str | None
) -> bool:
    """Return whether a walk is completely mined with the current code and has no newer push.

    The time of the last push that GitHub reported before mining is compared with the time that a
    later crawl reports, not with a clock. If a crawl's own stamp is too late, the repository is
    only mined later: the next crawl reports the push.
    """
    return (
        candidate.pushed_at is not None
        and state.pushed == candidate.pushed_at
        and state.reached is not None
        and candidate.crawled >= state.reached
        and profile in (None, state.profile)
        and is_fully_mined_by_present_code(partition, state)
    )


def is_fully_mined_by_present_code(partition: Partition, state: WalkState) -> bool:
    """Return whether all pairs of a walk are mined, and by the present code of coevo."""
    return (
        partition.language in LANGUAGES
        and state.engine_version == compute_mining_code_digest(partition.language).digest
        and state.is_complete
    )
