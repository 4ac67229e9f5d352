from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from coevo.evaluation.reporting.bootstrap import (
    MeanEstimate,
    Sample,
    estimate_mean,
    estimate_second_minus_first,
)


def _samples(values: Mapping[str, Sequence[float]]) -> list[Sample]:
    return [Sample(repo=repo, value=value) for repo, found in values.items() for value in found]


def test_interval_over_two_repositories_reaches_from_one_mean_to_the_other() -> None:
    """Each of the ends is a quarter of the draws, so 95 % reach from one to the other."""
    assert estimate_mean(_samples({'a': [1, 1, 1], 'b': [0]})) == MeanEstimate(
        value=0.75, low=0.0, high=1.0, units=4, repositories=2
    )


def test_one_repository_has_no_interval_and_none_has_no_mean() -> None:
    assert estimate_mean(_samples({'a': [1, 0]})) == MeanEstimate(
        value=0.5, low=None, high=None, units=2, repositories=1
    )
    assert estimate_mean([]) == MeanEstimate(
        value=None, low=None, high=None, units=0, repositories=0
    )


def test_bootstrap_draws_repositories_rather_than_tasks() -> None:
    """A hundred equal tasks say no more than one: 0.5 ± 1.96 · 0.5 / √40 either way."""
    once = estimate_mean(_samples({f'r{i}': [i % 2] for i in range(40)}))
    often = estimate_mean(_samples({f'r{i}': [i % 2] * 100 for i in range(40)}))
    assert (often.low, often.high) == (once.low, once.high)
    assert once.low == pytest.approx(0.345, abs=0.03)
    assert once.high == pytest.approx(0.655, abs=0.03)


def test_order_of_samples_does_not_change_the_estimate() -> None:
    """With values that do not sum up alike in every order."""
    found = _samples({f'r{i % 7}': [i / 10 for i in range(50)] for i in range(7)})
    shuffled = random.Random(1).sample(found, len(found))
    assert estimate_mean(shuffled) == estimate_mean(found)


def test_difference_is_estimated_on_the_same_draws() -> None:
    """What differs by the same in every repository has an interval of no width."""
    first = {f'r{i}': [i / 16] for i in range(8)}
    second = {repo: [values[0] + 0.25] for repo, values in first.items()}
    found = estimate_second_minus_first(_samples(first), _samples(second))
    assert (found.value, found.low, found.high) == (0.25, 0.25, 0.25)
    assert (found.units, found.repositories) == (8, 8)


def test_difference_to_no_samples_is_absent() -> None:
    found = estimate_second_minus_first(_samples({'a': [1], 'b': [0]}), [])
    assert (found.value, found.low, found.high, found.units) == (None, None, None, 0)
