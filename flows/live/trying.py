"""End flows by one sentence, and retry their steps after transient failures only.

Without this, Prefect logs an expected error as two tracebacks with fifty lines, and the sentence
that says what to do is lost between them.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.exceptions import FailedRun
from prefect.states import Failed
from prefect.tasks import Task

from coevo.model.errors import Fatal, Transient

# The rest of a batch waits during these delays; longer outages are left to the next run.
DELAYS = [10.0, 60.0]

# Both log the failed state of a flow once more, as an exception with its traceback.
_REPEATING_LOGGERS = ('prefect.flow_runs', 'prefect.engine')

_P = ParamSpec('_P')
_R = TypeVar('_R')


def turn_errors_into_failed_states(function: Callable[_P, _R]) -> Callable[_P, _R | State[Any]]:
    """Return a flow's function whose expected errors give a failed state with their sentence.

    Bugs keep their tracebacks.
    """

    @functools.wraps(function)
    def run(*arguments: _P.args, **named: _P.kwargs) -> _R | State[Any]:
        """Call the function."""
        try:
            return function(*arguments, **named)
        except (Fatal, Transient) as error:
            for name in _REPEATING_LOGGERS:
                logging.getLogger(name).addFilter(_is_no_failed_run_traceback)
            return Failed(message=str(error))

    # Prefect looks up the types of parameters in the module of this wrapper, which lacks them.
    signature = inspect.signature(function, eval_str=True)
    hints = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    vars(run).update(__signature__=signature, __annotations__=hints)
    return run


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


def retry_step(step: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that runs another as a retried task, but for refusals.

    A refusal (Fatal) is raised to the caller alone: the flow fails with its sentence, and no task
    repeats it.
    """

    @functools.wraps(step)
    def attempt(*arguments: _P.args, **named: _P.kwargs) -> _R | Fatal:
        """Call the step; return its refusal instead of raising it."""
        try:
            return step(*arguments, **named)
        except Fatal as error:
            return error

    retried = make_retried_task(attempt)

    @functools.wraps(step)
    def call(*arguments: _P.args, **named: _P.kwargs) -> _R:
        """Run the task, and raise the refusal that it returns."""
        result = retried(*arguments, **named)
        if isinstance(result, Fatal):
            raise result
        return result

    return call


def _is_transient(task: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """Return whether a step failed transiently."""
    return isinstance(state.data, Transient)


def _is_no_failed_run_traceback(record: logging.LogRecord) -> bool:
    """Return whether a line of Prefect's log is not the traceback of a failed state.

    The state itself was logged before.
    """
    return not (record.exc_info and isinstance(record.exc_info[1], FailedRun))
