"""Questions to the tests' GitHub, with short waits that are written down."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from miners.discovery.budgets import Clock
from miners.discovery.github_requests import GitHubApi, RetryLimits
from tests.flows.crawling import QUICK, tokens
from tests.github_server import Server


@dataclass(slots=True)
class Sleeper:
    """Really sleeps, and keeps what was asked of it."""

    slept: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        time.sleep(seconds)


def api_of(
    server: Server, *, count: int = 1, sleeper: Sleeper | None = None, patience: RetryLimits = QUICK
) -> GitHubApi:
    return GitHubApi(server.api, tokens(count), Clock(sleep=sleeper or Sleeper()), patience)
