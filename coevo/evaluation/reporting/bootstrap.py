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
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
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
class Estimate:
    """A mean over `units`; None of none.

    low, high  of its 95 % interval; None where fewer than two repositories contribute
    """

    value: float | None
    low: float | None
    high: float | None
    units: int
    repositories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """Of each repository, in a fixed order: the sum of its values, and how many these are."""

    totals: Sequence[float]
    counts: Sequence[int]

    def mean(self, weights: Sequence[int]) -> float | None:
        """With every repository as often as drawn; None where nothing was drawn."""
        count = sum(map(mul, weights, self.counts))
        return math.fsum(map(mul, weights, self.totals)) / count if count else None


def estimate(samples: Iterable[Sample]) -> Estimate:
    """The mean of the samples, each of the same weight."""
    groups = _by_repo(samples)
    repos = sorted(groups)
    sums = _sums(groups, repos)
    low, high = _interval([sums.mean(weights) for weights in draws(len(repos))])
    return Estimate(
        value=sums.mean([1] * len(repos)),
        low=low,
        high=high,
        units=sum(sums.counts),
        repositories=len(repos),
    )


def difference(first: Iterable[Sample], second: Iterable[Sample]) -> Estimate:
    """The mean of the second samples less that of the first, both of the same drawn repositories."""
    one, other = _by_repo(first), _by_repo(second)
    repos = sorted(one.keys() | other.keys())
    sums = _sums(one, repos), _sums(other, repos)
    low, high = _interval([_less(*sums, weights) for weights in draws(len(repos))])
    return Estimate(
        value=_less(*sums, [1] * len(repos)),
        low=low,
        high=high,
        units=min(sum(side.counts) for side in sums),
        repositories=len(repos),
    )


def interval_of(
    totals: Sequence[float], weights: Sequence[float]
) -> tuple[float, float] | tuple[None, None]:
    """Of sum(totals) / sum(weights), where each repository has one of both; in a fixed order."""
    means = []
    for drawn in draws(len(totals)):
        weight = math.fsum(map(mul, drawn, weights))
        means.append(math.fsum(map(mul, drawn, totals)) / weight if weight else None)
    return _interval(means)


@lru_cache(maxsize=16)
def draws(repositories: int) -> Sequence[Sequence[int]]:
    """How often each repository is drawn, for every resample; none where there are fewer than two."""
    if repositories < 2:
        return ()
    # Of the module's generators, `random()` alone is promised to stay as it is.
    generator = random.Random(SEED)
    return tuple(_draw(generator, repositories) for _ in range(RESAMPLES))


def _draw(generator: random.Random, repositories: int) -> Sequence[int]:
    drawn = Counter(int(generator.random() * repositories) for _ in range(repositories))
    return tuple(drawn[number] for number in range(repositories))


def _by_repo(samples: Iterable[Sample]) -> Mapping[str, Sequence[float]]:
    groups: dict[str, list[float]] = {}
    for sample in samples:
        groups.setdefault(sample.repo, []).append(sample.value)
    return groups


def _sums(groups: Mapping[str, Sequence[float]], repos: Sequence[str]) -> _Sums:
    values = [groups.get(repo, ()) for repo in repos]
    return _Sums(totals=[math.fsum(one) for one in values], counts=[len(one) for one in values])


def _less(first: _Sums, second: _Sums, weights: Sequence[int]) -> float | None:
    one, other = first.mean(weights), second.mean(weights)
    return None if one is None or other is None else other - one


def _interval(means: Sequence[float | None]) -> tuple[float, float] | tuple[None, None]:
    """Resamples that drew nothing say nothing."""
    known = sorted(mean for mean in means if mean is not None)
    if not known:
        return None, None
    outside = _OUTSIDE * len(known) // RESAMPLES
    return known[outside], known[-1 - outside]
