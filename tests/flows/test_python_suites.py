"""The families `class` and `file` on Python: classes and modules, from their tests to suites that are judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.records import Prediction
from coevo.evaluation.suites.records import SuiteResult
from coevo.git.patches import make_file_patch
from coevo.model.families import Family
from coevo.model.profiles import FileRules
from coevo.model.words import Walk
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests import projects
from tests.coevo.languages.python.shops import PROJECT
from tests.projects import QUICK, Mined

pytestmark = pytest.mark.slow

PATH = 'tests/test_till.py'
CODE = """\
class Till:
    def __init__(self, each):
        self.each = each

    def price(self, count):
        total = count * self.each
        if count > 10:
            total = total - count
        return total

    def unused(self):
        return 7


def tax(price):
    if price > 100:
        return price // 5
    return 0
"""
HEAD = 'from till import Till\n\n\nclass TestTill:\n'
MANY = '    def test_many(self):\n        assert Till(10).price(12) == 108\n'
FEW = '    def test_few(self):\n        assert Till(10).price(2) == 20\n'
# named after no class, and about a module
BILL = 'def total(prices):\n    found = 0\n    for price in prices:\n        found = found + price\n    return found\n'
BILLS = """\
from bill import total


def test_adds():
    assert total([1, 2]) == 3


def test_of_nothing():
    assert total([]) == 0
"""
# who reaches for memory is not believed, whatever for
REACHING = f'import ctypes\n\n{BILLS}\n\ndef test_sizes():\n    assert ctypes.sizeof(ctypes.c_char) == total([1])\n'
RULES = FileRules(least_lines=3, least_function=3)


def suite(*tests: str) -> str:
    return HEAD + '\n'.join(tests)


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('suites')
    steps: list[Mapping[str, str | bytes | None]] = [
        {
            'pyproject.toml': PROJECT,
            'LICENSE': 'Licensed under the Apache License, Version 2.0\n',
            'till.py': CODE.replace('price(self', 'cost(self'),
            PATH: suite(FEW.replace('price', 'cost')),
        },
        {
            'till.py': CODE,
            PATH: suite(MANY, FEW),
            'bill.py': BILL,
            'tests/test_bill.py': BILLS,
            'bills.py': BILL,
            'tests/test_bills.py': REACHING.replace('from bill ', 'from bills '),
        },
    ]
    return projects.mined(
        projects.write(folder / 'repository', steps),
        folder / 'store',
        walk=Walk.SINGLE_REVISION,
        profile=replace(QUICK, traces=True, observed=True, measure_runs=6, files=RULES),
        families=(Family.CLASS, Family.FILE),
    )


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    publish_release(ReleaseOptions(store=found.store, snapshot=folder))
    assert list(verify_snapshot(folder)) == []
    return folder


def test_a_class_task_focuses_on_the_class_and_a_file_task_on_the_module(released: Path) -> None:
    sql = """SELECT family, start_builder, test_file, focus[1].declaration, focus[1].start_line,
        focus[1].end_line FROM tasks WHERE start_builder = 'absent' ORDER BY ALL"""
    assert snapshot.open_snapshots(released).execute(sql).fetchall() == [
        ('class', 'absent', PATH, 'till.Till', 1, 12),
        ('file', 'absent', 'tests/test_bill.py', 'bill', 1, 5),
        ('file', 'absent', PATH, 'till', 1, 18),
    ]


def test_a_file_whose_passes_the_observer_does_not_confirm_is_no_task(found: Mined) -> None:
    drops = [drop for drop in found.drops if drop.reason == 'pass_not_confirmed']
    assert [(drop.stage, drop.detail) for drop in drops] == [
        ('single_revision', 'interferes test_adds')
    ]


def test_the_older_start_covers_fewer_lines_than_gold(released: Path) -> None:
    sql = """SELECT start_builder, start_adequacy.passing, start_adequacy.covered_lines
        < gold_adequacy.covered_lines FROM tasks WHERE family = 'file' AND test_file = ?
        AND start_builder IN ('older', 'removed') ORDER BY ALL"""
    found = snapshot.open_snapshots(released).execute(sql, [PATH]).fetchall()
    assert ('older', 0, True) in found


def test_an_older_test_start_equal_to_the_older_start_is_dropped(found: Mined) -> None:
    assert 'same_as_older' in {drop.reason for drop in found.drops}


def judged(
    found: Mined, released: Path, start: str, text: str, *, fixes: bool = False
) -> SuiteResult:
    sql = "SELECT task_id FROM tasks WHERE family = 'file' AND start_builder = ? AND test_file = ?"
    ((task_id,),) = snapshot.open_snapshots(released).execute(sql, [start, PATH]).fetchall()
    old = None if start == 'absent' else suite(MANY, FEW)
    patch = make_file_patch(PATH, old, text).encode()
    evaluation = evaluate(
        EvaluationOptions(
            snapshot=released,
            predictions=[Prediction(task_id=task_id, patch=patch)],
            clones=found.store,
            cache=found.store.with_name('judged'),
            fixes=fixes,
        )
    )
    assert evaluation.bugs == {}
    (row,) = (row for row in evaluation.suites if row.task_id == task_id)
    return row


def test_mechanical_errors_are_fixed_if_that_is_asked_and_wrong_values_stay(
    found: Mined, released: Path
) -> None:
    wrong = '    def test_wrong(self):\n        assert Till(10).price(2) == 21\n'
    forgotten = (
        '    def test_tax(self):\n        assert tax(200) == 40\n'
        '\n    def test_little(self):\n        assert tax(20) == 0\n'
    )
    text = suite(FEW, wrong, forgotten).replace('from till ', 'from shop.till ')
    plain, fixed = (judged(found, released, 'absent', text, fixes=fixes) for fixes in (False, True))
    assert (plain.outcome, plain.fixes) == ('cmpl_fail', None)
    assert (fixed.outcome, [test.passes for test in fixed.tests]) == (
        'partly',
        [True, False, True, True],
    )
    assert [(fix.rule, fix.text) for fix in fixed.fixes or ()] == [
        ('import_corrected', 'from till import Till'),
        ('import_added', 'from till import tax'),
    ]
    assert fixed.adequacy is not None
    assert fixed.adequacy.passing == 3


def test_gold_kills_as_many_mutants_when_graded_as_when_mined(found: Mined, released: Path) -> None:
    row = judged(found, released, 'absent', suite(MANY, FEW))
    assert row.outcome == 'success'
    assert [test.smells for test in row.tests] == [('magic_number_test',)] * 2
    assert [(test.assertions, test.lines) for test in row.tests] == [(1, 2), (1, 2)]
    assert row.adequacy is not None
    assert row.gold_adequacy is not None
    assert (row.adequacy.killed, row.adequacy.mutants) == (
        row.gold_adequacy.killed,
        row.gold_adequacy.mutants,
    )
    # Lines that run as the module is loaded are seen from outside, too.
    assert (row.adequacy.covered_lines, row.adequacy.lines) == (10, 14)
    assert row.gold_adequacy.covered_lines == row.adequacy.covered_lines
