"""What each token may still ask of GitHub, and when it may again.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum

from miners.discovery.github_tokens import GitHubToken

# A window ends at a whole second, by a clock that is not ours.
_MARGIN = 1.0
# Where a budget is spent and nothing says until when.
_UNTOLD = 60.0


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


class TokenBudgets:
    """Kept from the headers of answers; a reset is taken relative to the answer's own date, so
    that a wrong clock here makes no wait wrong."""

    def __init__(self, tokens: Sequence[GitHubToken], clock: Clock) -> None:
        self._tokens = list(tokens)
        self._clock = clock
        # By the monotonic clock.
        self._free_at: dict[tuple[int, Resource], float] = {}
        self._resting: dict[int, float] = {}

    def choose_token(self, resource: Resource, affinity: int = 0) -> GitHubToken | None:
        """A token that may ask now: of those the one that `affinity` falls on, else the next."""
        now = self._clock.monotonic()
        count = len(self._tokens)
        order = [self._tokens[(affinity + step) % count] for step in range(count)]
        return next(
            (token for token in order if self._find_free_time(token, resource) <= now), None
        )

    def compute_wait(self, resource: Resource) -> float:
        """Seconds until a token may ask again, never negative; ValueError if there is none."""
        free_at = min(self._find_free_time(token, resource) for token in self._tokens)
        return max(0.0, free_at - self._clock.monotonic())

    def note_headers(
        self, token: GitHubToken, resource: Resource, headers: Mapping[str, str]
    ) -> None:
        """Take over what an answer says of the token's budget."""
        if _parse_number(headers, 'x-ratelimit-remaining', 1.0) >= 1:
            self._free_at.pop((token.number, resource), None)
            return
        date = self._parse_date(headers)
        reset = _parse_number(headers, 'x-ratelimit-reset', date + _UNTOLD)
        seconds = max(0.0, reset - date) + _MARGIN
        self._free_at[token.number, resource] = self._clock.monotonic() + seconds

    def rest_token(self, token: GitHubToken, seconds: float) -> None:
        """Let a token ask nothing for a while, whatever its budgets: a secondary limit."""
        self._resting[token.number] = self._clock.monotonic() + max(0.0, seconds)

    def forget_token(self, token: GitHubToken) -> None:
        """GitHub does not know this token (any more)."""
        self._tokens.remove(token)

    def __len__(self) -> int:
        return len(self._tokens)

    def _find_free_time(self, token: GitHubToken, resource: Resource) -> float:
        spent = self._free_at.get((token.number, resource), 0.0)
        return max(spent, self._resting.get(token.number, 0.0))

    def _parse_date(self, headers: Mapping[str, str]) -> float:
        try:
            return parsedate_to_datetime(headers['date']).timestamp()
        except (KeyError, ValueError, TypeError):
            return self._clock.wall()


def _parse_number(headers: Mapping[str, str], name: str, otherwise: float) -> float:
    """GitHub has been seen to send floats."""
    try:
        return float(headers[name])
    except (KeyError, ValueError):
        return otherwise
