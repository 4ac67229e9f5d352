"""Which of its dependencies a test is asked about."""

from __future__ import annotations

import pytest

from coevo.model.dependencies import RESOURCE
from coevo.model.dependencies import CoupledBy
from coevo.model.dependencies import Dependency
from coevo.model.dependencies import DependencyList
from coevo.model.dependencies import Revised
from coevo.model.dependency_lists import list_for
from coevo.model.dependency_lists import listed

CALLED, EXECUTED = DependencyList.CALLED, DependencyList.EXECUTED


def dependency(name: str, by: CoupledBy | None) -> Dependency:
    return Dependency(
        name=name,
        declaration=RESOURCE if '/' in name else name,
        file='A.java',
        start_line=1,
        end_line=2,
        revised=Revised.MODIFIED,
        coupled_by=by,
        rank=1,
    )


CALLED_METHOD = dependency('p.A#m()', CoupledBy.CALL)
HELPED = dependency('p.A#n()', CoupledBy.HELPER)
DEEP = dependency('p.A#o()', CoupledBy.EXECUTION)
NAMED_TYPE = dependency('p.A', CoupledBy.CALL)
FILE = dependency('main/resources/a.txt', CoupledBy.EXECUTION)


@pytest.mark.parametrize(
    ('dependencies', 'which', 'names'),
    [
        pytest.param((), None, (), id='nothing'),
        pytest.param(
            (CALLED_METHOD, HELPED, DEEP), CALLED, (CALLED_METHOD,), id='what the test calls'
        ),
        pytest.param((HELPED, DEEP), EXECUTED, (HELPED, DEEP), id='it calls none of it'),
        pytest.param(
            (NAMED_TYPE, DEEP), EXECUTED, (NAMED_TYPE, DEEP), id='it calls no method of it'
        ),
        pytest.param((NAMED_TYPE, FILE), CALLED, (NAMED_TYPE,), id='there is no method'),
        pytest.param((FILE,), EXECUTED, (FILE,), id='a resource alone'),
    ],
)
def test_a_test_is_asked_about_what_it_calls_if_it_calls_any(
    dependencies: tuple[Dependency, ...],
    which: DependencyList | None,
    names: tuple[Dependency, ...],
) -> None:
    found = list_for(dependencies, CALLED)

    assert found is which
    assert listed(dependencies, found) == names


def test_a_profile_may_want_all_that_is_executed() -> None:
    assert list_for((CALLED_METHOD, DEEP), EXECUTED) is EXECUTED
    assert listed((CALLED_METHOD, DEEP), None) == (CALLED_METHOD, DEEP)
