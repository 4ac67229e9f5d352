"""How often something is tried, and how long is waited between."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coevo.model.errors import Fatal, Transient
from coevo.storage.fetching import retry


def fail(times: int, error: Exception) -> tuple[Callable[[], int], list[int]]:
    """What raises so often before it counts its calls, and these."""
    calls: list[int] = []

    def attempt() -> int:
        calls.append(len(calls))
        if len(calls) <= times:
            raise error
        return len(calls)

    return attempt, calls


def test_trouble_is_tried_again_after_pauses_that_double() -> None:
    slept: list[float] = []
    attempt, _ = fail(3, Transient('away'))
    assert retry(attempt, pause=2.0, sleep=slept.append) == 4
    assert slept == [2.0, 4.0, 8.0]


def test_no_pause_is_longer_than_the_longest() -> None:
    slept: list[float] = []
    attempt, _ = fail(4, Transient('away'))
    assert retry(attempt, tries=5, longest_pause=3.0, sleep=slept.append) == 5
    assert slept == [1.0, 2.0, 3.0, 3.0]


def test_trouble_of_the_last_try_is_raised_without_a_pause() -> None:
    slept: list[float] = []
    attempt, calls = fail(9, Transient('away'))
    with pytest.raises(Transient, match='away'):
        retry(attempt, tries=2, sleep=slept.append)
    assert (len(calls), slept) == (2, [1.0])


def test_an_error_that_is_no_trouble_is_not_tried_again() -> None:
    attempt, calls = fail(9, Fatal('wrong'))
    with pytest.raises(Fatal):
        retry(attempt, sleep=lambda _: None)
    assert len(calls) == 1


def test_other_errors_can_be_named_as_trouble() -> None:
    attempt, calls = fail(1, KeyError('x'))
    assert retry(attempt, on=(KeyError,), sleep=lambda _: None) == 2
    assert len(calls) == 2
