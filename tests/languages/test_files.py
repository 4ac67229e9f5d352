"""The family `file` from the test files of a toy to suites that are judged on each start."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.predictions import make_gold_predictions
from coevo.evaluation.records import Prediction
from coevo.evaluation.suites.records import SuiteResult
from coevo.git.patches import make_file_patch
from coevo.model.families import Family
from coevo.model.profiles import FileRules
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.words import Walk
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.store import Store
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.languages import toys
from tests.projects import QUICK, Mined, write

pytestmark = pytest.mark.usefixtures('toy')

CODE = {
    **toys.BUILD,
    **toys.source('Till', 'price: 1', 'tax: 5', 'unused: 7'),
    **toys.source('Shop', 'sells: 1', 'opens: 2'),
    **toys.source('Lamp', 'shines: 1', 'glows: 2', 'burns: 3'),
    **toys.source('Door', 'opens: 1', 'closes: 2'),
    **toys.source('Mat', 'lies: 1'),
}
TILL = ('pays: is Till.price 1', 'taxes: is Till.tax 5', 'rests: skip')
TESTS = {
    **toys.tests('Till', *TILL),
    # all of its class and as much of another one
    **toys.tests('Shop', 'all: is Shop.sells 1 then is Shop.opens 2', 'pays: call Till.price'),
    **toys.tests('Lamp', 'shines: is Lamp.shines 1', 'rests: pass'),
    **toys.tests('Door', 'opens: is Door.opens 1 then is Door.closes 2'),
    **toys.tests('Mat', 'lies: is Mat.lies 1', 'rests: pass'),
}
# What `price` was called, and was worth, when two of its tests were written.
OLDER = {
    **CODE,
    **toys.source('Till', 'cost: 1', 'tax: 5', 'unused: 7'),
    **toys.tests('Till', 'pays: is Till.cost 1', 'taxes: is Till.tax 5'),
}
# The code is that of today, and the test file lacks a test.
SHORTER = {**CODE, **toys.tests('Till', 'pays: is Till.price 1')}
RULES = FileRules(least_lines=3, least_function=1)
PROFILE = replace(QUICK, traces=True, measure_runs=100, files=RULES)


@pytest.fixture(scope='module')
def found(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    """Mined for one family, then for the other."""
    folder = tmp_path_factory.mktemp('files')
    repository = write(folder / 'repository', [OLDER, SHORTER, {**CODE, **TESTS}])
    for family in (Family.CLASS, Family.FILE):
        mined = toys.mined(
            repository,
            folder / 'store',
            walk=Walk.SINGLE_REVISION,
            profile=PROFILE,
            families=(family,),
        )
    return mined


def rows(found: Mined, family: Family) -> dict[tuple[str, str | None], SingleRevisionRow]:
    segments = Store(found.store).load_current_segments(found.report.partitions[0])
    return {
        (row.test_file, row.start_builder): row
        for segment in segments
        for row in segment.single_revision
        if row.family is family
    }


def test_a_file_that_a_family_does_not_take_has_a_drop_reason(found: Mined) -> None:
    def why(family: Family) -> dict[tuple[str, str | None], tuple[str, str]]:
        names = {row.suite_id: place for place, row in rows(found, family).items()}
        drops = [drop for drop in found.drops if drop.key in names]
        return {names[drop.key]: (drop.reason, drop.detail) for drop in drops}

    assert why(Family.FILE) == {
        ('test_shop.toy', 'as_is'): ('nothing_to_add', ''),
        # the test that is taken out executes nothing of its class
        ('test_shop.toy', 'removed'): ('start_no_worse', ''),
        ('test_shop.toy', 'older'): ('no_older_code', ''),
        ('test_shop.toy', 'older_test'): ('no_older_tests', ''),
        ('test_lamp.toy', None): ('low_coverage', '0.33'),
        ('test_door.toy', None): ('too_few_tests', ''),
        ('test_mat.toy', None): ('file_too_short', ''),
    }
    assert why(Family.CLASS) == {}


def test_a_file_suite_is_measured_on_the_whole_code_file(found: Mined) -> None:
    row = rows(found, Family.FILE)['test_till.toy', 'as_is']
    assert [(one.kind, one.start_line, one.end_line) for one in row.focus] == [('file', 1, 4)]
    assert row.adequacy is not None
    assert (row.adequacy.covered_lines, row.adequacy.lines) == (2, 3)
    assert (row.adequacy.killed, row.adequacy.mutants) == (2, 3)
    assert (row.start_adequacy, row.start_patch) == (row.adequacy, '')


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    publish_release(ReleaseOptions(store=found.store, snapshot=folder))
    assert list(verify_snapshot(folder)) == []
    return folder


def test_a_file_gives_one_task_for_each_kind_of_start(released: Path) -> None:
    connection = snapshot.open_snapshots(released)
    sql = """SELECT test_file, family, scenario, start_builder, start_file_sha256 IS NULL,
        start_adequacy.killed, gold_adequacy.killed FROM tasks ORDER BY ALL"""
    found = connection.execute(sql).fetchall()
    assert [row for row in found if row[1] == 'file'] == [
        ('test_shop.toy', 'file', 'create', 'absent', True, None, 2),
        ('test_shop.toy', 'file', 'repair', 'injected', False, 0, 2),
        ('test_till.toy', 'file', 'create', 'absent', True, None, 2),
        ('test_till.toy', 'file', 'create', 'as_is', False, 2, 2),
        ('test_till.toy', 'file', 'create', 'removed', False, 1, 2),
        ('test_till.toy', 'file', 'repair', 'injected', False, 1, 2),
        ('test_till.toy', 'file', 'update', 'older', False, 1, 2),
        ('test_till.toy', 'file', 'update', 'older_test', False, 1, 2),
    ]
    assert len([row for row in found if row[1] == 'class']) == 5
    prompts = dict(
        connection.execute(
            "SELECT start_builder, prompt FROM tasks WHERE family = 'file'"
        ).fetchall()
    )
    assert 'does NOT exist' in prompts['absent']
    assert '- `till.toy`\n' in prompts['as_is']
    assert 'older version' in prompts['older']


def judged(found: Mined, released: Path, start: str, patch: bytes) -> SuiteResult:
    sql = "SELECT task_id FROM tasks WHERE start_builder = ? AND test_file = 'test_till.toy' AND family = 'file'"
    ((task_id,),) = snapshot.open_snapshots(released).execute(sql, [start]).fetchall()
    evaluation = evaluate(
        EvaluationOptions(
            snapshot=released,
            predictions=[Prediction(task_id=task_id, patch=patch)],
            clones=found.store,
            cache=found.store.with_name('judged'),
        )
    )
    assert (evaluation.rows, evaluation.bugs) == ((), {})
    (row,) = (row for row in evaluation.suites if row.task_id == task_id)
    return row


def changed(*lines: str) -> bytes:
    (old,) = toys.tests('Till', *TILL).values()
    (new,) = toys.tests('Till', *lines).values()
    return make_file_patch('test_till.toy', old.encode(), new.encode()).encode()


def test_added_tests_count_beyond_the_adequacy_of_the_start(found: Mined, released: Path) -> None:
    row = judged(found, released, 'as_is', changed(*TILL, 'uses: is Till.unused 7'))
    assert (row.outcome, row.start_builder) == ('success', 'as_is')
    assert row.adequacy is not None
    assert row.start_adequacy is not None
    assert (row.adequacy.killed, row.start_adequacy.killed) == (3, 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ('patch', 'outcome'),
    [
        (b'', 'no_change'),
        (b'diff --git a/test_till.toy b/test_till.toy\n', 'no_change'),
        (changed('errs: is Till.price 3', *TILL), 'partly'),
        (changed(), 'no_tests'),
    ],
    ids=['empty', 'says nothing', 'breaks', 'takes away'],
)
def test_a_patch_of_an_existing_suite_gets_its_expected_outcome(
    found: Mined, released: Path, patch: bytes, outcome: str
) -> None:
    assert judged(found, released, 'as_is', patch).outcome == outcome


def test_gold_gains_its_whole_score_from_an_absent_start_and_nothing_from_as_is(
    found: Mined, released: Path, tmp_path: Path
) -> None:
    patches = {one.task_id: one.patch for one in make_gold_predictions(load_assignments(released))}
    predictions = tmp_path / 'predictions.jsonl'
    predictions.write_text(
        ''.join(
            json.dumps({'task_id': id_, 'patch': (patch or b'').decode()}) + '\n'
            for id_, patch in patches.items()
        )
    )
    out = tmp_path / 'out'
    command = ['evaluate', str(released), str(predictions), '--only-family', 'file', '--jobs', '1']
    assert main([*command, '--store', str(found.store), '--out', str(out)]) == 0
    (family,) = json.loads((out / 'report.json').read_text())['families']
    assert family['outcomes'] == {'no_change': 1, 'success': 7}
    starts = {one['start_builder']: one for one in family['starts']}
    gains = {name: one['mutation']['gain']['value'] for name, one in starts.items()}
    assert gains['older'] == gains['older_test'] == pytest.approx(1 / 3)
    assert gains['injected'] == pytest.approx((1 + 1 / 3) / 2)
    assert gains['removed'] == pytest.approx(1 / 3)
    absent, as_is = starts['absent']['mutation'], starts['as_is']['mutation']
    assert absent['gain']['value'] == absent['gold']['value'] == pytest.approx((1 + 2 / 3) / 2)
    assert (as_is['start']['value'], as_is['gain']['value']) == (pytest.approx(2 / 3), 0.0)
