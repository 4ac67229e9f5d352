"""Means with intervals, bootstrapped over repositories.

Tasks of one repository resemble each other, and tasks of one pair even more. So whole repositories
are drawn with replacement, and the tasks of a pair always stay together (the cluster bootstrap:
Cameron, Gelbach, Miller, https://doi.org/10.1162/rest.90.3.414). The interval is the percentile
interval. The draws use a fixed seed and sums are rounded only once, so equal samples give equal
bits.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul

RESAMPLES = 2000
CONFIDENCE = 0.95
SEED = 8

# How many of the sorted means of the resamples are below the interval, and how many above it.
_OUTSIDE = round(RESAMPLES * (1 - CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The contribution of one unit (a task or a method) of a repository to a mean."""

    repo: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """A mean over `units` samples from `repositories`; `value` is None if there are none.

    low, high  the 95 % interval; None if fewer than two repositories contribute
    """

    value: float | None
    low: float | None
    high: float | None
    units: int
    repositories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _RepoSums:
    """The sum and the number of the values of each repository, in a fixed order."""

    totals: Sequence[float]
    counts: Sequence[int]

    def compute_mean(self, weights: Sequence[int]) -> float | None:
        """Return the mean with each repository counted `weights` times; None without a value."""
        count = sum(map(mul, weights, self.counts))
        return math.fsum(map(mul, weights, self.totals)) / count if count else None


def estimate_mean(samples: Iterable[Sample]) -> MeanEstimate:
    """Return the mean of the samples, each of the same weight, with its interval."""
    groups = _group_by_repo(samples)
    repos = sorted(groups)
    sums = _sum_by_repo(groups, repos)
    low, high = _find_interval_ends(
        [sums.compute_mean(weights) for weights in draw_weights(len(repos))]
    )
    return MeanEstimate(
        value=sums.compute_mean([1] * len(repos)),
        low=low,
        high=high,
        units=sum(sums.counts),
        repositories=len(repos),
    )


def estimate_second_minus_first(first: Iterable[Sample], second: Iterable[Sample]) -> MeanEstimate:
    """Return the mean of the second samples minus that of the first, on the same draws.

    `value` is None if one of the two has no samples; `units` is the smaller of the two numbers.
    """
    first_groups, other = _group_by_repo(first), _group_by_repo(second)
    repos = sorted(first_groups.keys() | other.keys())
    sums = _sum_by_repo(first_groups, repos), _sum_by_repo(other, repos)
    low, high = _find_interval_ends(
        [_subtract_first_from_second_mean(*sums, weights) for weights in draw_weights(len(repos))]
    )
    return MeanEstimate(
        value=_subtract_first_from_second_mean(*sums, [1] * len(repos)),
        low=low,
        high=high,
        units=min(sum(side.counts) for side in sums),
        repositories=len(repos),
    )


def bootstrap_interval_of_ratio(
    totals: Sequence[float], weights: Sequence[float]
) -> tuple[float, float] | tuple[None, None]:
    """Return the 95 % interval of sum(totals) / sum(weights), bootstrapped over repositories.

    totals, weights  one number for each repository, in the same order
    """
    means = []
    for drawn in draw_weights(len(totals)):
        weight = math.fsum(map(mul, drawn, weights))
        means.append(math.fsum(map(mul, drawn, totals)) / weight if weight else None)
    return _find_interval_ends(means)


@lru_cache(maxsize=16)
def draw_weights(repositories: int) -> Sequence[Sequence[int]]:
    """Return how often each repository is drawn, for every resample; nothing for fewer than two."""
    if repositories < 2:
        return ()
    # `random()` is the only method whose sequence Python guarantees not to change for a seed.
    generator = random.Random(SEED)
    return tuple(_draw_once(generator, repositories) for _ in range(RESAMPLES))


def _draw_once(generator: random.Random, repositories: int) -> Sequence[int]:
    drawn = Counter(int(generator.random() * repositories) for _ in range(repositories))
    return tuple(drawn[number] for number in range(repositories))


def _group_by_repo(samples: Iterable[Sample]) -> Mapping[str, Sequence[float]]:
    groups: dict[str, list[float]] = {}
    for sample in samples:
        groups.setdefault(sample.repo, []).append(sample.value)
    return groups


def _sum_by_repo(groups: Mapping[str, Sequence[float]], repos: Sequence[str]) -> _RepoSums:
    values = [groups.get(repo, ()) for repo in repos]
    return _RepoSums(
        totals=[math.fsum(repo_values) for repo_values in values],
        counts=[len(repo_values) for repo_values in values],
    )


def _subtract_first_from_second_mean(
    first: _RepoSums, second: _RepoSums, weights: Sequence[int]
) -> float | None:
    first_mean, other = first.compute_mean(weights), second.compute_mean(weights)
    return None if first_mean is None or other is None else other - first_mean


def _find_interval_ends(means: Sequence[float | None]) -> tuple[float, float] | tuple[None, None]:
    """Return the ends of the interval, or (None, None) if no resample has a mean.

    Resamples without a mean (None) are left out.
    """
    known = sorted(mean for mean in means if mean is not None)
    if not known:
        return None, None
    outside = _OUTSIDE * len(known) // RESAMPLES
    return known[outside], known[-1 - outside]
