"""Keep account of the GitHub requests that each token may still make.

Also of the time until a budget is reset.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from enum import StrEnum
from pathlib import Path

from coevo.model.errors import Fatal

_WORD = re.compile(r'[A-Za-z0-9_.~+/=-]+')


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubToken:
    """One token; messages name it by its position among those given, counted from 1."""

    number: int
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f'token {self.number}'


def parse_tokens(
    environment: Mapping[str, str], file: Path | None = None
) -> tuple[GitHubToken, ...]:
    """Return the tokens of a file, one a line, or else those of the environment.

    $GITHUB_TOKENS has several, separated by commas or spaces; without it $GITHUB_TOKEN counts.
    Duplicates count once.

    Raises: Fatal if there is no token, or a word is none.
    """
    text = _load_token_file(file) if file is not None else _parse_environment(environment)
    words = dict.fromkeys(text.replace(',', ' ').split())
    if not words:
        raise Fatal(
            'GitHub is asked with a token only: set $GITHUB_TOKENS (several, with commas between) '
            'or give --tokens FILE with one a line'
        )
    for number, word in enumerate(words, 1):
        if not _WORD.fullmatch(word):
            raise Fatal(f'token {number} holds a character that no token of GitHub has')
    return tuple(GitHubToken(number=number, secret=word) for number, word in enumerate(words, 1))


def _parse_environment(environment: Mapping[str, str]) -> str:
    return environment.get('GITHUB_TOKENS') or environment.get('GITHUB_TOKEN') or ''


def _load_token_file(file: Path) -> str:
    try:
        lines = file.read_text(encoding='utf-8').splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Fatal(f'{file} cannot be read; give --tokens a file with one token a line') from error
    return '\n'.join(line for line in lines if not line.lstrip().startswith('#'))


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

    def pause_token(self, token: GitHubToken, seconds: float) -> None:
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
