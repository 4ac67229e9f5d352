"""What a user can ask of `coevo mine` and `coevo release`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coevo.profiles import Profile
from coevo.records import Walk
from miners.remotes import NO_LIMITS
from miners.remotes import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class MineOptions:
    """One run of the miner; `commits` None means all of them."""

    source: str
    store: Path
    profile: Profile
    name: str | None = None
    ref: str | None = None
    commits: int | None = 300
    since: datetime | None = None
    until: datetime | None = None
    walk: Walk = Walk.PARENTS
    jobs: int = 1
    sandbox: str = 'bubblewrap'
    cache: Path | None = None
    limits: Limits = NO_LIMITS

    @property
    def executions(self) -> Path:
        """Where verdicts are kept by content: in the cache that was named, else in the store."""
        return (self.cache or self.store / 'cache') / 'executions'


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """One release; `month` None takes the month of the newest commit visited.

    accepted  SPDX ids of licences that will do though the OSI has not approved them
    """

    store: Path
    snapshot: Path
    month: str | None = None
    previous: Path | None = None
    accepted: tuple[str, ...] = ()
