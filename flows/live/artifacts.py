"""What Prefect's UI shows of a run: the funnel as a table, and how far it is."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

import httpx
from prefect import get_run_logger
from prefect.artifacts import (
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from flows.batches.jobs import JobResult

# Each update is a request to the server, for nobody's eyes most of the time.
_UPDATE_SECONDS = 5.0


def show_results(results: Iterable[JobResult]) -> None:
    """Each repository's outcome with its counts, and all funnels of what was mined."""
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
        for row in mined.funnel:
            yield {
                'repository': mined.repo,
                'stage': row.stage,
                'unit': row.unit,
                'entered': row.entered,
                'kept': row.kept,
                'dropped': row.entered - row.kept,
                'reasons': row.reasons,
            }


class LiveProgress:
    """Of a batch: repositories that are done, and the share of the present one's pairs."""

    def __init__(self, repositories: int) -> None:
        self._total = repositories
        self._done = 0
        artifact_id = create_progress_artifact(
            0.0, key='progress', description=f'{repositories} repositories'
        )
        assert isinstance(artifact_id, UUID)  # a coroutine only where the flow is one
        self._artifact = artifact_id
        self._next = time.monotonic()

    def show_step(self, name: str, done: int, total: int) -> None:
        if name == 'pairs' and time.monotonic() >= self._next:
            self._show_progress(self._done + done / max(total, 1))

    def finish_repository(self) -> None:
        self._done += 1
        self._show_progress(self._done)

    def _show_progress(self, done: float) -> None:
        self._next = time.monotonic() + _UPDATE_SECONDS
        try:
            update_progress_artifact(self._artifact, round(100 * done / self._total, 1))
        except httpx.HTTPError as error:
            # what is mined does not wait for a server that is gone
            get_run_logger().warning('progress could not be shown: %s', type(error).__name__)
