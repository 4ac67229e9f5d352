"""`evaluate`: one flow run for each part of an evaluation; the last one merges their results."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State
from prefect.deployments import run_deployment
from prefect.runtime import flow_run
from prefect.states import Completed

from coevo.display.terminal import strip_secrets_except_aws
from coevo.evaluation.parts import EvaluationPart, merge_result_folders
from coevo.evaluation.reporting.records import Report
from coevo.evaluation.reporting.report import NAME as REPORT
from coevo.model.errors import Fatal
from flows.batches.batch import FATAL
from flows.batches.contained import BatchLimits, run_command
from flows.live.heartbeat import hold_run_lease_or_raise
from flows.live.reap import TAG
from flows.live.run_names import name_flow_run
from flows.live.trying import turn_errors_into_failed_states
from flows.live.worker_settings import load_worker_settings


@flow(name='evaluate', flow_run_name=name_flow_run, persist_result=False)
@turn_errors_into_failed_states
def start_evaluation_parts(
    snapshot: str,
    out: str,
    predictions: str = 'gold',
    parts: int = 4,
    words: list[str] | None = None,
) -> State[None]:
    """Start a run for each part that has no report yet, without waiting for any of them.

    snapshot     a folder or URL that every worker reaches
    out          a folder that every worker reaches; the results and the report of all parts go
                 there
    predictions  as for `coevo evaluate`, also from a folder that every worker reaches
    words        more options of `coevo evaluate`, for example `--only-family file`
    """
    job = _build_job(snapshot, out, predictions, parts, words)
    due = list_ungraded_parts(job)
    with hold_run_lease_or_raise(load_worker_settings().store):
        for number in due:
            run_deployment(
                'evaluate-part/part',
                parameters={
                    'snapshot': snapshot, 'out': out, 'predictions': predictions,
                    'number': number, 'parts': parts, 'words': words,
                },
                timeout=0,
                as_subflow=False,
                tags=[TAG, 'evaluate'],
                idempotency_key=f'{flow_run.id}-{number}',
            )  # fmt: skip
    return Completed(message=f'{len(due)} of {parts} parts are to be judged')


@flow(name='evaluate-part', flow_run_name=name_flow_run, persist_result=False)
@turn_errors_into_failed_states
def evaluate_part(
    snapshot: str,
    out: str,
    predictions: str,
    number: int,
    parts: int,
    words: list[str] | None = None,
    hours: float = 24.0,
    memory_gib: float = 8.0,
) -> State[None]:
    """Grade one part of the tasks, in whole repositories; tasks graded before are not run again."""
    settings = load_worker_settings()
    job = _build_job(snapshot, out, predictions, parts, words)
    here = ('--jobs', str(settings.jobs), '--sandbox', settings.sandbox)
    limits = BatchLimits(seconds=hours * 3600, memory_gib=memory_gib)
    with hold_run_lease_or_raise(settings.store):
        report = grade_part_and_merge_if_last(
            replace(job, words=(*job.words, *here)),
            EvaluationPart(number=number, count=parts),
            limits,
            get_run_logger().info,
        )
    if report is None:
        return Completed(
            message=f'part {number} of {parts}; {len(list_ungraded_parts(job))} are missing'
        )
    return Completed(message=f'part {number} was the last of {parts}; all results are in {out}')


def _build_job(
    snapshot: str, out: str, predictions: str, parts: int, words: list[str] | None
) -> EvaluationJob:
    return EvaluationJob(
        snapshot=snapshot,
        predictions=predictions,
        out=Path(out),
        parts=parts,
        words=tuple(words or ()),
    )


# The rest runs an evaluation in parts: `coevo evaluate --part` for each in a separate process, then
# one merge.
#
#     OUT/parts/1-of-4/   results of a part, as `coevo evaluate` writes them
#     OUT/                results of all parts, once each part has its report
#
# No part waits for the others: the run that completes the last part merges all. If two complete at
# once, both write the same bytes.

_COMMAND = (sys.executable, '-m', 'flows.batches.contained')


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationJob:
    """An evaluation and its number of parts; all paths are folders that every worker reaches.

    snapshot     a folder, a URL or a month, as for `coevo evaluate`
    predictions  a path, or `gold`
    words        more options of `coevo evaluate`
    """

    snapshot: str
    predictions: str
    out: Path
    parts: int
    words: tuple[str, ...] = ()

    def get_part_folder(self, number: int) -> Path:
        """Return the folder of a part's results."""
        return self.out / 'parts' / f'{number}-of-{self.parts}'  # own name: numbers

    @property
    def part_folders(self) -> tuple[Path, ...]:
        """The folders of all parts' results."""
        return tuple(map(self.get_part_folder, range(1, self.parts + 1)))


def list_ungraded_parts(job: EvaluationJob) -> tuple[int, ...]:
    """Return the numbers of the parts that have no report yet."""
    numbers = range(1, job.parts + 1)
    return tuple(
        number for number in numbers if not (job.get_part_folder(number) / REPORT).exists()
    )


def grade_part_and_merge_if_last(
    job: EvaluationJob,
    part: EvaluationPart,
    limits: BatchLimits,
    on_output_line: Callable[[str], None],
) -> Report | None:
    """Grade one part in a separate process, within limits.

    Return the report of all parts if no other part lacks its report, else None.

    Raises: Fatal, with the command's own sentence, if the part cannot be graded.
    """
    words = (
        'evaluate', job.snapshot, job.predictions, '--out', str(job.get_part_folder(part.number)),
        '--part', f'{part.number}/{part.count}', *job.words,
    )  # fmt: skip
    ended = run_command(
        _COMMAND,
        '\0'.join(words).encode() + b'\n',
        limits,
        on_output_line=lambda line: on_output_line(line.decode('utf-8', 'replace').rstrip()),
        should_stop=lambda: False,
        environment=strip_secrets_except_aws(os.environ),
    )
    if ended.stop is not None:
        raise Fatal(f'part {part.number} was ended: it took too much {ended.stop}')
    if ended.status == FATAL:
        raise Fatal(ended.last_line)
    if not (job.get_part_folder(part.number) / REPORT).exists():
        raise Fatal(
            f'part {part.number} ended with status {ended.status} and no report: {ended.last_line}'
        )
    return None if list_ungraded_parts(job) else merge_result_folders(job.part_folders, job.out)
