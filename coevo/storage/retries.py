"""Retries after transient failures, with a pause that doubles."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TypeVar

from coevo.model.errors import Transient

_Result = TypeVar('_Result')


def retry(
    attempt: Callable[[], _Result],
    *,
    tries: int = 4,
    pause: float = 1.0,
    longest_pause: float = math.inf,
    on: tuple[type[Exception], ...] = (Transient,),
    sleep: Callable[[float], object] = time.sleep,
) -> _Result:
    """Return the result of the first successful attempt; the error of the last attempt is raised.

    tries          number of attempts
    pause          seconds before the second attempt, doubled before each further one
    longest_pause  limit of the pause in seconds
    on             errors that lead to another attempt; any other is raised at once
    """
    for number in range(tries - 1):
        try:
            return attempt()
        except on:
            sleep(min(pause * 2**number, longest_pause))
    return attempt()
