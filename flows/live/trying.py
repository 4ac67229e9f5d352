"""Retry steps of flows, after transient failures only, and never from Prefect's cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import Task

from coevo.model.errors import Transient

# The rest of a batch waits during these delays; longer outages are left to the next run.
DELAYS = [10.0, 60.0]


_P = ParamSpec('_P')
_R = TypeVar('_R')


def make_retried_task(step: Callable[_P, _R]) -> Task[_P, _R]:
    """Return a Prefect task that calls a function, and calls it again after transient failures.

    Any other error ends the task at once. Results are never cached.
    """
    return task(
        retries=len(DELAYS),
        retry_delay_seconds=DELAYS,
        retry_condition_fn=_is_transient,
        cache_policy=NO_CACHE,
        persist_result=False,
    )(step)


def _is_transient(task: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """Return whether a step failed transiently."""
    return isinstance(state.data, Transient)
