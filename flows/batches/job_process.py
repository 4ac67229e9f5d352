"""`python -m flows.batches.job_process`: do the one job that a line of standard input describes.

A bug, a hang or a lack of memory ends this process and no other. Each line of its output is a
`JobOutput`; its status is that of `coevo mine`, 1 for a bug with its traceback.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import IO
from typing import NoReturn

from coevo.model import codec
from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from coevo.model.listener import Listener
from coevo.model.profiles import load_profile
from coevo.model.reasons import explained
from coevo.storage.place import root_of
from coevo.storage.store import Store
from flows.batches.contained import stop_with_parent
from flows.batches.jobs import FATAL
from flows.batches.jobs import TRANSIENT
from flows.batches.jobs import BatchJob
from flows.batches.jobs import FunnelRow
from flows.batches.jobs import JobOutput
from flows.batches.jobs import MinedBatch
from flows.batches.jobs import Validated
from flows.batches.jobs import Verb
from flows.funnel import FunnelStep
from flows.funnel import funnel
from flows.options import MineOptions
from flows.options import walk_of
from flows.pipeline import mine
from flows.validation import ValidateOptions
from flows.validation import validate


def main() -> int:
    job = codec.decode(BatchJob, sys.stdin.buffer.readline())
    stop_with_parent()
    signal.signal(signal.SIGTERM, _terminate)
    answers = _take_output()

    def say(heard: JobOutput) -> None:
        answers.write(codec.encode(heard) + b'\n')
        answers.flush()

    listener = Listener(
        step=lambda step, done, total: say(JobOutput(step=step, done=done, total=total)),
        say=lambda sentence: say(JobOutput(sentence=sentence)),
    )
    try:
        say(_VERBS[job.verb](job, listener))
    except Fatal as error:
        print(error, file=sys.stderr)
        return FATAL
    except Transient as error:
        print(error, file=sys.stderr)
        return TRANSIENT
    return 0


def _terminate(number: int, frame: object) -> NoReturn:
    """Close sandboxes and remove what they worked in, for which there is some time."""
    raise SystemExit(128 + number)


def _take_output() -> IO[bytes]:
    """Standard output for answers alone: what a library prints goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), 'wb')
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _mine(job: BatchJob, listener: Listener) -> JobOutput:
    profile = load_profile(job.profile)
    options = MineOptions(
        source=job.source,
        store=root_of(job.store),
        profile=profile,
        name=job.repo,
        commits=job.commits or profile.commits,
        until=job.until,
        since=job.since,
        ref=job.ref,
        again=job.again,
        pushed=job.pushed,
        reached=job.reached,
        walk=walk_of(job.walk, job.families, profile),
        families=job.families,
        jobs=job.jobs,
        sandbox=job.sandbox,
    )
    report = mine(options, listener)
    store = Store(options.store)
    drops = [drop for each in report.partitions for drop in store.walk(each).drops]
    segments = [segment for each in report.partitions for segment in store.segments(each)]
    unmined = (f'{language} was not mined: {why}' for language, why in report.unmined.items())
    return JobOutput(
        mined=MinedBatch(
            repo=report.repo,
            visited=report.visited,
            pairs=report.pairs,
            executed=report.executed,
            reused=report.reused,
            waiting=len(report.failures),
            bugs=len(report.bugs),
            funnel=tuple(map(_row, funnel(drops, segments))),
            warnings=(*report.warnings, *unmined),
        )
    )


def _row(step: FunnelStep) -> FunnelRow:
    return FunnelRow(
        stage=step.stage,
        unit=step.stage.unit,
        entered=step.entered,
        kept=step.kept,
        reasons='; '.join(f'{count}: {explained(reason)}' for reason, count in step.dropped),
    )


def _validate(job: BatchJob, listener: Listener) -> JobOutput:
    found = validate(
        ValidateOptions(
            source=job.source,
            store=root_of(job.store),
            name=job.repo,
            sandbox=job.sandbox,
            pushed=job.pushed,
        ),
        listener,
    )
    reason = str(found.reason) if found.reason is not None else None
    return JobOutput(validated=Validated(repo=found.repo, reason=reason, sentence=found.sentence))


_VERBS: dict[Verb, Callable[[BatchJob, Listener], JobOutput]] = {
    Verb.MINE: _mine,
    Verb.VALIDATE: _validate,
}


if __name__ == '__main__':
    raise SystemExit(main())
