"""Rewards of attempts, and which attempt is better."""

from __future__ import annotations

import pytest

from coevo.evaluation.outcomes import TaskOutcome
from coevo.exports.attempts import UNKNOWN, Rewards, compute_rewards
from tests.evaluation.rows import ADEQUACY, row

BEST = Rewards(success=1, strict=1, coverage=1, mutants=1)


def failed(outcome: TaskOutcome) -> Rewards:
    return compute_rewards([row(outcome=outcome, success_strict=False)])


def test_rewards_are_shares_of_code_lines_and_mutants() -> None:
    rewards = compute_rewards([row(adequacy=ADEQUACY, success_strict=True)])
    assert rewards == Rewards(success=1, strict=1, coverage=0.75, mutants=0.5)


def test_test_that_does_not_pass_counts_as_0_in_means_over_the_targets() -> None:
    rows = [
        row(test_method='a', adequacy=ADEQUACY, success_strict=True),
        row(test_method='b', outcome=TaskOutcome.EXEC_FAIL, success_strict=False),
    ]
    assert compute_rewards(rows) == Rewards(success=0, strict=0, coverage=0.375, mutants=0.25)


def test_redundant_test_has_coverage_and_no_success() -> None:
    rows = [row(outcome=TaskOutcome.REDUNDANT, adequacy=ADEQUACY, success_strict=False)]
    assert compute_rewards(rows) == Rewards(success=0, strict=0, coverage=0.75, mutants=0.5)


def test_strict_reward_is_unknown_where_gold_is_not_strict_itself() -> None:
    rows = [row(test_method='a', outcome=TaskOutcome.EXEC_FAIL, success_strict=False)]
    assert compute_rewards(rows).strict == 0
    rows.append(row(test_method='b', outcome=TaskOutcome.EXEC_FAIL, strict_askable=False))
    assert compute_rewards(rows).strict is None


def test_nothing_is_known_of_what_coevo_could_not_grade() -> None:
    assert failed(TaskOutcome.INFRA) == UNKNOWN
    assert compute_rewards([]) == UNKNOWN


def test_unmeasured_success_has_unknown_rewards() -> None:
    assert compute_rewards([row()]) == Rewards(success=1)


@pytest.mark.parametrize(
    ('better', 'worse'),
    [
        (BEST, Rewards(success=0, strict=0, coverage=0, mutants=0)),
        (BEST, Rewards(success=1, strict=1, coverage=0.9, mutants=1)),
        # What was not measured of a success cannot be less than 0.
        (Rewards(success=1), Rewards(success=0, strict=0, coverage=0, mutants=0)),
        # Nobody knows the mutants of either.
        (Rewards(success=1, strict=1, coverage=1), Rewards(success=1, strict=1, coverage=0)),
    ],
)
def test_better_rewards_dominate_and_not_the_other_way_round(
    better: Rewards, worse: Rewards
) -> None:
    assert better.dominates(worse)
    assert not worse.dominates(better)


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        (BEST, BEST),
        (UNKNOWN, UNKNOWN),
        (UNKNOWN, BEST),
        (Rewards(success=1, coverage=0.5), Rewards(success=1)),
        (Rewards(success=1, coverage=0.5, mutants=1), Rewards(success=1, coverage=1, mutants=0.5)),
    ],
)
def test_equal_or_incomparable_rewards_dominate_in_neither_direction(
    one: Rewards, other: Rewards
) -> None:
    assert not one.dominates(other)
    assert not other.dominates(one)
