"""What submitted tests are worth, measured on real JVMs beside gold's numbers of a real mining."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.evaluation.adequacy import measure
from coevo.evaluation.records import Adequacy
from coevo.evaluation.records import TaskOutcome
from coevo.evaluation.strict import success_strict
from coevo.evaluation.strict import vacuous
from tests.evaluation.till import Till
from tests.evaluation.till import opened
from tests.evaluation.till import submitted

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(900)]

SUCCESS = TaskOutcome.SUCCESS


@pytest.fixture(scope='module')
def till(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Till]:
    with opened(tmp_path_factory.mktemp('till')) as till:
        yield till


def adequacy(till: Till, name: str, body: str | None = None) -> Adequacy:
    content = submitted() if body is None else submitted(**{name: body})
    return measure(till.of(name, content), [f'TillTest#{name}'])[f'TillTest#{name}']


@pytest.mark.parametrize('name', ['prices', 'fees'])
def test_gold_is_worth_what_the_snapshot_says(till: Till, name: str) -> None:
    found = adequacy(till, name)

    assert found.coverage_gold is not None
    assert found.coverage_pred == found.coverage_gold
    assert found.mutants is not None
    assert found.mutants.pred == found.mutants.gold == found.mutants.both > 0
    assert found.reversals is not None
    assert found.reversals.pred == found.reversals.gold == found.reversals.both > 0
    assert found.executes_delta
    assert success_strict(SUCCESS, found) is not False


def test_a_call_without_an_assertion_notices_nothing(till: Till) -> None:
    found = adequacy(till, 'fees', 'new Till().fee(2);')

    assert found.executes_delta
    assert found.coverage_pred == found.coverage_gold
    assert found.mutants is not None
    assert found.mutants.pred == 0 < found.mutants.gold
    assert found.reversals is not None
    assert success_strict(SUCCESS, found) is False


def test_an_assertion_about_nothing_executes_nothing(till: Till) -> None:
    found = adequacy(till, 'prices', 'assertTrue(true);')

    assert found.executes_delta is False
    assert found.coverage_pred is not None
    assert found.coverage_pred.covered_lines == 0
    assert found.mutants is not None
    assert found.mutants.pred == 0
    assert success_strict(SUCCESS, found) is False
    assert vacuous(SUCCESS, found) is True
