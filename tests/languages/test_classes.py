"""The family `class` from the test files of a toy to suites that are judged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.records import Prediction
from coevo.evaluation.results import load_suites
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.words import Walk
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.store import Store
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.languages import toys
from tests.languages.hostile_suites import Place, hostile_suites
from tests.projects import QUICK, Mined, write
from tests.settings_files import settings

pytestmark = pytest.mark.usefixtures('toy')

CODE = {
    **toys.BUILD,
    **toys.source('Till', 'price: 1', 'tax: 5', 'unused: 7'),
    **toys.source('Shop', 'sells: 1', 'opens: 2'),
    **toys.source('Lamp', 'shines: 1'),
}
TESTS = {
    **toys.tests('Till', 'pays: is Till.price 1', 'taxes: is Till.tax 5', 'rests: skip'),
    # of two lines that it executes, one is of the class that it is named after
    **toys.tests('Shop', 'sells: is Shop.sells 1', 'pays: is Till.price 1'),
    **toys.tests('Lamp', 'rests: pass'),
    **toys.tests('Nobody', 'rests: pass'),
}


@pytest.fixture(scope='module')
def found(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('suites')
    repository = write(folder / 'repository', [CODE, TESTS])
    profile = replace(QUICK, traces=True, measure_runs=100)
    return toys.mined(repository, folder / 'store', walk=Walk.SINGLE_REVISION, profile=profile)


def single_revision(found: Mined) -> dict[str, SingleRevisionRow]:
    segments = Store(found.store).load_current_segments(found.report.partitions[0])
    return {row.test_file: row for segment in segments for row in segment.single_revision}


def test_a_test_file_that_is_no_suite_has_a_drop_reason(found: Mined) -> None:
    names = {row.suite_id: path for path, row in single_revision(found).items()}
    assert {names[drop.key]: (drop.reason, drop.detail) for drop in found.drops} == {
        'test_shop.toy': ('no_dominant_class', '0.50'),
        'test_lamp.toy': ('no_evidence', ''),
        'test_nobody.toy': ('no_test_class', ''),
    }


def test_suite_adequacy_counts_what_its_passing_tests_cover_and_kill(found: Mined) -> None:
    row = single_revision(found)['test_till.toy']
    assert (row.tests, row.passing, row.unstable, row.runs) == (3, 2, 0, 3)
    assert [(one.file, one.declaration, one.kind) for one in row.focus] == [
        ('till.toy', 'shop.Till', 'class')
    ]
    assert row.focal_share == 1.0
    assert row.adequacy is not None
    assert (row.adequacy.covered_lines, row.adequacy.lines) == (2, 3)
    assert (row.adequacy.covered_methods, row.adequacy.methods) == (2, 3)
    killed = {one.original.partition(':')[0]: one.killed for one in row.mutants}
    assert killed == {'price': True, 'tax': True, 'unused': False}
    assert (row.adequacy.killed, row.adequacy.mutants) == (2, 3)


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    publish_release(ReleaseOptions(store=found.store, snapshot=folder))
    return folder


def test_a_snapshot_passes_verification_and_has_the_suite_as_a_task(
    found: Mined, released: Path
) -> None:
    assert list(verify_snapshot(released)) == []
    connection = snapshot.open_snapshots(released)
    sql = """SELECT test_file, family, scenario, start_builder, start_file_sha256, track, walk,
        gold_adequacy.killed, focus[1].declaration FROM tasks"""
    assert connection.execute(sql).fetchall() == [
        (
            'test_till.toy',
            'class',
            'create',
            'absent',
            None,
            'generation',
            'single_revision',
            2,
            'shop.Till',
        )
    ]
    ((prompt,),) = connection.execute('SELECT prompt FROM tasks').fetchall()
    assert '`shop.Till` in `till.toy`' in prompt
    assert 'is Till.price' not in prompt


def judged(found: Mined, released: Path, patch: bytes | None) -> SuiteResult:
    ((task_id,),) = (
        snapshot.open_snapshots(released).execute('SELECT task_id FROM tasks').fetchall()
    )
    evaluation = evaluate(
        EvaluationOptions(
            snapshot=released,
            predictions=[Prediction(task_id=task_id, patch=patch)] if patch is not None else [],
            clones=found.store,
            cache=found.store.with_name('judged'),
        )
    )
    assert (evaluation.rows, evaluation.bugs) == ((), {})
    (row,) = evaluation.suites
    return row


PLACE = Place(path='test_till.toy', name='TillTest')
HOSTILE = hostile_suites(PLACE)
suite = PLACE.suite


def test_gold_succeeds_and_kills_the_mutants_recorded_for_gold(
    found: Mined, released: Path
) -> None:
    ((patch,),) = (
        snapshot.open_snapshots(released).execute('SELECT test_patch FROM tasks').fetchall()
    )
    row = judged(found, released, patch.encode())
    assert (row.outcome, row.detail, row.builds) == ('success', None, True)
    assert [(one.test_method, one.passes) for one in row.tests] == [
        ('TillTest#pays', True),
        ('TillTest#taxes', True),
        ('TillTest#rests', False),
    ]
    assert row.adequacy is not None
    assert row.gold_adequacy is not None
    assert (row.adequacy.killed, row.adequacy.mutants) == (2, 3)
    assert (row.gold_adequacy.killed, row.gold_adequacy.mutants) == (2, 3)
    # nobody can see from outside what a toy executes
    assert row.adequacy.lines is None


@pytest.mark.slow
@pytest.mark.parametrize('name', HOSTILE)
def test_a_hostile_suite_gets_its_expected_outcome(found: Mined, released: Path, name: str) -> None:
    patch, outcome, detail = HOSTILE[name]
    row = judged(found, released, patch)
    assert (row.outcome, row.detail) == (outcome, detail)
    if detail in ('too_many_tests', 'too_large'):
        assert (row.tests, row.runtime) == ((), None)


@pytest.mark.slow
def test_the_evaluate_command_reports_the_averages_of_the_suite_and_of_gold(
    found: Mined, released: Path, tmp_path: Path
) -> None:
    predictions = tmp_path / 'predictions.jsonl'
    ((task_id,),) = (
        snapshot.open_snapshots(released).execute('SELECT task_id FROM tasks').fetchall()
    )
    patch = suite('pays: is Till.price 1').decode()
    predictions.write_text(json.dumps({'task_id': task_id, 'patch': patch}) + '\n')
    out = tmp_path / 'out'
    command = ['evaluate', str(released), str(predictions), '--only-family', 'class', '--jobs', '1']
    assert main([*command, '--store', str(found.store), '--out', str(out)]) == 0
    (row,) = load_suites(out)
    assert (row.outcome, row.attempt) == ('success', 1)
    report = json.loads((out / 'report.json').read_text())
    schema = json.loads(Path('coevo/evaluation/reporting/report.schema.json').read_text())
    assert set(report) <= set(schema['properties'])
    (family,) = report['families']
    assert (family['family'], family['tasks'], report['tracks']) == ('class', 1, [])
    assert family['mutation']['over_all']['value'] == pytest.approx(1 / 3)
    assert family['mutation']['gold']['value'] == pytest.approx(2 / 3)
    assert main(['report', 'regrade', str(out)]) == 0
    assert json.loads((out / 'report.json').read_text()) == report


def whole(*lines: str) -> bytes:
    return '\n'.join(['[shop.TillTest]', *lines, '']).encode()


FILES = {
    'one that does': (whole('pays: is Till.price 1'), 'success', None),
    'blank': (b' \n', 'empty', None),
    'no tests': (whole('_helps: is Till.price 1'), 'no_tests', None),
    'no text': (b'\0' + whole('pays: pass'), 'hrns_fail', 'binary'),
    'replaces production code': (
        whole('pays: is Till.price 1', '[shop.Till]', 'price: pass'),
        'hrns_fail',
        'production_code',
    ),
    'too large': (b'#' * (1 << 20) + whole('pays: pass'), 'hrns_fail', 'too_large'),
}


def evaluated(found: Mined, released: Path, *predictions: Prediction) -> tuple[SuiteResult, ...]:
    cache = found.store.with_name('judged')
    options = EvaluationOptions(
        snapshot=released, predictions=predictions, clones=found.store, cache=cache, jobs=1
    )
    evaluation = evaluate(options)
    assert (evaluation.rows, evaluation.bugs) == ((), {})
    return evaluation.suites


@pytest.mark.slow
@pytest.mark.parametrize('name', FILES)
def test_a_whole_file_is_graded_like_a_patch(found: Mined, released: Path, name: str) -> None:
    file, outcome, detail = FILES[name]
    ((task_id,),) = (
        snapshot.open_snapshots(released).execute('SELECT task_id FROM tasks').fetchall()
    )
    (row,) = evaluated(found, released, Prediction(task_id=task_id, patch=None, file=file))
    assert (row.outcome, row.detail) == (outcome, detail)


@pytest.mark.slow
def test_several_attempts_are_graded_separately_and_reported_together(
    found: Mined, released: Path, tmp_path: Path
) -> None:
    """Files that add to each other kill more together; what two attempts hand in alike is run once."""
    ((task_id,),) = (
        snapshot.open_snapshots(released).execute('SELECT task_id FROM tasks').fetchall()
    )
    texts = ('pays: is Till.price 1', 'names: is Till.nothing 1', 'taxes: is Till.tax 5')
    files = [whole(text).decode() for text in (*texts, texts[2])]
    lines = [
        {'task_id': task_id, 'file': file, 'attempt': number, 'protocol': 'diversify', 'seed': 7}
        for number, file in enumerate(files, 1)
    ]
    predictions, out = tmp_path / 'predictions.jsonl', tmp_path / 'out'
    predictions.write_text(''.join(f'{json.dumps(line)}\n' for line in lines))
    command = ['evaluate', str(released), str(predictions), '--jobs', '1', '--out', str(out)]
    command += ['--store', str(found.store), *settings(tmp_path, cache=tmp_path / 'cache')]
    assert main(command) == 0
    rows = load_suites(out)
    assert [(row.attempt, row.seed, row.outcome) for row in rows] == [
        (1, 7, 'success'),
        (2, 7, 'cmpl_fail'),
        (3, 7, 'success'),
        (4, 7, 'success'),
    ]
    # the rows of what was judged once differ in nothing but their number
    assert replace(rows[3], attempt=3) == rows[2]
    (report,) = json.loads((out / 'report.json').read_text())['attempts']
    assert (report['of'], report['protocol'], report['attempts']) == ('class', 'diversify', 4)
    assert [at['solved']['value'] for at in report['at']] == [1, 1, 1, 1]
    assert [at['correct']['value'] for at in report['at']] == pytest.approx([1, 0.5, 2 / 3, 0.75])
    shares = [at['mutation']['value'] for at in report['at']]
    assert shares == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3])
    # nobody can see from outside what a toy executes
    assert {at['lines']['value'] for at in report['at']} == {None}
    assert main([*command, '--only-attempts', '1']) == 0
    assert json.loads((out / 'report.json').read_text())['attempts'] == []
    assert main([*command, '--only-attempts', '0']) == 2
