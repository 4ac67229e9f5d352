"""Run one repository of a batch: claim it, work on it in a separate process, release the claim.

Every end of that process gives a `JobResult`: one bad repository never stops a month.
"""

from __future__ import annotations

import os
import signal
import sys

from coevo.display.redaction import redact, strip_secrets
from coevo.model import codec
from coevo.model.listener import SILENT, Listener
from coevo.storage import leases
from coevo.storage.place import parse_root
from coevo.storage.places import open_place
from flows.batches import claims, failures
from flows.batches.contained import BatchLimits, ChildExit, StopReason, run_command
from flows.batches.jobs import FATAL, TRANSIENT, BatchJob, JobOutcome, JobOutput, JobResult

_COMMAND = (sys.executable, '-m', 'flows.batches.job_process')


def run_job(job: BatchJob, limits: BatchLimits, listener: Listener = SILENT) -> JobResult:
    """Do one job in a separate process, and return how it ended.

    If another worker has claimed the repository, nothing is run and the outcome is CLAIMED. Every
    other outcome but DONE leaves a record in the store.
    """
    store = parse_root(job.store)
    outputs: list[JobOutput] = []
    try:
        claim = leases.take_lease_once_expired(
            open_place(store),
            claims.name_repository_claim(job.repository_name),
            leases.LeaseTerms(),
        )
    except leases.LeaseTaken as taken:
        return JobResult(name=job.repository_name, outcome=JobOutcome.CLAIMED, sentence=str(taken))
    with claim:
        ended = run_command(
            _COMMAND,
            codec.encode_record(job) + b'\n',
            limits,
            hear=lambda line: _forward_output(
                codec.decode_record(JobOutput, line), listener, outputs
            ),
            over=lambda: _is_claim_lost(claim),
            environment=strip_secrets(os.environ),
        )
    return _build_result(job, limits, ended, outputs[-1] if outputs else JobOutput())


def _is_claim_lost(claim: leases.Lease) -> bool:
    try:
        claim.check_held()
    except leases.LeaseLost:
        return True
    return False


def _forward_output(heard: JobOutput, listener: Listener, found: list[JobOutput]) -> None:
    if heard.sentence is not None:
        listener.say(heard.sentence)
    elif heard.step is not None:
        listener.step(heard.step, heard.done, heard.total)
    else:
        found.append(heard)


def _build_result(
    job: BatchJob, limits: BatchLimits, ended: ChildExit, found: JobOutput
) -> JobResult:
    outcome, sentence = _decide_outcome(limits, ended, found)
    failure = None
    if outcome is not JobOutcome.DONE:
        failed = failures.JobFailure(
            name=job.repository_name, verb=job.verb, run=job.run, sentence=sentence, ended=ended
        )
        failure = failures.write_failure(parse_root(job.store), failed)
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
