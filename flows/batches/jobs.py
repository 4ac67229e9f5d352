"""The job of a process that works on one repository of a batch, and its output."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from coevo.display import terminal
from coevo.model.families import Family
from coevo.model.words import Walk

# Exit statuses as those of `coevo mine`; a bug gives 1.
FATAL, TRANSIENT = 2, 3


class Verb(StrEnum):
    """The kinds of work on a repository."""

    VALIDATE = 'validate'
    MINE = 'mine'


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """A repository to validate, or to mine into a store.

    source   a path, a URL or owner/name
    repo     its key in the data; None takes the name from its source
    commits  the number of newest commits to visit; 0 takes the profile's
    by_tasks whether it follows the tasks instead (`flows.budgets`)
    until    commits that are newer are left out
    since    commits that are older are left out
    ref      where the walk starts; None for the default branch
    walk     the rule that makes pairs; None takes the profile's
    families families of suites from test files as they are, instead of changes
    again    whether known pairs are executed once more
    pushed   when it was last pushed to, according to the latest crawl
    reached  until when a copy has all commits of its repository; None if unknown
    run      the id of the flow run that started the job, if any
    """

    verb: Verb
    source: str
    store: str
    repo: str | None = None
    profile: str = 'default'
    commits: int = 0
    by_tasks: bool = False
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
    def repository_name(self) -> str:
        """The name of the repository before its clone is read: `repo`, or its source.

        Credentials in the source are left out.
        """
        return self.repo or terminal.strip_credentials_and_query(self.source)


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
    """The result of mining one repository.

    waiting  pairs that met a transient failure of coevo
    bugs     pairs that ended in a bug of coevo
    """

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
    """The result of validating one repository; `reason` is why it is invalid, or None."""

    repo: str
    reason: str | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutput:
    """A line of the process's output: the progress of a step, a sentence, or finally the result."""

    step: str | None = None
    done: int = 0
    total: int = 0
    sentence: str | None = None
    mined: MinedRepository | None = None
    validated: ValidatedRepository | None = None


class JobOutcome(StrEnum):
    """The result of a repository in a batch."""

    DONE = 'done'
    CLAIMED = 'claimed'  # another worker has claimed it
    REFUSED = 'refused'  # it cannot be used as it is: no build file, no commits
    TRANSIENT = 'transient'  # a transient failure of coevo, worth another try
    FAILED = 'failed'  # a hang, too much memory, a kill, or a bug of coevo


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """The end of a repository's run; `failure` is the name of its record, if there is one."""

    name: str
    outcome: JobOutcome
    sentence: str = ''
    mined: MinedRepository | None = None
    validated: ValidatedRepository | None = None
    failure: str | None = None
