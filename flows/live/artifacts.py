"""What Prefect's UI shows of a run: the funnel as a table, and how far it is."""

from __future__ import annotations

import time
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import httpx
from prefect import get_run_logger
from prefect.artifacts import create_progress_artifact
from prefect.artifacts import create_table_artifact
from prefect.artifacts import update_progress_artifact

from flows.jobs import Result

# Each update is a request to the server, for nobody's eyes most of the time.
_UPDATE_SECONDS = 5.0


def show_results(results: Iterable[Result]) -> None:
    """Two tables: each repository's outcome with its counts, and all funnels."""
    results = tuple(results)
    create_table_artifact(list(map(_outcome, results)), key='repositories')
    create_table_artifact(list(_stages(results)), key='funnel')


def _outcome(result: Result) -> dict[str, Any]:
    answer = result.answer
    return {
        'repository': answer.repo if answer else result.name,
        'outcome': str(result.outcome),
        'pairs': answer.pairs if answer else None,
        'executed now': answer.executed if answer else None,
        'known before': answer.reused if answer else None,
        'why': result.sentence,
        'record': result.failure or '',
    }


def _stages(results: Iterable[Result]) -> Iterator[dict[str, Any]]:
    for answer in (result.answer for result in results if result.answer):
        for row in answer.funnel:
            yield {
                'repository': answer.repo,
                'stage': row.stage,
                'unit': row.unit,
                'entered': row.entered,
                'kept': row.kept,
                'dropped': row.entered - row.kept,
                'reasons': row.reasons,
            }


class Progress:
    """Of a batch: repositories that are done, and the share of the present one's pairs."""

    def __init__(self, repositories: int) -> None:
        self._total = repositories
        self._done = 0
        made = create_progress_artifact(
            0.0, key='progress', description=f'{repositories} repositories'
        )
        assert isinstance(made, UUID)  # a coroutine only where the flow is one
        self._artifact = made
        self._next = time.monotonic()

    def step(self, name: str, done: int, total: int) -> None:
        if name == 'pairs' and time.monotonic() >= self._next:
            self._show(self._done + done / max(total, 1))

    def next_repository(self) -> None:
        self._done += 1
        self._show(self._done)

    def _show(self, done: float) -> None:
        self._next = time.monotonic() + _UPDATE_SECONDS
        try:
            update_progress_artifact(self._artifact, round(100 * done / self._total, 1))
        except httpx.HTTPError as error:
            # what is mined does not wait for a server that is gone
            get_run_logger().warning('progress could not be shown: %s', type(error).__name__)
