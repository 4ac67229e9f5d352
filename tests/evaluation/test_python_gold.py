"""Generated Python tests on the old code, of a history that is mined and released for real."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.outcomes import Detail, TaskOutcome
from coevo.evaluation.records import MethodResult, Prediction
from coevo.git.patches import make_file_patch
from coevo.snapshots.verification import verify_snapshot
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.coevo.languages.python.shops import PROJECT
from tests.coevo.snapshots.older_schemas import LAST_OF_2, write_as_schema_2
from tests.projects import mined, write

OLD_TESTS = 'import till\n\n\ndef test_price():\n    assert till.price() == 1\n'
# Nothing but the classes below it runs the mixin.
MIXIN = """

class Taxed:
    def test_tax(self):
        assert till.tax() == self.rate


class TestTaxed(Taxed):
    rate = 2
"""
DATA = 'tests/data/fees.txt'
WITH_DATA = f"""

def test_fee():
    with open('{DATA}') as file:
        assert till.fee() == int(file.read())
"""
HELPERS = 'tests/conftest.py', 'tests/tolls.py'
FIXTURE = """import pytest


@pytest.fixture
def {name}():
    return 4
"""
WITH_HELPERS = """

def test_toll(four):
    import tolls
    assert till.toll() == tolls.twice(four)
"""
# It uses what the pair adds to its tests, and nothing of the code.
WITHOUT_CODE = """

def test_toll(four):
    import tolls
    assert tolls.twice(four) == 8
"""
# On the old code there is no such test.
ASIDE = """

def here(function):
    return function if hasattr(till, 'fee') else None


@here
def test_fee():
    assert till.fee() == 3
"""


def code(**prices: int) -> str:
    return '\n\n'.join(f'def {name}():\n    return {price}\n' for name, price in prices.items())


STEPS: list[Mapping[str, str | bytes | None]] = [
    {
        'pyproject.toml': PROJECT,
        'LICENSE': 'Licensed under the Apache License, Version 2.0\n',
        'till.py': code(price=1),
        'tests/test_till.py': OLD_TESTS,
        HELPERS[0]: FIXTURE.format(name='three'),
    },
    {'till.py': code(price=1, tax=2), 'tests/test_till.py': OLD_TESTS + MIXIN},
    {
        'till.py': code(price=1, tax=2, fee=3),
        'tests/test_till.py': OLD_TESTS + MIXIN + WITH_DATA,
        DATA: '3\n',
    },
    {
        'till.py': code(price=1, tax=2, fee=3, toll=8),
        'tests/test_till.py': OLD_TESTS + MIXIN + WITH_DATA + WITH_HELPERS,
        HELPERS[0]: FIXTURE.format(name='three') + FIXTURE.format(name='four').partition('\n')[2],
        HELPERS[1]: 'def twice(number):\n    return 2 * number\n',
    },
]


pytestmark = pytest.mark.slow


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('gold')
    mined(write(folder / 'repository', STEPS), folder / 'store')
    publish_release(ReleaseOptions(store=folder / 'store', snapshot=folder / 'snapshot'))
    return folder


def judged(folder: Path, predictions: list[Prediction], out: Path) -> dict[str, MethodResult]:
    """By the name of the test."""
    options = EvaluationOptions(
        snapshot=folder / 'snapshot',
        predictions=predictions,
        clones=folder / 'store',
        tasks=frozenset(one.task_id for one in predictions),
        cache=out,
        adequacy=False,
    )
    return {row.test_method: row for row in evaluate(options).rows}


def gold(task: Assignment) -> Prediction:
    return Prediction(task_id=task.task.task_id, patch=task.task.test_patch.encode())


def test_gold_with_a_mixin_new_data_and_new_helpers_succeeds(folder: Path, tmp_path: Path) -> None:
    tasks = load_assignments(folder / 'snapshot')
    rows = judged(folder, [gold(one) for one in tasks], tmp_path)
    found = {name.rpartition('#')[2]: row for name, row in rows.items()}
    assert found.keys() == {'test_tax', 'test_fee', 'test_toll'}
    assert {row.outcome for row in found.values()} == {TaskOutcome.SUCCESS}, found


def test_gold_succeeds_in_a_snapshot_of_schema_2(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / 'old'
    shutil.copytree(folder / 'snapshot', copy / 'snapshot')
    write_as_schema_2(copy / 'snapshot', LAST_OF_2)
    (copy / 'store').symlink_to(folder / 'store')
    assert verify_snapshot(copy / 'snapshot') == []
    rows = judged(copy, [gold(task) for task in load_assignments(copy / 'snapshot')], tmp_path)
    assert {row.outcome for row in rows.values()} == {TaskOutcome.SUCCESS}, rows


def test_generated_test_missing_on_old_code_is_neither_redundant_nor_a_success(
    folder: Path, tmp_path: Path
) -> None:
    (task,) = (
        one
        for one in load_assignments(folder / 'snapshot')
        if '+def test_fee' in one.task.test_patch
    )
    start, text = OLD_TESTS + MIXIN, OLD_TESTS + MIXIN + ASIDE
    patch = make_file_patch('tests/test_till.py', start, text).encode()
    (row,) = judged(folder, [Prediction(task_id=task.task.task_id, patch=patch)], tmp_path).values()
    assert (row.new, row.old) == ('pass', 'missing')
    assert (row.outcome, row.detail) == (TaskOutcome.HRNS_FAIL, Detail.MISSING_ON_OLD)


def test_generated_test_with_new_helpers_and_no_new_code_is_redundant(
    folder: Path, tmp_path: Path
) -> None:
    (task,) = (
        one
        for one in load_assignments(folder / 'snapshot')
        if '+def test_toll' in one.task.test_patch
    )
    start = OLD_TESTS + MIXIN + WITH_DATA
    patch = make_file_patch('tests/test_till.py', start, start + WITHOUT_CODE).encode()
    (row,) = judged(folder, [Prediction(task_id=task.task.task_id, patch=patch)], tmp_path).values()
    assert (row.new, row.old) == ('pass', 'pass')
    assert row.detail is Detail.PASSES_ON_OLD
