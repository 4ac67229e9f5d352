"""One repository of a batch: what is asked of the process that works on it, and what that answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from coevo.display import redaction
from coevo.model.families import Family
from coevo.model.words import Walk

# What the process ends with, as `coevo mine` does; a bug gives 1.
FATAL, TRANSIENT = 2, 3


class Verb(StrEnum):
    """What is done with a repository."""

    VALIDATE = 'validate'
    MINE = 'mine'


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """One repository to be validated, or mined into a store.

    source   a path, a URL or owner/name
    repo     its key in the data, None for that which its source says
    commits  the newest to visit; 0 for as many as the profile says
    until    no commits that are newer
    since    none that are older
    ref      where the walk starts; None for the default branch
    walk     which commits make a pair; None for as the profile says
    families that look at test files as they stand, instead of changes
    again    whether known pairs are executed once more
    pushed   when it was last pushed to, as the latest crawl says
    reached  until when a copy has all commits of its repository; None is nobody knows
    run      the id of the flow run that asks, if one does
    """

    verb: Verb
    source: str
    store: str
    repo: str | None = None
    profile: str = 'default'
    commits: int = 0
    until: datetime | None = None
    since: datetime | None = None
    ref: str | None = None
    again: bool = False
    pushed: datetime | None = None
    reached: datetime | None = None
    walk: Walk | None = None
    families: tuple[Family, ...] = ()
    jobs: int = 1
    sandbox: str = 'bubblewrap'
    run: str | None = None

    @property
    def name(self) -> str:
        """What the repository is called before anything is known of it."""
        return self.repo or redaction.strip_credentials(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelRow:
    """One stage of a repository's funnel."""

    stage: str
    unit: str
    entered: int
    kept: int
    reasons: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedRepository:
    """What mining one repository gave; `waiting` pairs met trouble of ours, `bugs` pairs a bug."""

    repo: str
    visited: int
    pairs: int
    executed: int
    reused: int
    waiting: int
    bugs: int
    funnel: tuple[FunnelRow, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedRepository:
    """What validation found of one repository; `reason` is why it is invalid."""

    repo: str
    reason: str | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutput:
    """A line of the process's output: how far a step is, a sentence, or at last what it found."""

    step: str | None = None
    done: int = 0
    total: int = 0
    sentence: str | None = None
    mined: MinedRepository | None = None
    validated: ValidatedRepository | None = None


class JobOutcome(StrEnum):
    """What became of a repository in a batch."""

    DONE = 'done'
    CLAIMED = 'claimed'  # somebody else is at it
    REFUSED = 'refused'  # nothing can be done with it as it is: no build file, no commits
    TRANSIENT = 'transient'  # trouble of ours, worth another try
    FAILED = 'failed'  # a hang, too much memory, a kill, or a bug of ours


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """How a repository's run ended; `failure` is the name of the record that is kept of it."""

    name: str
    outcome: JobOutcome
    sentence: str = ''
    mined: MinedRepository | None = None
    validated: ValidatedRepository | None = None
    failure: str | None = None
