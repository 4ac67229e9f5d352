"""Means with intervals, bootstrapped over repositories.

Tasks of one repository resemble each other, those of one pair most of all, so whole repositories are
drawn, with replacement, and no pair is ever parted (the cluster bootstrap: Cameron, Gelbach, Miller,
https://doi.org/10.1162/rest.90.3.414). An interval is that of the percentiles. The draws are those of
a fixed seed, and sums are rounded once, so equal samples give equal bits.
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

# Ends of the interval among the sorted means of the resamples: as many lie below as above.
_OUTSIDE = round(RESAMPLES * (1 - CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What one unit (a task, a method) of a repository contributes to a mean."""

    repo: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """A mean over `units`; None of none.

    low, high  of its 95 % interval; None where fewer than two repositories contribute
    """

    value: float | None
    low: float | None
    high: float | None
    units: int
    repositories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _RepoSums:
    """Of each repository, in a fixed order: the sum of its values, and how many these are."""

    totals: Sequence[float]
    counts: Sequence[int]

    def compute_mean(self, weights: Sequence[int]) -> float | None:
        """With every repository as often as drawn; None where nothing was drawn."""
        count = sum(map(mul, weights, self.counts))
        return math.fsum(map(mul, weights, self.totals)) / count if count else None


def estimate_mean(samples: Iterable[Sample]) -> MeanEstimate:
    """The mean of the samples, each of the same weight."""
    groups = _group_by_repo(samples)
    repos = sorted(groups)
    sums = _sum_by_repo(groups, repos)
    low, high = _find_percentiles(
        [sums.compute_mean(weights) for weights in draw_weights(len(repos))]
    )
    return MeanEstimate(
        value=sums.compute_mean([1] * len(repos)),
        low=low,
        high=high,
        units=sum(sums.counts),
        repositories=len(repos),
    )


def estimate_difference(first: Iterable[Sample], second: Iterable[Sample]) -> MeanEstimate:
    """The mean of the second samples less that of the first, both of the same drawn repositories."""
    first_groups, other = _group_by_repo(first), _group_by_repo(second)
    repos = sorted(first_groups.keys() | other.keys())
    sums = _sum_by_repo(first_groups, repos), _sum_by_repo(other, repos)
    low, high = _find_percentiles(
        [_subtract_means(*sums, weights) for weights in draw_weights(len(repos))]
    )
    return MeanEstimate(
        value=_subtract_means(*sums, [1] * len(repos)),
        low=low,
        high=high,
        units=min(sum(side.counts) for side in sums),
        repositories=len(repos),
    )


def compute_interval(
    totals: Sequence[float], weights: Sequence[float]
) -> tuple[float, float] | tuple[None, None]:
    """Of sum(totals) / sum(weights), where each repository has one of both; in a fixed order."""
    means = []
    for drawn in draw_weights(len(totals)):
        weight = math.fsum(map(mul, drawn, weights))
        means.append(math.fsum(map(mul, drawn, totals)) / weight if weight else None)
    return _find_percentiles(means)


@lru_cache(maxsize=16)
def draw_weights(repositories: int) -> Sequence[Sequence[int]]:
    """How often each repository is drawn, for every resample; none where there are fewer than two."""
    if repositories < 2:
        return ()
    # Of the module's generators, `random()` alone is promised to stay as it is.
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


def _subtract_means(first: _RepoSums, second: _RepoSums, weights: Sequence[int]) -> float | None:
    first_mean, other = first.compute_mean(weights), second.compute_mean(weights)
    return None if first_mean is None or other is None else other - first_mean


def _find_percentiles(means: Sequence[float | None]) -> tuple[float, float] | tuple[None, None]:
    """Resamples that drew nothing say nothing."""
    known = sorted(mean for mean in means if mean is not None)
    if not known:
        return None, None
    outside = _OUTSIDE * len(known) // RESAMPLES
    return known[outside], known[-1 - outside]
