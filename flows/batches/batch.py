"""One repository of a batch at a time: claimed, worked on in a process of its own, and let go.

Whatever happens to that process is a `Result`: one bad repository never stops a month.
"""

from __future__ import annotations

import os
import signal
import sys

from coevo.display.redaction import redact
from coevo.display.redaction import without_secrets
from coevo.model import codec
from coevo.model.listener import SILENT
from coevo.model.listener import Listener
from coevo.storage import leases
from coevo.storage.place import root_of
from coevo.storage.places import place_of
from flows.batches import claims
from flows.batches import failures
from flows.batches.contained import BatchLimits
from flows.batches.contained import Ended
from flows.batches.contained import Stop
from flows.batches.contained import run
from flows.batches.jobs import FATAL
from flows.batches.jobs import TRANSIENT
from flows.batches.jobs import BatchJob
from flows.batches.jobs import JobOutcome
from flows.batches.jobs import JobOutput
from flows.batches.jobs import Result

_COMMAND = (sys.executable, '-m', 'flows.batches.job_process')


def do(job: BatchJob, limits: BatchLimits, listener: Listener = SILENT) -> Result:
    """Do one job, unless somebody else is at its repository; what a failure says is kept."""
    store = root_of(job.store)
    found: list[JobOutput] = []
    try:
        claim = leases.take_when_over(
            place_of(store), claims.of_repository(job.name), leases.Terms()
        )
    except leases.Taken as taken:
        return Result(name=job.name, outcome=JobOutcome.CLAIMED, sentence=str(taken))
    with claim:
        ended = run(
            _COMMAND,
            codec.encode(job) + b'\n',
            limits,
            hear=lambda line: _pass_on(codec.decode(JobOutput, line), listener, found),
            over=lambda: _is_lost(claim),
            environment=without_secrets(os.environ),
        )
    return _result(job, limits, ended, found[-1] if found else JobOutput())


def _is_lost(claim: leases.Lease) -> bool:
    try:
        claim.check()
    except leases.LeaseLost:
        return True
    return False


def _pass_on(heard: JobOutput, listener: Listener, found: list[JobOutput]) -> None:
    if heard.sentence is not None:
        listener.say(heard.sentence)
    elif heard.step is not None:
        listener.step(heard.step, heard.done, heard.total)
    else:
        found.append(heard)


def _result(job: BatchJob, limits: BatchLimits, ended: Ended, found: JobOutput) -> Result:
    outcome, sentence = _judge(limits, ended, found)
    failure = None
    if outcome is not JobOutcome.DONE:
        failed = failures.JobFailure(
            name=job.name, verb=job.verb, run=job.run, sentence=sentence, ended=ended
        )
        failure = failures.keep(root_of(job.store), failed)
    return Result(
        name=job.name,
        outcome=outcome,
        sentence=redact(sentence),
        mined=found.mined,
        validated=found.validated,
        failure=failure,
    )


def _judge(limits: BatchLimits, ended: Ended, found: JobOutput) -> tuple[JobOutcome, str]:
    last = ended.last_line or 'it said nothing'
    if ended.stop is not None:
        return _judge_stop(limits, ended.stop)
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


def _judge_stop(limits: BatchLimits, stop: Stop) -> tuple[JobOutcome, str]:
    match stop:
        case Stop.ASKED:
            return JobOutcome.TRANSIENT, 'the claim on it was lost'
        case Stop.TIME:
            return JobOutcome.FAILED, f'not done after {limits.seconds:.0f} s'
        case Stop.MEMORY:
            return JobOutcome.FAILED, f'took more than {limits.memory_gib:g} GiB of memory'
