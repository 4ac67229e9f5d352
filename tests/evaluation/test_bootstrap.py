from __future__ import annotations

import random
from collections.abc import Mapping
from collections.abc import Sequence

import pytest

from coevo.evaluation.reporting.bootstrap import Estimate
from coevo.evaluation.reporting.bootstrap import Sample
from coevo.evaluation.reporting.bootstrap import difference
from coevo.evaluation.reporting.bootstrap import estimate


def _samples(values: Mapping[str, Sequence[float]]) -> list[Sample]:
    return [Sample(repo=repo, value=value) for repo, found in values.items() for value in found]


def test_two_repositories_give_means_of_one_both_or_the_other() -> None:
    """Each of the ends is a quarter of the draws, so 95 % reach from one to the other."""
    assert estimate(_samples({'a': [1, 1, 1], 'b': [0]})) == Estimate(
        value=0.75, low=0.0, high=1.0, units=4, repositories=2
    )


def test_one_repository_has_no_interval_and_none_has_no_mean() -> None:
    assert estimate(_samples({'a': [1, 0]})) == Estimate(
        value=0.5, low=None, high=None, units=2, repositories=1
    )
    assert estimate([]) == Estimate(value=None, low=None, high=None, units=0, repositories=0)


def test_repositories_are_drawn_rather_than_tasks() -> None:
    """A hundred equal tasks say no more than one: 0.5 ± 1.96 · 0.5 / √40 either way."""
    once = estimate(_samples({f'r{i}': [i % 2] for i in range(40)}))
    often = estimate(_samples({f'r{i}': [i % 2] * 100 for i in range(40)}))
    assert (often.low, often.high) == (once.low, once.high)
    assert once.low == pytest.approx(0.345, abs=0.03)
    assert once.high == pytest.approx(0.655, abs=0.03)


def test_the_order_of_samples_does_not_matter() -> None:
    """With values that do not sum up alike in every order."""
    found = _samples({f'r{i % 7}': [i / 10 for i in range(50)] for i in range(7)})
    shuffled = random.Random(1).sample(found, len(found))
    assert estimate(shuffled) == estimate(found)


def test_a_difference_is_of_the_same_draws() -> None:
    """What differs by the same in every repository has an interval of no width."""
    first = {f'r{i}': [i / 16] for i in range(8)}
    second = {repo: [values[0] + 0.25] for repo, values in first.items()}
    found = difference(_samples(first), _samples(second))
    assert (found.value, found.low, found.high) == (0.25, 0.25, 0.25)
    assert (found.units, found.repositories) == (8, 8)


def test_a_difference_to_nothing_is_none() -> None:
    found = difference(_samples({'a': [1], 'b': [0]}), [])
    assert (found.value, found.low, found.high, found.units) == (None, None, None, 0)
