"""Flow runs over a batch of repositories.

Each repository is a task that is retried after transient failures.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
from prefect import get_run_logger
from prefect.artifacts import (
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed
from prefect.utilities.annotations import quote

from coevo.evaluation.reporting.cells import pluralise
from coevo.model.errors import Transient
from coevo.model.listener import Listener
from coevo.model.reasons import explain_reason
from coevo.storage.place import Root, parse_root
from flows import eligibility
from flows.batches.batch import BatchJob, JobOutcome, JobResult, run_job
from flows.batches.contained import BatchLimits
from flows.live.heartbeat import hold_run_lease_or_raise
from flows.live.reap import GRACE_SECONDS, restart_and_list_dead_runs
from flows.live.trying import make_retried_task
from flows.live.worker_settings import check_tools


def process_repositories(
    repositories: Sequence[str], job: BatchJob, limits: BatchLimits
) -> State[None]:
    """Do the same job for each repository, whatever the result of the others.

    Return a completed state with counts, also if some failed. Each is owner/name, whose address the
    latest crawls give, or a path or URL.
    """
    check_tools(job.sandbox)
    store = parse_root(job.store)
    with hold_run_lease_or_raise(store):
        restart_and_list_dead_runs(
            store, timedelta(seconds=GRACE_SECONDS), get_run_logger().warning
        )
        progress = LiveProgress(len(repositories))
        results = []
        for repository_job in _build_jobs(store, repositories, job):
            results.append(_attempt_job(repository_job, limits, progress))
            progress.finish_repository()
        show_results(results)
    return Completed(message=', '.join(_format_counts(results)))


def _build_jobs(store: Root, repositories: Sequence[str], job: BatchJob) -> Iterator[BatchJob]:
    known = eligibility.index_candidates(store)
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
    """Do the job of one repository, with retries, and return its result.

    If all tries fail transiently, that is a result, and not an error of the run.
    """
    listener = Listener(step=progress.show_pair_step, say=get_run_logger().info)
    named = _run_job_or_raise_transient.with_options(
        task_run_name=job.repository_name.replace('{', '{{').replace('}', '}}')
    )
    state = named(job, limits, quote(listener), return_state=True)
    outcome = state.result(raise_on_failure=False)
    if isinstance(outcome, Transient):
        return JobResult(
            name=job.repository_name, outcome=JobOutcome.TRANSIENT, sentence=str(outcome)
        )
    if isinstance(outcome, BaseException):
        raise outcome
    assert isinstance(outcome, JobResult)
    return outcome


@make_retried_task
def _run_job_or_raise_transient(
    job: BatchJob, limits: BatchLimits, listener: Listener
) -> JobResult:
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


# The rest shows a run in Prefect's UI: the funnel as a table, and the progress.

# Updates are limited, since each is a request to the server and is seldom looked at.
_UPDATE_SECONDS = 5.0


def show_results(results: Iterable[JobResult]) -> None:
    """Show two tables in Prefect's UI: each repository's outcome and counts, and all funnels."""
    results = tuple(results)
    create_table_artifact(list(map(_build_outcome_row, results)), key='repositories')
    stages = list(_list_funnel_rows(results))
    if stages:
        create_table_artifact(stages, key='funnel')


def _build_outcome_row(result: JobResult) -> dict[str, Any]:
    details = result.mined or result.validated
    return {
        'repository': details.repo if details else result.name,
        'outcome': str(result.outcome),
        **_build_count_columns(result),
        'why': result.validated.sentence if result.validated else result.sentence,
        'record': result.failure or '',
    }


def _build_count_columns(result: JobResult) -> dict[str, Any]:
    if result.validated:
        return {'valid': result.validated.reason is None}
    mined = result.mined
    return {
        'pairs': mined.pairs if mined else None,
        'executed now': mined.executed if mined else None,
        'known before': mined.reused if mined else None,
    }


def _list_funnel_rows(results: Iterable[JobResult]) -> Iterator[dict[str, Any]]:
    for mined in (result.mined for result in results if result.mined):
        for step in mined.funnel:
            yield {
                'repository': mined.repo,
                'stage': step.stage,
                'unit': step.stage.unit,
                'entered': step.entered,
                'kept': step.kept_count,
                'dropped': step.entered - step.kept_count,
                'reasons': '; '.join(
                    f'{count}: {explain_reason(reason)}' for reason, count in step.dropped
                ),
            }


class LiveProgress:
    """The progress of a batch: completed repositories, and the share of the current one's pairs."""

    def __init__(self, repositories: int) -> None:
        self._total = repositories
        self._done = 0
        artifact_id = create_progress_artifact(
            0.0, key='progress', description=f'{repositories} repositories'
        )
        assert isinstance(artifact_id, UUID)  # it would be a coroutine only in an async flow
        self._artifact = artifact_id
        self._next = time.monotonic()

    def show_pair_step(self, name: str, done: int, total: int) -> None:
        """Show how many pairs of the current repository are done, at most every few seconds.

        Steps with another name than `pairs` are ignored.
        """
        if name == 'pairs' and time.monotonic() >= self._next:
            self._show_progress(self._done + done / max(total, 1))

    def finish_repository(self) -> None:
        """Count a repository as completed and show the progress."""
        self._done += 1
        self._show_progress(self._done)

    def _show_progress(self, done: float) -> None:
        self._next = time.monotonic() + _UPDATE_SECONDS
        try:
            update_progress_artifact(self._artifact, round(100 * done / self._total, 1))
        except httpx.HTTPError as error:
            # mining must not depend on a server that is away
            get_run_logger().warning('progress could not be shown: %s', type(error).__name__)
