"""What each token may still ask of GitHub, and when it may again.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import time
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum

from miners.github_tokens import Token

# A window ends at a whole second, by a clock that is not ours.
_MARGIN = 1.0


class Resource(StrEnum):
    """What GitHub counts apart, for each token."""

    SEARCH = 'search'
    CORE = 'core'
    GRAPHQL = 'graphql'


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Seconds that never run backwards, seconds since 1970, and a way to let them pass."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


@dataclass(slots=True)
class _Budget:
    """`free_at` is a time of the monotonic clock; remaining None is not known yet."""

    remaining: int | None = None
    free_at: float = 0.0


class Budgets:
    """Kept from the headers of answers; a reset is taken relative to the answer's own date, so
    that a wrong clock here makes no wait wrong."""

    def __init__(self, tokens: Sequence[Token], clock: Clock) -> None:
        self._tokens = list(tokens)
        self._clock = clock
        self._budgets: dict[tuple[int, Resource], _Budget] = {}
        self._resting: dict[int, float] = {}

    def choose(self, resource: Resource, affinity: int = 0) -> Token | None:
        """A token that may ask now: of those the one that `affinity` falls on, else the next."""
        now = self._clock.monotonic()
        count = len(self._tokens)
        order = [self._tokens[(affinity + step) % count] for step in range(count)]
        return next((one for one in order if self._free_at(one, resource) <= now), None)

    def wait(self, resource: Resource) -> float:
        """Seconds until a token may ask again, never negative; ValueError if there is none."""
        free_at = min(self._free_at(one, resource) for one in self._tokens)
        return max(0.0, free_at - self._clock.monotonic())

    def note(self, token: Token, resource: Resource, headers: Mapping[str, str]) -> None:
        """Take over what an answer says of the token's budget."""
        try:
            remaining = int(float(headers['x-ratelimit-remaining']))
            reset = float(headers['x-ratelimit-reset'])
        except (KeyError, ValueError):
            return
        budget = self._budgets.setdefault((token.number, resource), _Budget())
        budget.remaining = remaining
        seconds = reset - self._date(headers) + _MARGIN
        budget.free_at = self._clock.monotonic() + max(0.0, seconds) if remaining <= 0 else 0.0

    def rest(self, token: Token, seconds: float) -> None:
        """Let a token ask nothing for a while, whatever its budgets: a secondary limit."""
        self._resting[token.number] = self._clock.monotonic() + max(0.0, seconds)

    def forget(self, token: Token) -> None:
        """GitHub does not know this token (any more)."""
        self._tokens.remove(token)

    def __len__(self) -> int:
        return len(self._tokens)

    def _free_at(self, token: Token, resource: Resource) -> float:
        budget = self._budgets.get((token.number, resource), _Budget())
        return max(budget.free_at, self._resting.get(token.number, 0.0))

    def _date(self, headers: Mapping[str, str]) -> float:
        try:
            return parsedate_to_datetime(headers['date']).timestamp()
        except (KeyError, ValueError, TypeError):
            return self._clock.wall()
