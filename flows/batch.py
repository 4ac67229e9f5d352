"""One repository of a batch at a time: claimed, mined in a process of its own, and let go.

Whatever happens to that process is a `Result`: one bad repository never stops a month.
"""

from __future__ import annotations

import os
import signal
import sys

from coevo import codec
from coevo import leases
from coevo.place import place_of
from coevo.place import root_of
from flows import claims
from flows import failures
from flows.contained import Ended
from flows.contained import Limits
from flows.contained import Stop
from flows.contained import run
from flows.jobs import FATAL
from flows.jobs import TRANSIENT
from flows.jobs import Answer
from flows.jobs import Heard
from flows.jobs import Job
from flows.jobs import Outcome
from flows.jobs import Result
from flows.listener import SILENT
from flows.listener import Listener
from flows.redaction import redact
from flows.redaction import without_secrets

# 300 commits took 1 to 8 hours on two cores (benchmarks/cost.md); what takes three times that hangs.
LIMITS = Limits(seconds=24 * 3600.0, memory_bytes=8 << 30)

_COMMAND = (sys.executable, '-m', 'flows.mining_process')


def mine_repository(job: Job, limits: Limits = LIMITS, listener: Listener = SILENT) -> Result:
    """Mine one repository, if nobody else does, and keep what there is to say of a failure."""
    store = root_of(job.store)
    answers: list[Answer] = []
    try:
        claim = leases.take_when_over(
            place_of(store), claims.of_repository(job.name), leases.Terms()
        )
    except leases.Taken as taken:
        return Result(name=job.name, outcome=Outcome.CLAIMED, sentence=str(taken))
    with claim:
        ended = run(
            _COMMAND,
            codec.encode(job) + b'\n',
            limits,
            hear=lambda line: _pass_on(codec.decode(Heard, line), listener, answers),
            over=lambda: _is_lost(claim),
            environment=without_secrets(os.environ),
        )
    return _result(job, limits, ended, answers)


def _is_lost(claim: leases.Lease) -> bool:
    try:
        claim.check()
    except leases.LeaseLost:
        return True
    return False


def _pass_on(heard: Heard, listener: Listener, answers: list[Answer]) -> None:
    if heard.answer is not None:
        answers.append(heard.answer)
    elif heard.sentence is not None:
        listener.say(heard.sentence)
    elif heard.step is not None:
        listener.step(heard.step, heard.done, heard.total)


def _result(job: Job, limits: Limits, ended: Ended, answers: list[Answer]) -> Result:
    outcome, sentence = _judge(limits, ended, answers)
    failure = None
    if outcome is not Outcome.MINED:
        failed = failures.Failure(name=job.name, verb='mine', sentence=sentence, ended=ended)
        failure = failures.keep(root_of(job.store), failed)
    return Result(
        name=job.name,
        outcome=outcome,
        sentence=redact(sentence),
        answer=answers[0] if answers else None,
        failure=failure,
    )


def _judge(limits: Limits, ended: Ended, answers: list[Answer]) -> tuple[Outcome, str]:
    last = (ended.complaint.strip().splitlines() or ['it said nothing'])[-1]
    if ended.stop is Stop.ASKED:
        return Outcome.TRANSIENT, 'the claim on it was lost'
    if ended.stop is Stop.TIME:
        return Outcome.FAILED, f'not done after {limits.seconds:.0f} s'
    if ended.stop is Stop.MEMORY:
        return Outcome.FAILED, f'took more than {limits.memory_bytes >> 20} MiB of memory'
    if ended.status < 0:
        return Outcome.FAILED, f'was killed by {signal.Signals(-ended.status).name}'
    if ended.status == FATAL:
        return Outcome.REFUSED, last
    if ended.status == TRANSIENT:
        return Outcome.TRANSIENT, last
    if ended.status or not answers:
        return Outcome.FAILED, last
    if answers[0].waiting:
        return Outcome.TRANSIENT, f'{answers[0].waiting} pairs could not be mined now'
    return Outcome.MINED, ''
