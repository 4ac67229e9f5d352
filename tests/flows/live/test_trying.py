"""An expected error ends a flow by its sentence alone; a bug keeps its traceback."""

from __future__ import annotations

import inspect
import logging

import pytest
from prefect.exceptions import FailedRun
from prefect.states import Completed

from coevo.model.errors import Fatal, IncompleteMonth, Transient
from flows.batches.batch import Verb
from flows.live.trying import turn_errors_into_failed_states


def work(verb: Verb, error: Exception | None = None) -> object:
    """Do nothing, or fail."""
    if error is not None:
        raise error
    return Completed(message=str(verb))


@pytest.mark.parametrize('kind', [Fatal, Transient, IncompleteMonth])
def test_an_expected_error_becomes_a_failed_state(kind: type[Exception]) -> None:
    words = ('mine them', 'lack') if kind is IncompleteMonth else ('mine them',)
    state = turn_errors_into_failed_states(work)(Verb.MINE, kind(*words))
    assert (state.type, state.message) == ('FAILED', 'mine them')


def test_a_bug_is_raised() -> None:
    with pytest.raises(KeyError):
        turn_errors_into_failed_states(work)(Verb.MINE, KeyError('a bug'))


def test_the_state_of_a_flow_that_succeeds_is_its_own() -> None:
    assert turn_errors_into_failed_states(work)(Verb.MINE).message == 'mine'


def test_parameters_keep_their_types() -> None:
    """Prefect would look for a type's name in the module of the wrapper."""
    parameters = inspect.signature(turn_errors_into_failed_states(work)).parameters
    assert parameters['verb'].annotation is Verb


@pytest.mark.parametrize('name', ['prefect.flow_runs', 'prefect.engine'])
def test_only_the_traceback_of_a_failed_state_is_not_logged(name: str) -> None:
    turn_errors_into_failed_states(work)(Verb.MINE, Fatal('mine them'))
    logger = logging.getLogger(name)

    def is_shown(error: Exception) -> bool:
        """Return whether a line about an error is logged."""
        about = (type(error), error, None)
        record = logger.makeRecord(logger.name, logging.ERROR, __file__, 1, 'line', (), about)
        return bool(logger.filter(record))

    assert not is_shown(FailedRun('mine them'))
    assert is_shown(KeyError('a bug'))
