"""One repository of a batch: what is asked of the process that mines it, and what that answers."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from coevo.records import Walk

# What the process ends with, as `coevo mine` does; a bug gives 1.
FATAL, TRANSIENT = 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One repository to be mined into a store.

    source   a path, a URL or owner/name
    repo     its key in the data, None for that which its source says
    commits  the newest to visit; 0 for as many as the profile says
    until    no commits that are newer
    """

    source: str
    store: str
    profile: str
    repo: str | None = None
    commits: int = 0
    until: datetime | None = None
    walk: Walk | None = None
    jobs: int = 1
    sandbox: str = 'bubblewrap'

    def of(self, words: str) -> Job:
        """This job for a repository as a person names it: its source, or OWNER/NAME=SOURCE."""
        repo, named, source = words.partition('=')
        return replace(self, source=source, repo=repo) if named else replace(self, source=words)

    @property
    def name(self) -> str:
        """What the repository is called before anything is known of it."""
        return self.repo or self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelRow:
    """One stage of a repository's funnel."""

    stage: str
    unit: str
    entered: int
    kept: int
    reasons: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a process that mined one repository did; `waiting` pairs met trouble of ours."""

    repo: str
    visited: int
    pairs: int
    executed: int
    reused: int
    waiting: int
    funnel: tuple[FunnelRow, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A line of the process's output: how far a step is, a sentence, or at last the answer."""

    step: str | None = None
    done: int = 0
    total: int = 0
    sentence: str | None = None
    answer: Answer | None = None


class Outcome(StrEnum):
    """What became of a repository in a batch."""

    MINED = 'mined'
    CLAIMED = 'claimed'  # somebody else is at it
    REFUSED = 'refused'  # it cannot be mined as it is: no pom.xml, no commits
    TRANSIENT = 'transient'  # trouble of ours, worth another try
    FAILED = 'failed'  # a hang, too much memory, a kill, or a bug of ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a repository's run ended; `failure` is the name of the record that is kept of it."""

    name: str
    outcome: Outcome
    sentence: str = ''
    answer: Answer | None = None
    failure: str | None = None
