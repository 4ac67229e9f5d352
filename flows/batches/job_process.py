"""`python -m flows.batches.job_process`: do the one job that a line of standard input describes.

A bug, a hang or a lack of memory ends this process and no other. Each line of its output is a
`JobOutput`. Its status is that of `coevo mine`, or 1 for a bug, with a traceback.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import IO, NoReturn

from coevo.model import codec
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Listener
from coevo.model.profiles import load_profile
from coevo.storage.place import parse_root
from coevo.storage.store import Store
from flows.batches.batch import (
    FATAL,
    TRANSIENT,
    BatchJob,
    JobOutput,
    MinedRepository,
    Verb,
)
from flows.batches.contained import kill_this_process_when_input_ends
from flows.funnel import build_funnel
from flows.options import MineOptions, choose_walk
from flows.pipeline import mine
from flows.validation import ValidateOptions, validate_repository


def main() -> int:
    """Do the job that a line of standard input describes, and return the exit status.

    Progress and result are written to standard output, one line each.
    """
    job = codec.decode_record(BatchJob, sys.stdin.buffer.readline())
    kill_this_process_when_input_ends()
    signal.signal(signal.SIGTERM, _exit_on_signal)
    answers = _reserve_stdout()

    def write_output(heard: JobOutput) -> None:
        """Write one line of output."""
        answers.write(codec.encode_record(heard) + b'\n')
        answers.flush()

    listener = Listener(
        step=lambda step, done, total: write_output(JobOutput(step=step, done=done, total=total)),
        say=lambda sentence: write_output(JobOutput(sentence=sentence)),
    )
    try:
        write_output(_VERBS[job.verb](job, listener))
    except Fatal as error:
        print(error, file=sys.stderr)
        return FATAL
    except Transient as error:
        print(error, file=sys.stderr)
        return TRANSIENT
    return 0


def _exit_on_signal(number: int, frame: object) -> NoReturn:
    """Exit by an exception, so that sandboxes are closed and their folders are removed."""
    raise SystemExit(128 + number)


def _reserve_stdout() -> IO[bytes]:
    """Return a stream to standard output for answers alone.

    What libraries print to standard output goes to standard error from then on.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), 'wb')
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _mine_repository(job: BatchJob, listener: Listener) -> JobOutput:
    profile = load_profile(job.profile)
    options = MineOptions(
        source=job.source,
        store=parse_root(job.store),
        profile=profile,
        name=job.repo,
        commits=job.commits or profile.commits,
        until=job.until,
        since=job.since,
        ref=job.ref,
        again=job.again,
        pushed=job.pushed,
        reached=job.reached,
        walk=choose_walk(job.walk, job.families, profile),
        families=job.families,
        jobs=job.jobs,
        sandbox=job.sandbox,
        measures=False,
        by_tasks=job.by_tasks,
    )
    report = mine(options, listener)
    store = Store(options.store)
    drops = [drop for each in report.partitions for drop in store.load_walk(each).drops]
    segments = [
        segment for each in report.partitions for segment in store.load_current_segments(each)
    ]
    unmined = (f'{language} was not mined: {why}' for language, why in report.unmined.items())
    return JobOutput(
        mined=MinedRepository(
            repo=report.repo,
            visited=report.visited,
            pairs=report.pairs,
            executed=report.executed,
            reused=report.reused,
            waiting=len(report.failures),
            bugs=len(report.bugs),
            funnel=tuple(build_funnel(drops, segments)),
            warnings=(*report.warnings, *unmined),
        )
    )


def _validate_repository(job: BatchJob, listener: Listener) -> JobOutput:
    validation = validate_repository(
        ValidateOptions(
            source=job.source,
            store=parse_root(job.store),
            name=job.repo,
            sandbox=job.sandbox,
            pushed=job.pushed,
        ),
        listener,
    )
    return JobOutput(validated=validation)


_VERBS: dict[Verb, Callable[[BatchJob, Listener], JobOutput]] = {
    Verb.MINE: _mine_repository,
    Verb.VALIDATE: _validate_repository,
}


if __name__ == '__main__':
    raise SystemExit(main())
