"""Which token may ask when, by a clock that the tests turn."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import formatdate

import pytest

from miners.discovery.budgets import Clock, Resource, TokenBudgets
from tests.flows.crawling import tokens

WALL = 1_800_000_000.0


@dataclass(slots=True)
class Hands:
    monotonic: float = 100.0
    wall: float = WALL

    @property
    def clock(self) -> Clock:
        return Clock(monotonic=lambda: self.monotonic, wall=lambda: self.wall)


def spent(seconds: float, **others: str) -> dict[str, str]:
    """Headers of an answer after which nothing is left for so long."""
    return {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': str(WALL + seconds),
        'date': formatdate(WALL, usegmt=True),
        **others,
    }


def test_each_resource_of_each_token_has_its_own_budget() -> None:
    hands = Hands()
    one, two = tokens(2)
    budgets = TokenBudgets((one, two), hands.clock)
    budgets.note_headers(one, Resource.SEARCH, spent(60))
    assert budgets.choose_token(Resource.SEARCH) == two
    assert budgets.choose_token(Resource.CORE) == one
    budgets.note_headers(two, Resource.GRAPHQL, spent(60))
    assert budgets.choose_token(Resource.GRAPHQL, affinity=1) == one
    budgets.note_headers(two, Resource.SEARCH, spent(30))
    assert budgets.choose_token(Resource.SEARCH) is None
    assert budgets.compute_wait(Resource.SEARCH) == pytest.approx(31, abs=0.1)
    hands.monotonic += 31.1
    assert budgets.choose_token(Resource.SEARCH) == two


def test_a_secondary_limit_rests_a_token_for_every_resource() -> None:
    hands = Hands()
    one, two = tokens(2)
    budgets = TokenBudgets((one, two), hands.clock)
    budgets.pause_token(one, 5)
    assert [budgets.choose_token(resource) for resource in Resource] == [two, two, two]
    hands.monotonic += 5
    assert budgets.choose_token(Resource.CORE) == one


@pytest.mark.parametrize(
    ('headers', 'seconds'),
    [
        (spent(-3600), 1),  # a reset that is over
        (spent(10, date='no date'), 11),
        (spent(0, **{'x-ratelimit-reset': 'soon'}), 61),
        ({'x-ratelimit-remaining': '0'}, 61),
        (spent(0, **{'x-ratelimit-remaining': '0.0'}), 1),
    ],
)
def test_a_wait_is_at_least_one_second_whatever_the_headers(
    headers: dict[str, str], seconds: float
) -> None:
    hands = Hands()
    budgets = TokenBudgets(tokens(1), hands.clock)
    budgets.note_headers(tokens(1)[0], Resource.CORE, headers)
    assert budgets.choose_token(Resource.CORE) is None
    assert budgets.compute_wait(Resource.CORE) == pytest.approx(seconds, abs=0.1)


@pytest.mark.parametrize('jump', [-86_400.0, 86_400.0])
def test_a_jump_of_the_wall_clock_does_not_change_a_wait(jump: float) -> None:
    hands = Hands(wall=WALL + jump)
    budgets = TokenBudgets(tokens(1), hands.clock)
    budgets.note_headers(tokens(1)[0], Resource.CORE, spent(10))
    assert budgets.compute_wait(Resource.CORE) == pytest.approx(11, abs=0.1)
    hands.wall -= 2 * jump
    hands.monotonic += 11.1
    assert budgets.compute_wait(Resource.CORE) == 0


def test_an_answer_with_remaining_requests_frees_a_budget() -> None:
    budgets = TokenBudgets(tokens(1), Hands().clock)
    budgets.note_headers(tokens(1)[0], Resource.CORE, spent(10))
    budgets.note_headers(tokens(1)[0], Resource.CORE, {'x-ratelimit-remaining': '5'})
    assert budgets.choose_token(Resource.CORE) is not None
