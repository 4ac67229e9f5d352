"""Run one repository of a batch: claim it, work on it in a separate process by its job, release the
claim.

Every end of that process gives a `JobResult`: one bad repository never stops a month.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from coevo.display import terminal
from coevo.display.terminal import redact, strip_secrets_except_aws
from coevo.languages.table import list_engine_versions
from coevo.model import codec
from coevo.model.families import Family
from coevo.model.listener import SILENT, Listener
from coevo.model.words import Walk
from coevo.storage import leases
from coevo.storage.leases import list_unreleased_lease_states
from coevo.storage.place import Root, decode_folder_name, encode_folder_name, parse_root
from coevo.storage.places import open_place
from flows.batches.contained import BatchLimits, ChildExit, StopReason, run_command
from flows.validations import Validation
from packagers.funnel import FunnelStep

# The job of a process that works on one repository of a batch, and its output.

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
    funnel: tuple[FunnelStep, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutput:
    """A line of the process's output: the progress of a step, a sentence, or finally the result."""

    step: str | None = None
    done: int = 0
    total: int = 0
    sentence: str | None = None
    mined: MinedRepository | None = None
    validated: Validation | None = None


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
    validated: Validation | None = None
    failure: str | None = None


# Run one repository of a batch: claim it, work on it in a separate process, release the claim.

_REPOSITORIES, _RUNS = 'claims/repositories', 'claims/runs'


# Claims in a store: a lease on each repository being mined, and one for each live flow run.
#
#     STORE/claims/repositories/OWNER+NAME.json
#     STORE/claims/runs/ID.json
#
# A claim keeps machines from doing the same work twice. The correctness of the data does not depend
# on it.


def name_repository_claim(repo: str) -> str:
    """Return the name of the lease on a repository."""
    return f'{_REPOSITORIES}/{encode_folder_name(repo)}.json'


def name_run_claim(run_id: str) -> str:
    """Return the name of the lease that shows that a flow run is alive."""
    return f'{_RUNS}/{run_id}.json'


def list_claimed_repositories(store: Root) -> frozenset[str]:
    """Return the names of the repositories that a living process has claimed.

    A repository without a known name is claimed by its address.
    """
    leases = list_unreleased_lease_states(open_place(store), _REPOSITORIES)
    return frozenset(
        decode_folder_name(lease.name.removeprefix(f'{_REPOSITORIES}/').removesuffix('.json'))
        for lease in leases
        if lease.seconds_left >= 0
    )


def list_living_runs(store: Root) -> frozenset[str]:
    """Return the ids of the flow runs whose lease has not expired."""
    run_leases = list_unreleased_lease_states(open_place(store), _RUNS)
    return frozenset(_parse_run_id(lease.name) for lease in run_leases if lease.seconds_left >= 0)


def list_runs_with_expired_lease(store: Root) -> frozenset[str]:
    """Return the ids of the flow runs whose lease expired without being released.

    Their processes are taken for dead.
    """
    run_leases = list_unreleased_lease_states(open_place(store), _RUNS)
    return frozenset(_parse_run_id(lease.name) for lease in run_leases if lease.seconds_left < 0)


def remove_leases_of_dead_runs(store: Root) -> None:
    """Remove the leases of all runs that do not live, released or expired.

    No run takes such a lease again.
    """
    storage, living = open_place(store), list_living_runs(store)
    storage.remove_files(
        entry.name for entry in storage.list_files(_RUNS) if _parse_run_id(entry.name) not in living
    )


def _parse_run_id(name: str) -> str:
    return name.removeprefix(f'{_RUNS}/').partition('.')[0]


# Keep records of failed runs of repositories for a person: the reason and the traceback.
#
#     STORE/failures/OWNER+NAME/STAMP-ID.json
#
# No decision depends on these records: the next run tries the repository again.

FOLDER = 'failures'


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFailure:
    """A failed run: its repository, verb and flow run, and how its process ended."""

    name: str
    verb: str
    run: str | None
    sentence: str
    ended: ChildExit


def write_failure_and_get_name(store: Root, failure: JobFailure) -> str:
    """Write a record without any token; return its name in the store."""
    now = datetime.now(tz=UTC)
    name = f'{FOLDER}/{encode_folder_name(redact(failure.name))}/{now:%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:8]}.json'
    record = {
        'name': redact(failure.name),
        'verb': failure.verb,
        'flow_run': failure.run,
        'sentence': redact(failure.sentence),
        'status': failure.ended.status,
        'stopped_for': failure.ended.stop,
        'complaint': redact(failure.ended.complaint),
        'engine_versions': list_engine_versions(),
        'at': now.isoformat(timespec='seconds'),
    }
    open_place(store).write_file(name, json.dumps(record, indent=2).encode() + b'\n')
    return name


_COMMAND = (sys.executable, '-m', 'flows.batches.job_process')


def run_job(job: BatchJob, limits: BatchLimits, listener: Listener = SILENT) -> JobResult:
    """Do one job in a separate process, and return how it ended.

    If another worker has claimed the repository, nothing is run and the outcome is CLAIMED. Every
    other outcome but DONE leaves a record in the store.
    """
    store = parse_root(job.store)
    outputs: list[JobOutput] = []
    try:
        claim = leases.take_lease_unless_renewed(
            open_place(store),
            name_repository_claim(job.repository_name),
            leases.LeaseTerms(),
        )
    except leases.LeaseTaken as taken:
        return JobResult(name=job.repository_name, outcome=JobOutcome.CLAIMED, sentence=str(taken))
    with claim:
        ended = run_command(
            _COMMAND,
            codec.encode_record(job) + b'\n',
            limits,
            on_output_line=lambda line: _forward_progress_or_collect_result(
                codec.decode_record(JobOutput, line), listener, outputs
            ),
            should_stop=lambda: _is_claim_lost(claim),
            environment=strip_secrets_except_aws(os.environ),
        )
    return _build_result_and_record_failure(
        job, limits, ended, outputs[-1] if outputs else JobOutput()
    )


def _is_claim_lost(claim: leases.Lease) -> bool:
    try:
        claim.check_held()
    except leases.LeaseLost:
        return True
    return False


def _forward_progress_or_collect_result(
    heard: JobOutput, listener: Listener, found: list[JobOutput]
) -> None:
    if heard.sentence is not None:
        listener.say(heard.sentence)
    elif heard.step is not None:
        listener.step(heard.step, heard.done, heard.total)
    else:
        found.append(heard)


def _build_result_and_record_failure(
    job: BatchJob, limits: BatchLimits, ended: ChildExit, found: JobOutput
) -> JobResult:
    outcome, sentence = _decide_outcome(limits, ended, found)
    failure = None
    if outcome is not JobOutcome.DONE:
        failed = JobFailure(
            name=job.repository_name, verb=job.verb, run=job.run, sentence=sentence, ended=ended
        )
        failure = write_failure_and_get_name(parse_root(job.store), failed)
    return JobResult(
        name=job.repository_name,
        outcome=outcome,
        sentence=redact(sentence),
        mined=found.mined,
        validated=found.validated,
        failure=failure,
    )


def _decide_outcome(
    limits: BatchLimits, ended: ChildExit, found: JobOutput
) -> tuple[JobOutcome, str]:
    last = ended.last_line or 'it said nothing'
    if ended.stop is not None:
        return _decide_stopped_outcome(limits, ended.stop)
    if ended.status < 0:
        return JobOutcome.FAILED, f'was killed by {signal.Signals(-ended.status).name}'
    if ended.status == FATAL:
        return JobOutcome.REFUSED, last
    if ended.status == TRANSIENT:
        return JobOutcome.TRANSIENT, last
    if ended.status or not (found.mined or found.validated):
        return JobOutcome.FAILED, last
    if found.mined and found.mined.waiting:
        return JobOutcome.TRANSIENT, f'{found.mined.waiting} pairs could not be mined now'
    if found.mined and found.mined.bugs:
        return JobOutcome.FAILED, f'{found.mined.bugs} pairs ended in a bug of coevo'
    return JobOutcome.DONE, ''


def _decide_stopped_outcome(limits: BatchLimits, stop: StopReason) -> tuple[JobOutcome, str]:
    match stop:
        case StopReason.ASKED:
            return JobOutcome.TRANSIENT, 'the claim on it was lost'
        case StopReason.TIME:
            return JobOutcome.FAILED, f'not done after {limits.seconds:.0f} s'
        case StopReason.MEMORY:
            return JobOutcome.FAILED, f'took more than {limits.memory_gib:g} GiB of memory'
