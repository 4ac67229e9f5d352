"""The family `file` on Maven: files whose type is not `public class`, and what suites gain on a start."""

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
from tests.projects import QUICK, Mined

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

PATH = 'src/test/java/shop/TillTest.java'

# TAM-Eval looks the coverage of a file up by `public class`, and tells 0 % of all others.
TILL = {
    'src/main/java/shop/Till.java': """\
package shop;

public final class Till {
    int price(int count) {
        int each = 10;
        if (count > 10) {
            each = 9;
        }
        int sum = count * each;
        return sum;
    }

    int tax() {
        return 5;
    }

    int unused() {
        return 7;
    }
}

enum Coin {
    ONE, TWO;

    int worth() {
        return ordinal() + 1;
    }
}
"""
}
MANY = 'many: int sum = new Till().price(12);\n        assertEquals(108, sum);'
FEW = 'few: int sum = new Till().price(2);\n        assertEquals(20, sum);'
TAXES = 'taxes: assertEquals(5, new Till().tax());'
UNUSED = 'unused: assertEquals(7, new Till().unused());'
COINS = 'coins: assertEquals(2, Coin.TWO.worth());'


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('files')
    steps: list[Mapping[str, str | bytes | None]] = [
        {
            'pom.xml': projects.pom(),
            **{path: text.replace('int tax', 'int expected_action') for path, text in TILL.items()},
            **projects.junit('TillTest', FEW, TAXES.replace('tax()', 'expected_action()')),
        },
        {**TILL, **projects.junit('TillTest', MANY, FEW, TAXES)},
    ]
    repository = projects.write(folder / 'repository', steps)
    rules = FileRules(least_lines=10)
    profile = replace(QUICK, traces=True, measure_runs=4, files=rules)
    return projects.mined(
        repository,
        folder / 'store',
        walk=Walk.SINGLE_REVISION,
        profile=profile,
        families=(Family.FILE,),
    )


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    publish_release(ReleaseOptions(store=found.store, snapshot=folder))
    assert list(verify_snapshot(folder)) == []
    return folder


def judged(found: Mined, released: Path, start: str, *methods: str) -> SuiteResult:
    sql = 'SELECT task_id FROM tasks WHERE start_builder = ?'
    ((task_id,),) = snapshot.open_snapshots(released).execute(sql, [start]).fetchall()
    (old,) = projects.junit('TillTest', MANY, FEW, TAXES).values()
    (text,) = projects.junit('TillTest', *methods).values()
    patch = make_file_patch(PATH, None if start == 'absent' else old.encode(), text.encode())
    evaluation = evaluate(
        EvaluationOptions(
            snapshot=released,
            predictions=[Prediction(task_id=task_id, patch=patch.encode())],
            clones=found.store,
            cache=found.store.with_name('judged'),
        )
    )
    assert evaluation.bugs == {}
    (row,) = (row for row in evaluation.suites if row.task_id == task_id)
    return row


def test_adequacy_covers_the_whole_file_whatever_types_it_declares(
    found: Mined, released: Path
) -> None:
    sql = 'SELECT start_builder, focus[1].kind, start_adequacy, gold_adequacy FROM tasks ORDER BY 1'
    absent, as_is, injected, older, removed = (
        snapshot.open_snapshots(released).execute(sql).fetchall()
    )
    assert (absent[:3], as_is[:2]) == (('absent', 'file', None), ('as_is', 'file'))
    gold = absent[3]
    assert as_is[2:] == (gold, gold)
    # the lines of `unused` and of the enum are left out
    assert (gold['methods'], gold['covered_methods']) == (4, 2)
    assert gold['covered_lines'] == 7
    assert gold['lines'] > 8
    # of the older tests one calls what is no longer there
    assert (older[2]['tests'], older[2]['passing'], older[2]['covered_methods']) == (2, 1, 1)
    assert older[2]['lines'] == removed[2]['lines'] == gold['lines']
    assert (removed[2]['tests'], removed[2]['passing']) == (2, 2)
    assert injected[2]['lines'] == gold['lines']


def test_a_suite_that_adds_tests_covers_more_than_its_start(found: Mined, released: Path) -> None:
    row = judged(found, released, 'as_is', MANY, FEW, TAXES, UNUSED, COINS)
    assert row.outcome == 'success'
    assert row.adequacy is not None
    assert row.start_adequacy is not None
    assert (row.start_adequacy.covered_methods, row.adequacy.covered_methods) == (2, 4)
    assert row.adequacy.lines == row.start_adequacy.lines == row.adequacy.covered_lines


def test_gold_has_the_same_adequacy_when_graded_as_when_mined(found: Mined, released: Path) -> None:
    row = judged(found, released, 'absent', MANY, FEW, TAXES)
    assert (row.outcome, row.adequacy) == ('success', row.gold_adequacy)
