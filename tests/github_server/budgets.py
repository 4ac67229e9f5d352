"""How much each token may ask: GitHub's limits for search, core and GraphQL, and their windows.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

LIMITS = {'search': 30, 'core': 5000, 'graphql': 5000}
SECONDS = {'search': 60.0, 'core': 3600.0, 'graphql': 3600.0}


@dataclass(slots=True)
class _Window:
    ends: float
    used: int = 0


@dataclass(slots=True, kw_only=True)
class Budgets:
    """Limits that tests make small; `tokens` None takes any token, else others get a 401."""

    limits: dict[str, int] = field(default_factory=lambda: dict(LIMITS))
    seconds: dict[str, float] = field(default_factory=lambda: dict(SECONDS))
    tokens: frozenset[str] | None = None
    counted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    _windows: dict[tuple[str, str], _Window] = field(default_factory=dict)

    def known(self, token: str) -> bool:
        return self.tokens is None or token in self.tokens

    def spend(self, token: str, resource: str) -> bool:
        """Whether one more request is granted; what is refused counts as such."""
        window = self._window(token, resource)
        if window.used >= self.limits[resource]:
            self.refused[resource] += 1
            return False
        window.used += 1
        self.counted[resource] += 1
        return True

    def give_back(self, token: str, resource: str) -> None:
        """A 304 costs nothing."""
        self._window(token, resource).used -= 1
        self.counted[resource] -= 1

    def headers(self, token: str, resource: str) -> dict[str, str]:
        window = self._window(token, resource)
        return {
            'X-RateLimit-Limit': str(self.limits[resource]),
            'X-RateLimit-Remaining': str(self.limits[resource] - window.used),
            'X-RateLimit-Used': str(window.used),
            'X-RateLimit-Reset': str(self._reset(window)),
            'X-RateLimit-Resource': resource,
        }

    def overview(self, token: str) -> dict[str, dict[str, int]]:
        found = {}
        for resource, limit in self.limits.items():
            window = self._window(token, resource)
            found[resource] = {
                'limit': limit,
                'used': window.used,
                'remaining': limit - window.used,
                'reset': self._reset(window),
            }
        return found

    def _window(self, token: str, resource: str) -> _Window:
        window = self._windows.get((token, resource))
        if window is None or time.time() >= window.ends:
            window = _Window(ends=time.time() + self.seconds[resource])
            self._windows[token, resource] = window
        return window

    def _reset(self, window: _Window) -> int:
        return int(-(-window.ends // 1))
