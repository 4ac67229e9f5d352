"""Each changed method undone alone on the new code, and the gold tests run for real."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from coevo.languages.core.test_runs import PassingTimes
from coevo.measures import edited_cells
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.reversals import measure_reversals
from coevo.model.dependencies import Revised
from coevo.model.quality import ReversalRow, ReversalStatus
from coevo.model.words import Outcome
from tests.coevo.measures.shop import NEW, PATH, gold, opened
from tests.projects import source

pytestmark = pytest.mark.jvm

CHANGES = {
    'price': Revised.MODIFIED,
    'sum': Revised.MODIFIED,
    'tax': Revised.INSERTED,
    'toString': Revised.REMOVED,
}
NAMES = ('strong', 'weak', 'taxes', 'names', 'sums')
TESTS = [gold(name, **CHANGES) for name in NAMES]


@pytest.fixture(scope='module')
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditedCellRunner]:
    with opened(tmp_path_factory.mktemp('shop')) as runner:
        yield runner


@pytest.fixture(scope='module')
def found(runner: EditedCellRunner) -> tuple[ReversalRow, ...]:
    return measure_reversals(runner, TESTS)


def name(row: ReversalRow) -> str:
    return row.declaration.split('(')[0].split()[-1]


@pytest.mark.slow
def test_every_test_is_run_against_every_undone_declaration(
    found: tuple[ReversalRow, ...],
) -> None:
    asked = {(row.method_id, name(row)) for row in found}
    assert asked == {(test, method) for test in NAMES for method in CHANGES}


FAIL, PASS = ('detected', 'fail'), ('undetected', 'pass')


@pytest.mark.parametrize(
    ('test', 'method', 'expected'),
    [
        ('strong', 'price', {'': FAIL}),
        ('weak', 'price', {'': PASS}),
        ('taxes', 'price', {'': FAIL}),
        ('strong', 'tax', {'': PASS}),
        # it calls what was inserted, which so stays and returns plain values, of which one is right
        ('taxes', 'tax', {' { return 0; }': FAIL, ' { return 1; }': PASS}),
        ('names', 'toString', {'': FAIL}),
        ('strong', 'toString', {'': PASS}),
        # the old body calls a method that is gone
        ('sums', 'sum', {' { return 0; }': FAIL, ' { return 1; }': FAIL}),
        ('strong', 'sum', {' { return 0; }': PASS, ' { return 1; }': PASS}),
    ],
)
def test_reversal_status_follows_from_the_outcome_of_the_test(
    found: tuple[ReversalRow, ...],
    test: str,
    method: str,
    expected: dict[str, tuple[str, str]],
) -> None:
    rows = [row for row in found if (row.method_id, name(row)) == (test, method)]

    assert {
        row.declaration.partition(')')[2]: (str(row.status), str(row.outcome)) for row in rows
    } == expected
    assert {row.revised for row in rows} == {CHANGES[method]}
    assert all((row.signature is None) is (row.outcome is Outcome.PASS) for row in rows)


def test_submitted_test_is_run_with_the_selected_versions_alone(
    runner: EditedCellRunner, found: tuple[ReversalRow, ...]
) -> None:
    wanted = {
        (row.file, row.start_line, str(row.revised), row.declaration)
        for row in found
        if row.method_id == 'taxes' and row.declaration.endswith('{ return 0; }')
    }
    rows = measure_reversals(runner, [replace(TESTS[0], undone=frozenset(wanted))])
    assert [(row.declaration, row.status) for row in rows] == [
        (declaration, ReversalStatus.UNDETECTED) for *_, declaration in sorted(wanted)
    ]


def test_reversals_beyond_the_run_limit_are_not_run(
    runner: EditedCellRunner, found: tuple[ReversalRow, ...]
) -> None:
    rows = measure_reversals(runner, TESTS[:2], 4)

    run = [row for row in rows if row.status is not ReversalStatus.NOT_RUN]
    assert {(row.method_id, name(row)) for row in rows} == {
        (test, method) for test in NAMES[:2] for method in CHANGES
    }
    # the first part has as many versions as may be run, so that one test alone has its turn
    assert len(run) == 1
    assert set(run) < set(found)
    assert {row.outcome for row in set(rows) - set(run)} == {None}


@pytest.mark.slow
def test_undone_change_that_never_ends_is_limited_by_the_time_of_the_pass(
    runner: EditedCellRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edited_cells, '_LEAST_CPU_LIMIT', 4.0)
    method = gold('sums').method
    assert runner.run_alone(runner.compile('.'), method, None).outcome is Outcome.PASS
    endless = source('Shop', NEW.replace('return 7;', 'while (true) { }'))[PATH]
    compiled = runner.compile('.', (PATH, endless.encode()))
    spent = runner.cpu_seconds
    assert runner.run_and_confirm(compiled, method).outcome is Outcome.TIMEOUT
    assert runner.cpu_seconds - spent < 30


def test_passing_times_are_known_after_one_run_without_an_edit(runner: EditedCellRunner) -> None:
    fresh = replace(runner, passing=PassingTimes())
    fresh.ensure_passing_times(TESTS)
    assert None not in [fresh.passing.find_slowest_pass(test.method) for test in TESTS]
    spent = fresh.cpu_seconds
    fresh.ensure_passing_times(TESTS)
    assert fresh.cpu_seconds == spent
