"""Summarise the repositories of a store: their progress, their failures, and what each waits for."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from coevo.evaluation.reporting.cells import pluralise
from coevo.model.profiles import load_profiles
from coevo.model.reasons import Reason
from coevo.model.segment import count_tasks
from coevo.storage import measures, reverifications
from coevo.storage.documents import SegmentBasis, load_basis
from coevo.storage.packed_segments import MinedPartition
from coevo.storage.place import StoragePlace, encode_folder_name
from coevo.storage.store import Partition, Store
from coevo.storage.walk_states import WalkState
from coevo.storage.walks import WalkBudget, WalkRecord
from coevo.storage.withdrawals import Withdrawal
from flows.batches.batch import FOLDER, Verb, list_claimed_repositories
from flows.budgets import select_disjoint_timings
from flows.crawling.crawls import parse_stamp
from flows.eligibility import (
    Eligibility,
    Obstacle,
    find_due_repositories,
    is_fully_mined_by_present_code,
    load_eligibility,
    load_withdrawn_repositories,
)
from flows.funnel import MissingRuntime, advise_installation, count_missing_runtimes
from flows.repository_states import RepositoryState
from flows.segment_keys import explain_stale
from flows.validations import (
    Validation,
    list_validated_repositories,
    load_latest_validation,
    load_latest_validations,
)

# Summarise repositories of a store: their progress, failures, and the next step for each.


@dataclass(frozen=True, slots=True, kw_only=True)
class StalePairs:
    """The number of mined pairs of a walk that are due again, and the reason as a clause."""

    count: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkStatus:
    """The status of one partition.

    reached  until when all commits are known
    again    the number of pairs that were requested once more
    unmeasured  the number of tasks of mined pairs that are not measured yet
    budget   the last decision on its depth, if that follows its tasks
    stale    mined pairs whose code, thresholds or tools differ from the current ones
    """

    partition: Partition
    head: str
    reached: datetime | None
    commits: int
    pairs: int
    unmined: int
    again: int
    unmeasured: int
    budget: WalkBudget | None
    lacking: tuple[tuple[MissingRuntime, int], ...]
    stale: tuple[StalePairs, ...]
    engine_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureStatus:
    """A record of a failed run, or of a bug in a pair; `run` is the flow run, if any."""

    name: str
    at: str
    sentence: str
    run: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryStatus:
    """The status of one repository; `failures` has the newest last."""

    repo: str
    walks: tuple[WalkStatus, ...]
    validation: Validation | None
    failures: tuple[FailureStatus, ...]
    withdrawn: str | None

    @property
    def next_step(self) -> str:
        """The next step, as a clause for a person."""
        if self.withdrawn is not None:
            return f'nothing: withdrawn ({self.withdrawn})'
        if not self.walks:
            return 'mine it' if self.validation and self.validation.valid else 'validate it'
        waiting = sum(walk.unmined for walk in self.walks)
        if waiting:
            return f'mine it again: {state_count(waiting, "pair", "not mined")}'
        stale = sum(part.count for walk in self.walks for part in walk.stale)
        if stale:
            return f'mine it again: {state_count(stale, "pair", "stale")}'
        unmeasured = sum(walk.unmeasured for walk in self.walks)
        if unmeasured:
            return f'measure it: {state_count(unmeasured, "task", "not measured")}'
        lacking = {runtime for walk in self.walks for runtime, _ in walk.lacking}
        if lacking:
            return f'{advise_installation(lacking)}, then mine it again'
        return 'nothing until it has new commits'


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryCost:
    """The cost of a repository's present segments, and the number of its reverified labels.

    seconds     (CPU seconds, wall seconds) by step
    reverified  number of labels that were run again, each time counted
    lost        number of these that did not hold
    """

    seconds: dict[str, tuple[float, float]]
    reverified: int
    lost: int


def state_count(count: int, word: str, state: str, where: str = '') -> str:
    """Return how many things are in a state: '1 pair is stale', '2 pairs of a/b are stale'."""
    things = f'{pluralise(count, word)} {where}'.rstrip()
    return f'{things} {"is" if count == 1 else "are"} {state}'


def describe_stale_pairs(repositories: Iterable[RepositoryStatus]) -> Iterator[str]:
    """Yield a sentence for each reason why pairs are stale, the most frequent reason first."""
    counts: Counter[str] = Counter()
    repos: dict[str, set[str]] = defaultdict(set)
    for repository in repositories:
        for part in (part for walk in repository.walks for part in walk.stale):
            counts[part.reason] += part.count
            repos[part.reason].add(repository.repo)
    for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        names = repos[reason]
        where = f'in {len(names):,} repositories' if len(names) > 1 else f'of {"".join(names)}'
        yield f'{state_count(count, "pair", "stale", where)}: {reason}'


def summarise_repositories(store: Store, repos: Sequence[str]) -> tuple[RepositoryStatus, ...]:
    """Return the status of some repositories, in their order; their walks are read whole."""
    withdrawn = load_withdrawn_repositories(store.storage)
    partitions = store.group_partitions()
    failed = index_failures(store.storage)
    return tuple(
        _summarise_repository(
            store, repo, partitions[repo], failed.get(repo, ()), withdrawn.get(repo)
        )
        for repo in repos
    )


def compute_repository_cost(store: Store, repo: str) -> RepositoryCost:
    """Return the cost of mining one repository; reads all its segments."""
    cpu: dict[str, float] = defaultdict(float)
    wall: dict[str, float] = defaultdict(float)
    reverified = lost = 0
    for partition in store.list_partitions():
        if partition.repo != repo:
            continue
        for segment in measures.load_measured_segments(store, partition):
            for row in select_disjoint_timings(segment.timings):
                cpu[row.step] += row.cpu_seconds
                wall[row.step] += row.wall_seconds
        for record in reverifications.load_reverifications(store.storage, partition):
            reverified += len(record.methods)
            lost += sum(method.lost is not None for method in record.methods)
    return RepositoryCost(
        seconds={step: (cpu[step], wall[step]) for step in sorted(cpu)},
        reverified=reverified,
        lost=lost,
    )


def _summarise_repository(
    store: Store,
    repo: str,
    partitions: list[Partition],
    failed: tuple[str, ...],
    withdrawal: Withdrawal | None,
) -> RepositoryStatus:
    failures = (_load_failure(store.storage, name) for name in failed)
    return RepositoryStatus(
        repo=repo,
        walks=tuple(_summarise_walk(store, partition) for partition in sorted(partitions)),
        validation=load_latest_validation(store.root, repo),
        failures=tuple(sorted(failures, key=lambda one: (one.at, one.name))),
        withdrawn=withdrawal.reason if withdrawal else None,
    )


def _summarise_walk(store: Store, partition: Partition) -> WalkStatus:
    mined = store.load_mined_partition(partition)
    record: WalkRecord = mined.walk
    return WalkStatus(
        partition=partition,
        head=record.repository.head,
        reached=record.reached,
        commits=record.repository.commits_visited,
        pairs=len(record.pairs),
        unmined=len(mined.unmined),
        again=len(record.again),
        budget=record.budget,
        unmeasured=_count_unmeasured_tasks(store, partition, mined),
        lacking=count_missing_runtimes(mined.segments.iterate_with_reason(Reason.RUNTIME_MISSING)),
        stale=tuple(_list_stale_pairs(store, partition, mined)),
        engine_version=record.repository.engine_version,
    )


def _count_unmeasured_tasks(store: Store, partition: Partition, mined: MinedPartition) -> int:
    """Return the number of tasks of a walk, before duplicates, that have no measures at all.

    Tasks of a profile that asks for none do not wait.
    """
    there = measures.find_latest_measures(store.storage, partition)
    bases = dict(mined.walk.bases)
    profiles = {
        basis_id: _asks_for_measures(load_basis(store.storage, basis_id))
        for basis_id in set(bases.values())
    }
    return sum(
        count_tasks(segment)
        for segment in mined.segments.iterate_with_tracks()
        if segment.key not in there and profiles.get(bases.get(segment.pair.pair_id, ''), True)
    )


def _asks_for_measures(basis: SegmentBasis | None) -> bool:
    profile = load_profiles().get(basis.profile) if basis else None
    return profile is None or profile.measure_runs > 0


def _list_stale_pairs(
    store: Store, partition: Partition, mined: MinedPartition
) -> Iterator[StalePairs]:
    """Yield the number of stale pairs of a walk and the reason, the largest group first.

    Groups are by basis. Pairs that the latest run did not reach come before all others.
    """
    record, unmined = mined.walk, {*mined.unmined}
    pending = {*store.list_pairs_without_current_segment(partition, record)} - unmined
    if pending:
        yield StalePairs(count=len(pending), reason='the latest run did not come to them')
    finished = {pair_id for _, pair_id in record.pairs} - unmined - pending
    bases = dict(record.bases)
    counts = Counter(bases.get(pair_id) for pair_id in finished)
    for basis_id, count in sorted(counts.items(), key=lambda item: (-item[1], item[0] or '')):
        basis = load_basis(store.storage, basis_id) if basis_id else None
        reason = explain_stale(basis)
        if reason is not None:
            yield StalePairs(count=count, reason=reason)


def index_failures(place: StoragePlace) -> dict[str, tuple[str, ...]]:
    """Return the names of the records of failures, by repository."""
    names_by_folder: dict[str, list[str]] = defaultdict(list)
    for entry in place.list_files(FOLDER):
        names_by_folder[entry.name.split('/')[1]].append(entry.name)
    return {
        _find_repo(place, folder, names): tuple(names) for folder, names in names_by_folder.items()
    }


def _find_repo(place: StoragePlace, folder: str, names: list[str]) -> str:
    """Return the repository of a folder of failure records.

    A URL or path that failed before it had a key is stored under its own name.
    """
    for name in names:
        record = _load_json(place, name)
        repo = record.get('repo') or record.get('name')
        if isinstance(repo, str) and encode_folder_name(repo) == folder:
            return repo
    return folder.replace('+', '/', 1)


def _load_failure(place: StoragePlace, name: str) -> FailureStatus:
    record = _load_json(place, name)
    sentence = record.get('sentence') or _get_last_line(str(record.get('traceback', '')))
    run = record.get('flow_run')
    return FailureStatus(
        name=place.describe(name),
        at=str(record.get('at', '')),
        sentence=str(sentence or 'a bug'),
        run=str(run) if run else None,
    )


def _get_last_line(text: str) -> str:
    return next(iter(text.strip().splitlines()[-1:]), '')


def _load_json(place: StoragePlace, name: str) -> dict[str, Any]:
    stored_file = place.read(name)
    try:
        content = json.loads(stored_file.data) if stored_file else {}
    except ValueError:
        return {'sentence': 'its record is damaged'}
    return content if isinstance(content, dict) else {}


# Say of each repository of a store what it waits for: the states of `coevo pipeline status`.
#
# A state is decided from crawls, validations, walks, claims and records of failures, without a
# server and without decoding segments, so that it can be asked for twenty thousand repositories.

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
    walks = store.load_states()
    done = set(find_due_repositories(store.root, Verb.MINE, known=known, states=walks).unchanged)
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
                {
                    partition: walks.get(partition) or store.compute_state(partition)
                    for partition in partitions[repo]
                },
                validations.get(repo),
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
    walks: Mapping[Partition, WalkState], validation: Validation | None
) -> RepositoryState:
    """Return the state of a repository that no crawl found.

    If it was neither mined nor validated, all its runs failed.

    walks  its partitions, each with its state
    """
    if not walks and validation is not None:
        return RepositoryState.DUE if validation.valid else RepositoryState.INVALID
    if not walks:
        return RepositoryState.FAILED
    is_done = all(
        is_fully_mined_by_present_code(partition, state) for partition, state in walks.items()
    )
    return RepositoryState.DONE if is_done else RepositoryState.DUE


def _find_last_failure(record_names: Collection[str]) -> datetime | None:
    """Return the time of the last failed run among records; None if all are of bugs in pairs."""
    stamps = [match[1] for match in map(_FAILURE.fullmatch, record_names) if match is not None]
    return parse_stamp(max(stamps)) if stamps else None
