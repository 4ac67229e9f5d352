"""The families `function` and `module` on Maven and pytest, from two files of code to gold that is judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.records import Prediction
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.families import Family
from coevo.model.profiles import FunctionRules
from coevo.model.words import Walk
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests import projects
from tests.coevo.languages.python.shops import PROJECT
from tests.projects import QUICK

pytestmark = pytest.mark.slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """A project in which a bill asks a tax, with what is expected of the function and of its package.

    body  first and last line of what the function does
    """

    files: Mapping[str, str]
    function: str
    gold: str
    body: tuple[int, int]
    files_of_package: tuple[str, ...]


PYTHON = Specimen(
    files={
        'pyproject.toml': PROJECT,
        'LICENSE': 'Licensed under the Apache License, Version 2.0\n',
        'tax.py': """\
def rate(price,
         most=20):
    if price > 100:
        return most
    return 5
""",
        'bill.py': """\
import tax


def total(price):
    if price < 0:
        return 0
    return price + tax.rate(price)
""",
        'tests/test_tax.py': """\
from tax import rate


def test_high():
    assert rate(101) == 20


def test_low():
    assert rate(100) == 5
""",
        'tests/test_bill.py': """\
from bill import total


def test_adds():
    assert total(10) == 15


def test_owes_nothing():
    assert total(-1) == 0
""",
    },
    function='tax.py#tax.rate()',
    gold='tests/test_tax.py',
    body=(3, 5),
    files_of_package=('bill.py', 'tax.py'),
)

MAIN = 'src/main/java/shop'
JAVA = Specimen(
    files={
        'pom.xml': projects.pom(),
        f'{MAIN}/Tax.java': """\
package shop;

final class Tax {
    static int rate(int price) {
        if (price > 100) {
            return 20;
        }
        return 5;
    }
}
""",
        f'{MAIN}/Bill.java': """\
package shop;

final class Bill {
    int total(int price) {
        return price < 0 ? 0 : price + Tax.rate(price);
    }
}
""",
        **projects.junit(
            'TaxTest',
            'high: assertEquals(20, Tax.rate(101));',
            'low: assertEquals(5, Tax.rate(100));',
        ),
        **projects.junit(
            'BillTest',
            'adds: assertEquals(15, new Bill().total(10));',
            'owesNothing: assertEquals(0, new Bill().total(-1));',
        ),
    },
    function=f'{MAIN}/Tax.java#Tax.rate(int)',
    gold='src/test/java/shop/TaxTest.java',
    body=(5, 9),
    files_of_package=(f'{MAIN}/Bill.java', f'{MAIN}/Tax.java'),
)


@pytest.mark.parametrize(
    'specimen',
    [pytest.param(PYTHON, id='python'), pytest.param(JAVA, id='java', marks=pytest.mark.jvm)],
)
def test_gold_has_the_same_adequacy_when_graded_as_when_mined(
    specimen: Specimen, tmp_path: Path
) -> None:
    store, released = tmp_path / 'store', tmp_path / 'snapshot'
    projects.mined(
        projects.write(tmp_path / 'repository', [specimen.files]),
        store,
        walk=Walk.SINGLE_REVISION,
        profile=replace(
            QUICK, traces=True, measure_runs=6, functions=FunctionRules(least_complexity=2)
        ),
        families=(Family.FUNCTION, Family.MODULE),
    )
    publish_release(ReleaseOptions(store=store, snapshot=released))
    assert list(verify_snapshot(released)) == []
    function, package = judged(store, released, specimen)
    # what declares the function, and runs as its file is loaded, is none of its lines
    assert function.adequacy is not None
    assert (function.adequacy.lines, function.adequacy.covered_lines) == (3, 3)
    assert (function.adequacy.branches, function.adequacy.covered_branches) == (2, 2)
    assert function.reach is not None
    # each test returns from a line of its own
    assert function.reach.unique_lines == 2
    assert package.adequacy is not None
    assert package.adequacy.covered_lines is not None
    assert package.adequacy.lines is not None
    assert 0 < package.adequacy.covered_lines < package.adequacy.lines
    for row in (function, package):
        assert row.outcome == 'success'
        assert row.adequacy == row.gold_adequacy


def judged(store: Path, released: Path, specimen: Specimen) -> tuple[SuiteResult, SuiteResult]:
    """Gold of the function, and of the package."""
    sql = """SELECT unit, task_id, test_file, test_patch, executing_tests, executing_files, complexity,
        [one.file FOR one IN focus], focus[1].start_line, focus[1].end_line
        FROM tasks ORDER BY family"""
    function, package = snapshot.open_snapshots(released).execute(sql).fetchall()
    assert (function[0], function[2]) == (specimen.function, specimen.gold)
    assert function[4:7] == (3, 2, 2)
    assert function[8:] == specimen.body
    assert tuple(package[7]) == specimen.files_of_package
    assert 'ill' in package[2], 'the tests of the bill alone see a call between the files'
    predictions = [Prediction(task_id=row[1], patch=row[3].encode()) for row in (function, package)]
    evaluation = evaluate(
        EvaluationOptions(
            snapshot=released, predictions=predictions, clones=store, cache=store.parent / 'judged'
        )
    )
    assert evaluation.bugs == {}
    by_id = {row.task_id: row for row in evaluation.suites}
    return by_id[function[1]], by_id[package[1]]
