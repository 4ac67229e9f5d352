"""One flow run over a batch of repositories: a task for each, tried again after trouble of ours."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from prefect import get_run_logger
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed
from prefect.utilities.annotations import quote

from coevo.evaluation.reporting.cells import plural
from coevo.model.errors import Transient
from coevo.model.listener import Listener
from coevo.storage.place import Root
from coevo.storage.place import root_of
from flows import candidates
from flows.batches.batch import do
from flows.batches.contained import BatchLimits
from flows.batches.jobs import BatchJob
from flows.batches.jobs import JobOutcome
from flows.batches.jobs import Result
from flows.live.artifacts import LiveProgress
from flows.live.artifacts import show_results
from flows.live.heartbeat import living
from flows.live.reap import GRACE_SECONDS
from flows.live.reap import end_dead_runs
from flows.live.tool_check import check_tools
from flows.live.trying import tried


def work_through(repositories: Sequence[str], job: BatchJob, limits: BatchLimits) -> State[None]:
    """Do the same job for each repository, whatever becomes of the others.

    Each is owner/name, where the latest crawls know it from its place there; or a path or URL.
    """
    check_tools(job.sandbox)
    store = root_of(job.store)
    with living(store):
        end_dead_runs(store, timedelta(seconds=GRACE_SECONDS), get_run_logger().warning)
        progress = LiveProgress(len(repositories))
        results = []
        for one in _jobs(store, repositories, job):
            results.append(_attempt(one, limits, progress))
            progress.next_repository()
        show_results(results)
    return Completed(message=', '.join(_counts(results)))


def _jobs(store: Root, repositories: Sequence[str], job: BatchJob) -> Iterator[BatchJob]:
    known = candidates.known(store)
    job = replace(job, run=str(flow_run.id))
    for words in repositories:
        if words in known:
            found = known[words]
            yield replace(
                job, repo=job.repo or words, source=found.clone_url, pushed=found.pushed_at
            )
        else:
            yield replace(job, source=words)


def _attempt(job: BatchJob, limits: BatchLimits, progress: LiveProgress) -> Result:
    """One repository; that its last try failed, too, is its own affair."""
    listener = Listener(step=progress.step, say=get_run_logger().info)
    named = _do.with_options(task_run_name=job.name.replace('{', '{{').replace('}', '}}'))
    state = named(job, limits, quote(listener), return_state=True)
    found = state.result(raise_on_failure=False)
    if isinstance(found, Transient):
        return Result(name=job.name, outcome=JobOutcome.TRANSIENT, sentence=str(found))
    if isinstance(found, BaseException):
        raise found
    assert isinstance(found, Result)
    return found


@tried
def _do(job: BatchJob, limits: BatchLimits, listener: Listener) -> Result:
    result = do(job, limits, listener)
    if result.outcome is JobOutcome.TRANSIENT:
        raise Transient(result.sentence)
    if result.outcome is not JobOutcome.DONE:
        get_run_logger().warning(
            '%s: %s: %s (%s)', result.name, result.outcome, result.sentence, result.failure
        )
    return result


def _counts(results: Sequence[Result]) -> Iterator[str]:
    for outcome in JobOutcome:
        count = sum(result.outcome is outcome for result in results)
        if count:
            yield f'{count} {outcome}'
    mined = [result.mined for result in results if result.mined]
    if mined:
        yield f'{plural(sum(one.executed for one in mined), "pair")} executed'
    validated = [result.validated for result in results if result.validated]
    if validated:
        yield f'{sum(one.reason is None for one in validated)} valid'
