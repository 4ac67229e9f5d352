"""The family `class` on Maven: what suites cover, branches included, and what hostile ones come to."""

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
from coevo.model.words import Walk
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests import projects
from tests.projects import QUICK, Mined

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

PATH = 'src/test/java/shop/TillTest.java'

# No other modifier hides a class from its coverage.
TILL = {
    'src/main/java/shop/Till.java': """\
package shop;

final class Till {
    int price(int count) {
        if (count > 10) {
            return count * 9;
        }
        return count * 10;
    }

    int tax() {
        return 5;
    }

    int unused() {
        return 7;
    }
}
"""
}
MANY = 'many: assertEquals(108, new Till().price(12));'
FEW = 'few: assertEquals(20, new Till().price(2));'
# What Surefire would have written of a test that passes.
REPORTS = (
    'reports: java.nio.file.Path folder = java.nio.file.Paths.get("target/surefire-reports"); '
    'java.nio.file.Files.createDirectories(folder); '
    'java.nio.file.Files.write(folder.resolve("TEST-shop.TillTest.xml"), '
    '"<testsuite tests=\\"1\\"/>".getBytes()); fail();'
)
TAXES = 'taxes: assertEquals(5, new Till().tax());'


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('classes')
    steps: list[Mapping[str, str | bytes | None]] = [
        {'pom.xml': projects.pom(), **TILL, **projects.junit('TillTest', MANY, FEW, TAXES)}
    ]
    repository = projects.write(folder / 'repository', steps)
    profile = replace(QUICK, traces=True, measure_runs=8)
    return projects.mined(repository, folder / 'store', walk=Walk.SINGLE_REVISION, profile=profile)


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    publish_release(ReleaseOptions(store=found.store, snapshot=folder))
    assert list(verify_snapshot(folder)) == []
    return folder


def judged(found: Mined, released: Path, *methods: str, after: str = '') -> SuiteResult:
    ((task_id,),) = (
        snapshot.open_snapshots(released).execute('SELECT task_id FROM tasks').fetchall()
    )
    (text,) = projects.junit('TillTest', *methods).values()
    patch = make_file_patch(PATH, None, f'{text}{after}'.encode(), '100644').encode()
    evaluation = evaluate(
        EvaluationOptions(
            snapshot=released,
            predictions=[Prediction(task_id=task_id, patch=patch)],
            clones=found.store,
            cache=found.store.with_name('judged'),
        )
    )
    assert evaluation.bugs == {}
    (row,) = evaluation.suites
    return row


def test_code_that_several_tests_cover_is_counted_once(found: Mined, released: Path) -> None:
    ((gold,),) = (
        snapshot.open_snapshots(released).execute('SELECT gold_adequacy FROM tasks').fetchall()
    )
    # a constructor without a body of its own is no line of a method
    assert (gold['tests'], gold['passing']) == (3, 3)
    assert (gold['methods'], gold['covered_methods']) == (3, 2)
    # each test takes one of the two branches
    assert (gold['branches'], gold['covered_branches']) == (2, 2)
    row = judged(found, released, MANY, FEW, TAXES)
    assert (row.outcome, row.builds) == ('success', True)
    assert row.adequacy is not None
    assert {name: getattr(row.adequacy, name) for name in gold} == gold
    assert [('magic_number_test' in (test.smells or ())) for test in row.tests] == [True] * 3


def test_a_smaller_suite_covers_fewer_branches_and_methods(found: Mined, released: Path) -> None:
    row = judged(found, released, FEW)
    assert row.outcome == 'success'
    assert row.adequacy is not None
    assert row.gold_adequacy is not None
    assert (row.adequacy.branches, row.adequacy.covered_branches) == (2, 1)
    assert (row.adequacy.methods, row.adequacy.covered_methods) == (3, 1)
    assert row.adequacy.mutants == row.gold_adequacy.mutants


def test_a_compiler_error_is_reported_by_its_error_class(found: Mined, released: Path) -> None:
    row = judged(found, released, 'buys: new Till().buy();', 'pays: int paid = "all";')
    assert (row.outcome, row.builds) == ('cmpl_fail', False)
    assert [test.error_class for test in row.tests] == ['cannot_find_symbol', 'types']


@pytest.mark.parametrize(
    ('method', 'after', 'outcome', 'detail'),
    [
        ('exits: System.exit(0);', '', 'exec_fail', 'error'),
        ('assumes: org.junit.Assume.assumeTrue(false);', '', 'no_tests', 'target_disabled'),
        (
            REPORTS,
            '',
            'exec_fail',
            'fail',
        ),
        (
            'replaces: assertEquals(1, new Till().price(1));',
            '\nclass Till { int price(int count) { return 1; } }\n',
            'hrns_fail',
            'production_code',
        ),
    ],
    ids=['ends early with 0', 'passes by an assumption', 'writes a report', 'replaces the class'],
)
def test_hostile_suites_do_not_succeed(
    found: Mined, released: Path, method: str, after: str, outcome: str, detail: str
) -> None:
    row = judged(found, released, method, after=after)
    assert (row.outcome, row.detail) == (outcome, detail)
