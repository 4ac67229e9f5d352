"""`evaluate`: one flow run for each part of an evaluation; the last one puts their results together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State
from prefect.deployments import run_deployment
from prefect.runtime import flow_run
from prefect.states import Completed

from coevo.evaluation.parts import EvaluationPart
from flows.batches.contained import BatchLimits
from flows.batches.evaluation_parts import EvaluationJob, grade_part, list_ungraded_parts
from flows.live.heartbeat import hold_run_lease
from flows.live.reap import TAG
from flows.live.worker_settings import load_worker_settings


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
    job = _build_job(snapshot, out, predictions, parts, words)
    due = list_ungraded_parts(job)
    with hold_run_lease(load_worker_settings().store):
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
    settings = load_worker_settings()
    job = _build_job(snapshot, out, predictions, parts, words)
    here = ('--jobs', str(settings.jobs), '--sandbox', settings.sandbox)
    limits = BatchLimits(seconds=hours * 3600, memory_gib=memory_gib)
    with hold_run_lease(settings.store):
        report = grade_part(
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
