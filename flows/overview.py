"""Say of each repository of a store what it waits for: the states of `coevo pipeline status`.

A state is decided from crawls, validations, walks, claims and records of failures, without a server
and without decoding segments, so that it can be asked for twenty thousand repositories.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from coevo.storage.store import Partition, Store
from flows.batches.batch import list_claimed_repositories
from flows.batches.jobs import Verb
from flows.candidates import find_due_repositories, is_fully_mined_by_present_code
from flows.crawling.crawls import parse_stamp
from flows.eligibility import Eligibility, Obstacle, load_eligibility, load_withdrawn_repositories
from flows.repository_states import RepositoryState
from flows.status import index_failures
from flows.validations import Validation, list_validated_repositories, load_latest_validations

_BY_OBSTACLE = {
    Obstacle.WITHDRAWN: RepositoryState.WITHDRAWN,
    Obstacle.GONE: RepositoryState.GONE,
    Obstacle.UNANSWERED: RepositoryState.UNANSWERED,
    Obstacle.NOT_A_CANDIDATE: RepositoryState.DROPPED,
    Obstacle.NOT_VALIDATED: RepositoryState.WAITING,
    Obstacle.INVALID: RepositoryState.INVALID,
}

# A repository in one of these states has work to do, so that an earlier failure of it matters.
_OPEN = (RepositoryState.DUE, RepositoryState.WAITING)

_FAILURE = re.compile(r'failures/[^/]+/(\d{8}T\d{6}Z)-[^/]+\.json')


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOverview:
    """The state of each repository that was crawled, validated, mined or tried, by its name.

    They are in the order of states, then of names.
    """

    states: Mapping[str, RepositoryState]

    def count_states(self) -> dict[RepositoryState, int]:
        """Return the number of repositories in each state that some are in, in their order."""
        counts = Counter(self.states.values())
        return {state: counts[state] for state in RepositoryState if counts[state]}

    def list_repositories(self, state: RepositoryState) -> list[str]:
        """Return the names of the repositories in a state, sorted."""
        return [repo for repo, its_state in self.states.items() if its_state is state]


def survey_store(store: Store) -> StoreOverview:
    """Return the state of each repository of a store."""
    known = load_eligibility(store.root)
    partitions = store.group_partitions()
    failures = {
        repo: _find_last_failure(names) for repo, names in index_failures(store.storage).items()
    }
    done = set(find_due_repositories(store.root, Verb.MINE, known=known).unchanged)
    claimed = list_claimed_repositories(store.root)
    withdrawn = load_withdrawn_repositories(store.storage)
    by_hand = {*partitions, *failures, *list_validated_repositories(store.root)} - known.keys()
    validations = load_latest_validations(store.root, sorted(by_hand))
    states: dict[str, RepositoryState] = {}
    for repo in sorted({*known, *by_hand}):
        if repo in claimed:
            states[repo] = RepositoryState.RUNNING
        elif repo in known:
            states[repo] = _decide_state_of_crawled(
                known[repo], failures.get(repo), is_done=repo in done
            )
        elif repo in withdrawn:
            states[repo] = RepositoryState.WITHDRAWN
        else:
            states[repo] = _decide_state_of_uncrawled(
                store, partitions[repo], validations.get(repo)
            )
    order = list(RepositoryState)
    return StoreOverview(
        states=dict(sorted(states.items(), key=lambda item: (order.index(item[1]), item[0])))
    )


def _decide_state_of_crawled(
    known: Eligibility, failed: datetime | None, *, is_done: bool
) -> RepositoryState:
    state = RepositoryState.DONE if is_done else RepositoryState.DUE
    if known.obstacle is not None:
        state = _BY_OBSTACLE[known.obstacle]
    pushed = known.candidate.pushed_at if known.candidate else None
    is_failure_current = failed is not None and (pushed is None or failed >= pushed)
    return RepositoryState.FAILED if state in _OPEN and is_failure_current else state


def _decide_state_of_uncrawled(
    store: Store, partitions: Collection[Partition], validation: Validation | None
) -> RepositoryState:
    """Return the state of a repository that no crawl found.

    If it was neither mined nor validated, all its runs failed.
    """
    if not partitions and validation is not None:
        return RepositoryState.DUE if validation.valid else RepositoryState.INVALID
    if not partitions:
        return RepositoryState.FAILED
    is_done = all(
        is_fully_mined_by_present_code(store, partition, store.load_walk(partition))
        for partition in partitions
    )
    return RepositoryState.DONE if is_done else RepositoryState.DUE


def _find_last_failure(record_names: Collection[str]) -> datetime | None:
    """Return the time of the last failed run among records; None if all are of bugs in pairs."""
    stamps = [match[1] for match in map(_FAILURE.fullmatch, record_names) if match is not None]
    return parse_stamp(max(stamps)) if stamps else None
