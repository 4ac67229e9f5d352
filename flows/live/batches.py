"""One flow run over a batch of repositories: a task for each, tried again after trouble of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from prefect import get_run_logger
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed
from prefect.utilities.annotations import quote

from coevo.evaluation.reporting.cells import pluralise
from coevo.model.errors import Transient
from coevo.model.listener import Listener
from coevo.storage.place import Root, parse_root
from flows import candidates
from flows.batches.batch import run_job
from flows.batches.contained import BatchLimits
from flows.batches.jobs import BatchJob, JobOutcome, JobResult
from flows.live.artifacts import LiveProgress, show_results
from flows.live.heartbeat import hold_run_lease
from flows.live.reap import GRACE_SECONDS, end_dead_runs
from flows.live.tool_check import check_tools
from flows.live.trying import make_retried_task


def process_repositories(
    repositories: Sequence[str], job: BatchJob, limits: BatchLimits
) -> State[None]:
    """Do the same job for each repository, whatever becomes of the others.

    Each is owner/name, where the latest crawls know it from its place there; or a path or URL.
    """
    check_tools(job.sandbox)
    store = parse_root(job.store)
    with hold_run_lease(store):
        end_dead_runs(store, timedelta(seconds=GRACE_SECONDS), get_run_logger().warning)
        progress = LiveProgress(len(repositories))
        results = []
        for repository_job in _build_jobs(store, repositories, job):
            results.append(_attempt_job(repository_job, limits, progress))
            progress.finish_repository()
        show_results(results)
    return Completed(message=', '.join(_format_counts(results)))


def _build_jobs(store: Root, repositories: Sequence[str], job: BatchJob) -> Iterator[BatchJob]:
    known = candidates.index_candidates(store)
    job = replace(job, run=str(flow_run.id))
    for words in repositories:
        if words in known:
            crawled = known[words]
            yield replace(
                job, repo=job.repo or words, source=crawled.clone_url, pushed=crawled.pushed_at
            )
        else:
            yield replace(job, source=words)


def _attempt_job(job: BatchJob, limits: BatchLimits, progress: LiveProgress) -> JobResult:
    """One repository; that its last try failed, too, is its own affair."""
    listener = Listener(step=progress.show_step, say=get_run_logger().info)
    named = _do.with_options(task_run_name=job.name.replace('{', '{{').replace('}', '}}'))
    state = named(job, limits, quote(listener), return_state=True)
    outcome = state.result(raise_on_failure=False)
    if isinstance(outcome, Transient):
        return JobResult(name=job.name, outcome=JobOutcome.TRANSIENT, sentence=str(outcome))
    if isinstance(outcome, BaseException):
        raise outcome
    assert isinstance(outcome, JobResult)
    return outcome


@make_retried_task
def _do(job: BatchJob, limits: BatchLimits, listener: Listener) -> JobResult:
    result = run_job(job, limits, listener)
    if result.outcome is JobOutcome.TRANSIENT:
        raise Transient(result.sentence)
    if result.outcome is not JobOutcome.DONE:
        get_run_logger().warning(
            '%s: %s: %s (%s)', result.name, result.outcome, result.sentence, result.failure
        )
    return result


def _format_counts(results: Sequence[JobResult]) -> Iterator[str]:
    for outcome in JobOutcome:
        count = sum(result.outcome is outcome for result in results)
        if count:
            yield f'{count} {outcome}'
    mined = [result.mined for result in results if result.mined]
    if mined:
        yield f'{pluralise(sum(mined_repository.executed for mined_repository in mined), "pair")} executed'
    validated = [result.validated for result in results if result.validated]
    if validated:
        yield f'{sum(validation.reason is None for validation in validated)} valid'
