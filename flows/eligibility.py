"""Decide which repositories are worked on: the one rule that all steps of the pipeline ask.

A repository is eligible if a crawl found it, its host still has it, the crawl's profile keeps it
(licence included), its latest validation is valid, and it is not withdrawn. `crawl` asks for
withdrawals; `spread`, the cohort of a month and `coevo pipeline status` ask for all of it; `mine`,
`validate` and `reverify`, which a person may start for a repository that no crawl has found, ask
for withdrawals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from coevo.model.errors import Fatal
from coevo.storage.place import Root, StoragePlace
from coevo.storage.places import open_place
from coevo.storage.withdrawals import Withdrawal, WithdrawnKind, list_withdrawals
from flows.crawling.crawls import (
    CrawledRepository,
    build_candidate,
    load_latest_stamps,
    load_rows_by_repo_and_profile,
)
from flows.crawling.rows import RepositorySeen
from flows.validations import Validation, load_latest_validations
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
