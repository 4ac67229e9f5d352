"""Each changed method undone alone on the new code, and the gold tests run for real."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.reversals import measure_reversals
from coevo.model.dependencies import Revised
from coevo.model.quality import ReversalRow, ReversalStatus
from coevo.model.words import Outcome
from tests.coevo.measures.shop import gold, opened

pytestmark = pytest.mark.jvm

CHANGES = {
    'price': Revised.MODIFIED,
    'sum': Revised.MODIFIED,
    'tax': Revised.INSERTED,
    'toString': Revised.REMOVED,
}
NAMES = ('strong', 'weak', 'taxes', 'names')
TESTS = [gold(name, **CHANGES) for name in NAMES]


@pytest.fixture(scope='module')
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditedCellRunner]:
    with opened(tmp_path_factory.mktemp('shop')) as runner:
        yield runner


@pytest.fixture(scope='module')
def found(runner: EditedCellRunner) -> dict[tuple[str, str], ReversalRow]:
    rows = measure_reversals(runner, TESTS)
    return {(row.method_id, row.declaration.split('(')[0].split()[-1]): row for row in rows}


def test_every_test_is_run_against_every_undone_declaration(
    found: dict[tuple[str, str], ReversalRow],
) -> None:
    assert sorted(found) == sorted((test, method) for test in NAMES for method in CHANGES)


@pytest.mark.parametrize(
    ('test', 'method', 'status', 'outcome'),
    [
        ('strong', 'price', ReversalStatus.DETECTED, Outcome.FAIL),
        ('weak', 'price', ReversalStatus.UNDETECTED, Outcome.PASS),
        ('taxes', 'price', ReversalStatus.DETECTED, Outcome.FAIL),
        ('taxes', 'tax', ReversalStatus.DETECTED, Outcome.COMPILE_ERROR),
        ('strong', 'tax', ReversalStatus.UNDETECTED, Outcome.PASS),
        ('names', 'toString', ReversalStatus.DETECTED, Outcome.FAIL),
        ('strong', 'toString', ReversalStatus.UNDETECTED, Outcome.PASS),
        ('strong', 'sum', ReversalStatus.DOES_NOT_COMPILE, Outcome.COMPILE_ERROR),
    ],
)
def test_reversal_status_follows_from_the_outcome_of_the_test(
    found: dict[tuple[str, str], ReversalRow],
    test: str,
    method: str,
    status: ReversalStatus,
    outcome: Outcome,
) -> None:
    row = found[test, method]

    assert (row.status, row.outcome) == (status, outcome)
    assert row.revised is CHANGES[method]
    assert (row.signature is None) is (outcome is Outcome.PASS)


def test_reversals_beyond_the_run_limit_are_not_run(
    runner: EditedCellRunner, found: dict[tuple[str, str], ReversalRow]
) -> None:
    rows = measure_reversals(runner, TESTS, 5)

    run = [row for row in rows if row.status is not ReversalStatus.NOT_RUN]
    assert len(rows) == len(found)
    assert len(run) == 5
    assert set(run) < set(found.values())
    assert {row.outcome for row in set(rows) - set(run)} == {None}
