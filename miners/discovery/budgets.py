"""Keep account of the GitHub requests that each token may still make.

Also of the time until a budget is reset.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum

from miners.discovery.github_tokens import GitHubToken

# Seconds added to a reset: a window ends at a whole second of GitHub's clock.
_MARGIN = 1.0
# Seconds to wait if a budget is spent and the answer has no time of reset.
_UNTOLD = 60.0


class Resource(StrEnum):
    """The kinds of requests that GitHub counts separately for each token."""

    SEARCH = 'search'
    CORE = 'core'
    GRAPHQL = 'graphql'


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A monotonic clock, a wall clock (seconds since 1970), and a function that sleeps."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


class TokenBudgets:
    """The budgets of some tokens, read from the headers of answers.

    A reset is taken relative to the answer's own date, so that a wrong local clock does no harm.
    """

    def __init__(self, tokens: Sequence[GitHubToken], clock: Clock) -> None:
        self._tokens = list(tokens)
        self._clock = clock
        # Times of the monotonic clock.
        self._free_at: dict[tuple[int, Resource], float] = {}
        self._resting: dict[int, float] = {}

    def choose_token(self, resource: Resource, affinity: int = 0) -> GitHubToken | None:
        """Return a token that may be used now; None if there is none.

        affinity  number that selects the token that is tried first
        """
        now = self._clock.monotonic()
        count = len(self._tokens)
        order = [self._tokens[(affinity + step) % count] for step in range(count)]
        return next(
            (token for token in order if self._find_free_time(token, resource) <= now), None
        )

    def compute_wait(self, resource: Resource) -> float:
        """Return the seconds until a token may be used again; 0 if one may be used now.

        Raises: ValueError if there are no tokens.
        """
        free_at = min(self._find_free_time(token, resource) for token in self._tokens)
        return max(0.0, free_at - self._clock.monotonic())

    def note_headers(
        self, token: GitHubToken, resource: Resource, headers: Mapping[str, str]
    ) -> None:
        """Record from an answer's headers whether a token's budget is spent, and until when."""
        if _parse_number(headers, 'x-ratelimit-remaining', 1.0) >= 1:
            self._free_at.pop((token.number, resource), None)
            return
        date = self._parse_date(headers)
        reset = _parse_number(headers, 'x-ratelimit-reset', date + _UNTOLD)
        seconds = max(0.0, reset - date) + _MARGIN
        self._free_at[token.number, resource] = self._clock.monotonic() + seconds

    def rest_token(self, token: GitHubToken, seconds: float) -> None:
        """Pause a token whatever its budgets, because of a secondary limit."""
        self._resting[token.number] = self._clock.monotonic() + max(0.0, seconds)

    def forget_token(self, token: GitHubToken) -> None:
        """Remove a token that GitHub does not accept (any more)."""
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
    """Return the number in a header, or `otherwise` if it is absent or no number.

    GitHub has been seen to send floats.
    """
    try:
        return float(headers[name])
    except (KeyError, ValueError):
        return otherwise
