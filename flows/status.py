"""What a store holds of each repository, how far that is, what went wrong, and what is to be done."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from coevo.storage import months
from coevo.storage import reverifications
from coevo.storage.place import Place
from coevo.storage.place import folder_name
from coevo.storage.store import Partition
from coevo.storage.store import Store
from coevo.storage.walks import WalkRecord
from coevo.storage.withdrawals import Withdrawal
from coevo.storage.withdrawals import WithdrawnKind
from coevo.storage.withdrawals import withdrawals
from flows.batches.failures import FOLDER
from flows.timings import apart
from flows.validations import Validation
from flows.validations import latest_validation


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkStatus:
    """One partition; `reached` is until when all commits are known, `again` how many pairs were redone."""

    partition: Partition
    head: str
    reached: datetime | None
    commits: int
    pairs: int
    unmined: int
    again: int
    engine_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureStatus:
    """A record of a run that failed, or of a bug that a pair met; `run` is the flow run that did it, if any."""

    name: str
    at: str
    sentence: str
    run: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryStatus:
    """What is known of one repository; failures are those that are kept, the newest last."""

    repo: str
    walks: tuple[WalkStatus, ...]
    validation: Validation | None
    failures: tuple[FailureStatus, ...]
    withdrawn: str | None

    @property
    def next(self) -> str:
        """What is to be done, as a person would say it."""
        if self.withdrawn is not None:
            return f'nothing: withdrawn ({self.withdrawn})'
        if not self.walks:
            return 'mine it' if self.validation and self.validation.valid else 'validate it'
        waiting = sum(walk.unmined for walk in self.walks)
        if waiting:
            return f'mine it again: {waiting} pairs are not mined'
        return 'nothing until it has new commits'


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus:
    repositories: tuple[RepositoryStatus, ...]
    months: tuple[str, ...]
    withdrawals: tuple[Withdrawal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """CPU and wall seconds by step, of what the store holds of a repository now; and re-verifications."""

    seconds: dict[str, tuple[float, float]]
    reverified: int
    lost: int


def status(store: Store, repo: str | None = None) -> StoreStatus:
    """Of all repositories that were mined, validated or failed, or of one; Fatal if it is unknown."""
    taken_back = withdrawals(store.place)
    partitions: dict[str, list[Partition]] = defaultdict(list)
    failed = _failed(store.place)
    for partition in store.partitions():
        partitions[partition.repo].append(partition)
    names = {*partitions, *failed} if repo is None else {repo}
    if repo is not None and repo not in {*partitions, *failed}:
        store.of_repository(repo)  # which refuses it
    return StoreStatus(
        repositories=tuple(
            _of(store, name, partitions[name], failed.get(name, ()), taken_back)
            for name in sorted(names)
        ),
        months=months.months(store.place),
        withdrawals=taken_back,
    )


def spent(store: Store, repo: str) -> Spent:
    """What mining one repository cost; reads all its segments."""
    cpu: dict[str, float] = defaultdict(float)
    wall: dict[str, float] = defaultdict(float)
    reverified = lost = 0
    for partition in store.partitions():
        if partition.repo != repo:
            continue
        for segment in store.segments(partition):
            for row in apart(segment.timings):
                cpu[row.step] += row.cpu_seconds
                wall[row.step] += row.wall_seconds
        for record in reverifications.records(store.place, partition):
            reverified += len(record.methods)
            lost += sum(method.lost is not None for method in record.methods)
    return Spent(
        seconds={step: (cpu[step], wall[step]) for step in sorted(cpu)},
        reverified=reverified,
        lost=lost,
    )


def _of(
    store: Store,
    repo: str,
    partitions: list[Partition],
    failed: tuple[str, ...],
    taken_back: tuple[Withdrawal, ...],
) -> RepositoryStatus:
    reasons = {one.id: one.reason for one in taken_back if one.kind is WithdrawnKind.REPOSITORY}
    failures = (_failure(store.place, name) for name in failed)
    return RepositoryStatus(
        repo=repo,
        walks=tuple(_walk(store, partition) for partition in sorted(partitions)),
        validation=latest_validation(store.root, repo),
        failures=tuple(sorted(failures, key=lambda one: (one.at, one.name))),
        withdrawn=reasons.get(repo),
    )


def _walk(store: Store, partition: Partition) -> WalkStatus:
    mined = store.mined(partition)
    record: WalkRecord = mined.walk
    return WalkStatus(
        partition=partition,
        head=record.repository.head,
        reached=record.reached,
        commits=record.repository.commits_visited,
        pairs=len(record.pairs),
        unmined=len(mined.unmined),
        again=len(record.again),
        engine_version=record.repository.engine_version,
    )


def _failed(place: Place) -> dict[str, tuple[str, ...]]:
    """The names of the records of failures, by repository."""
    found: dict[str, list[str]] = defaultdict(list)
    for entry in place.entries(FOLDER):
        found[entry.name.split('/')[1]].append(entry.name)
    return {_repo(place, folder, names): tuple(names) for folder, names in found.items()}


def _repo(place: Place, folder: str, names: list[str]) -> str:
    """A URL or path that failed before it had a key stands under its own name."""
    for name in names:
        said = _json(place, name)
        repo = said.get('repo') or said.get('name')
        if isinstance(repo, str) and folder_name(repo) == folder:
            return repo
    return folder.replace('+', '/', 1)


def _failure(place: Place, name: str) -> FailureStatus:
    said = _json(place, name)
    sentence = said.get('sentence') or _last_line(str(said.get('traceback', '')))
    run = said.get('flow_run')
    return FailureStatus(
        name=place.shown(name),
        at=str(said.get('at', '')),
        sentence=str(sentence or 'a bug'),
        run=str(run) if run else None,
    )


def _last_line(text: str) -> str:
    return next(iter(text.strip().splitlines()[-1:]), '')


def _json(place: Place, name: str) -> dict[str, Any]:
    found = place.read(name)
    try:
        content = json.loads(found.data) if found else {}
    except ValueError:
        return {'sentence': 'its record is damaged'}
    return content if isinstance(content, dict) else {}
