"""Which of its dependencies a test is asked about."""

from __future__ import annotations

import pytest

from coevo.model.dependencies import (
    RESOURCE,
    CoupledBy,
    Dependency,
    DependencyList,
    Revised,
    choose_dependency_list,
    select_called_or_all_dependencies,
)

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
def test_the_dependency_list_holds_called_methods_if_the_test_calls_any(
    dependencies: tuple[Dependency, ...],
    which: DependencyList | None,
    names: tuple[Dependency, ...],
) -> None:
    found = choose_dependency_list(dependencies, CALLED)

    assert found is which
    assert select_called_or_all_dependencies(dependencies, found) == names


def test_a_profile_can_choose_all_executed_dependencies() -> None:
    assert choose_dependency_list((CALLED_METHOD, DEEP), EXECUTED) is EXECUTED
    assert select_called_or_all_dependencies((CALLED_METHOD, DEEP), None) == (CALLED_METHOD, DEEP)
