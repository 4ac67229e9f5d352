"""`evaluate`: one flow run for each part of an evaluation; the last one puts their results together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from prefect import flow
from prefect import get_run_logger
from prefect.client.schemas.objects import State
from prefect.deployments import run_deployment
from prefect.runtime import flow_run
from prefect.states import Completed

from coevo.evaluation.parts import Part
from flows.batches.contained import BatchLimits
from flows.batches.evaluation_parts import EvaluationJob
from flows.batches.evaluation_parts import judge
from flows.batches.evaluation_parts import unjudged
from flows.live.heartbeat import living
from flows.live.reap import TAG
from flows.live.worker_settings import worker_settings


@flow(name='evaluate', persist_result=False)
def evaluate(
    snapshot: str,
    out: str,
    predictions: str = 'gold',
    parts: int = 4,
    words: list[str] | None = None,
) -> State[None]:
    """Start a run for each part that has no report yet; this one waits for none of them.

    snapshot     a folder or URL that every worker reaches
    out          a folder that every worker reaches; results and report of all parts go there
    predictions  as `coevo evaluate` takes them, also from a folder that every worker reaches
    words        more options of `coevo evaluate`, `--no-adequacy` for one
    """
    job = _job(snapshot, out, predictions, parts, words)
    due = unjudged(job)
    with living(worker_settings().store):
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


@flow(name='evaluate-part', persist_result=False)
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
    """Judge one part of the tasks, whole repositories; what it judged before is not run again."""
    place = worker_settings()
    job = _job(snapshot, out, predictions, parts, words)
    here = ('--jobs', str(place.jobs), '--sandbox', place.sandbox)
    limits = BatchLimits(seconds=hours * 3600, memory_gib=memory_gib)
    with living(place.store):
        report = judge(
            replace(job, words=(*job.words, *here)),
            Part(number=number, count=parts),
            limits,
            get_run_logger().info,
        )
    if report is None:
        return Completed(message=f'part {number} of {parts}; {len(unjudged(job))} are missing')
    return Completed(message=f'part {number} was the last of {parts}; all results are in {out}')


def _job(
    snapshot: str, out: str, predictions: str, parts: int, words: list[str] | None
) -> EvaluationJob:
    return EvaluationJob(
        snapshot=snapshot,
        predictions=predictions,
        out=Path(out),
        parts=parts,
        words=tuple(words or ()),
    )
