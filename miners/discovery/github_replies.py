"""What GitHub's API answers, how long is waited for it, and how often it was asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryLimits:
    """How long is waited for what; seconds.

    attempts       tries of one question while the server is in trouble
    pause          before the second try; doubled each time, up to `longest_pause`
    secondary      after a secondary limit that does not say how long
    longest_limit  a limit that lasts longer ends the crawl
    refusals       limits in a row and token, without one answer between them, that end it, too
    timeout        for an answer to begin, and between its parts
    """

    attempts: int = 6
    pause: float = 1.0
    longest_pause: float = 60.0
    secondary: float = 60.0
    longest_limit: float = 3700.0
    refusals: int = 20
    timeout: int = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer that is none of trouble; `data` is None without a body, as with 204 and 304."""

    status: int
    data: Any
    etag: str | None

    @property
    def message(self) -> str:
        """What an error says of itself, empty if it says nothing."""
        return str(self.data.get('message', '')) if isinstance(self.data, dict) else ''


@dataclass(slots=True)
class RequestCounts:
    """What a crawl asked: requests that counted, by resource; unchanged ones that did not; tries
    that failed, by kind; seconds waited."""

    counted: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    waited: float = 0.0
