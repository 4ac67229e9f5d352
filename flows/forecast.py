"""Forecast the cost of a month and of the backfill from the work recorded in the store.

A pair is assumed to cost as much as pairs so far, and a repository to have as many new pairs a
month as in its last three known months. This is arithmetic on the past: a new kind of project may
cost something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from coevo.storage.clone_folders import locate_clone
from coevo.storage.measures import load_measured_segments
from coevo.storage.store import Partition, Store
from flows.batches.batch import Verb
from flows.budgets import select_disjoint_timings
from flows.eligibility import find_due_repositories

# From benchmarks/figures.md: CPU seconds of a repository's process and task, and of a flow run of
# eight repositories.
REPOSITORY_SECONDS = 2.1
RUN_SECONDS = 14.0
BATCH = 8
# The share of its cores that a walk keeps busy, since builds of a pair wait for one another
# (ibid.).
BUSY = 0.75
_MONTHS = 3
_DAYS_ASKED = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Machines of one kind."""

    count: int
    cores: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRuns:
    """Means over what the store holds.

    pair_seconds      CPU seconds of a mined pair
    pairs_of_one      mined pairs of a repository
    new_pairs_of_one  pairs of a repository in a month, from its last three known months
    clone_bytes       size of a clone; None if unknown
    """

    repositories: int
    pairs: int
    pair_seconds: float
    pairs_of_one: float
    new_pairs_of_one: float
    clone_bytes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastCost:
    """A forecast: CPU hours, hours on the given machines, and bytes of clones (None if unknown)."""

    repositories: int
    pairs: float
    cpu_hours: float
    hours: float
    clone_bytes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The costs of a month for all repositories to follow, and of the backfill.

    The backfill mines the valid repositories that were not mined yet.
    """

    measured: MeasuredRuns
    month: ForecastCost
    backfill: ForecastCost


def forecast_costs(store: Store, clones_folder: Path, machines: Machines) -> Forecast | None:
    """Return the forecast; None if nothing was mined yet.

    folder  the folder of this machine's clones
    """
    partitions = store.list_partitions()
    works = [_measure_mined_pairs(store, partition) for partition in partitions]
    mined = {partition.repo for partition in partitions}
    pairs = sum(count for count, _, _ in works)
    if not pairs:
        return None
    measured = MeasuredRuns(
        repositories=len(mined),
        pairs=pairs,
        pair_seconds=sum(seconds for _, _, seconds in works) / pairs,
        pairs_of_one=pairs / len(mined),
        new_pairs_of_one=sum(recent for _, recent, _ in works) / _MONTHS / len(mined),
        clone_bytes=_compute_mean(_list_clone_sizes(clones_folder, mined)),
    )
    wanted = find_due_repositories(store.root, Verb.MINE)
    valid = {*wanted.repositories, *wanted.unchanged}
    missing = len(valid - mined)
    return Forecast(
        measured=measured,
        month=_forecast_month(measured, len(valid | mined), machines),
        backfill=_forecast_backfill(measured, missing, machines),
    )


def _forecast_month(measured: MeasuredRuns, repositories: int, machines: Machines) -> ForecastCost:
    """Return the cost of a month in which each repository with new commits is mined daily.

    Repositories without new commits cost nothing.
    """
    pairs = repositories * measured.new_pairs_of_one
    repository_runs = _DAYS_ASKED * min(repositories, pairs / _DAYS_ASKED)
    seconds = pairs * measured.pair_seconds + _compute_orchestration_seconds(repository_runs)
    return _build_cost(repositories, pairs, seconds, machines, clone_bytes=None)


def _forecast_backfill(
    measured: MeasuredRuns, repositories: int, machines: Machines
) -> ForecastCost:
    pairs = repositories * measured.pairs_of_one
    seconds = pairs * measured.pair_seconds + _compute_orchestration_seconds(repositories)
    size = measured.clone_bytes
    clones = None if size is None else repositories * size
    return _build_cost(repositories, pairs, seconds, machines, clone_bytes=clones)


def _compute_orchestration_seconds(repository_runs: float) -> float:
    return repository_runs * (REPOSITORY_SECONDS + RUN_SECONDS / BATCH)


def _build_cost(
    repositories: int,
    pairs: float,
    cpu_seconds: float,
    machines: Machines,
    *,
    clone_bytes: float | None,
) -> ForecastCost:
    return ForecastCost(
        repositories=repositories,
        pairs=pairs,
        cpu_hours=cpu_seconds / 3600,
        hours=cpu_seconds / 3600 / (machines.count * machines.cores * BUSY),
        clone_bytes=clone_bytes,
    )


def _measure_mined_pairs(store: Store, partition: Partition) -> tuple[int, int, float]:
    """Return the number of mined pairs of a partition, that of recent ones, and their CPU seconds.

    Recent are pairs of the last three months that the walk knows.
    """
    dates: list[datetime] = []
    pairs, seconds = 0, 0.0
    for segment in load_measured_segments(store, partition):
        pairs += 1
        seconds += sum(row.cpu_seconds for row in select_disjoint_timings(segment.timings))
        if segment.pair.new_committer_date is not None:
            dates.append(segment.pair.new_committer_date)
    walk = store.find_walk(partition)
    end = (walk.reached if walk else None) or max(dates, default=None)
    since = end - timedelta(days=_MONTHS * 365.25 / 12) if end else None
    recent = sum(since is not None and date > since for date in dates)
    return pairs, recent, seconds


def _list_clone_sizes(folder: Path, repos: Iterable[str]) -> Iterator[int]:
    """Yield the size in bytes of each of these repositories' clones that is on this machine."""
    for repo in sorted(repos):
        git_dir = locate_clone(folder, repo)
        if git_dir.is_dir():
            yield sum(path.stat().st_size for path in git_dir.rglob('*') if path.is_file())


def _compute_mean(numbers: Iterable[int]) -> float | None:
    values = list(numbers)
    return sum(values) / len(values) if values else None
