"""How steps are tried again: after trouble of ours only, and never from Prefect's cache."""

from __future__ import annotations

from typing import Any

from prefect.client.schemas.objects import State
from prefect.client.schemas.objects import TaskRun
from prefect.tasks import Task

from coevo.errors import Transient

# The rest of a batch waits meanwhile: what takes longer to come back is left for the next run.
DELAYS = [10.0, 60.0]


def transient(task: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """Whether a step failed for trouble of ours."""
    return isinstance(state.data, Transient)
