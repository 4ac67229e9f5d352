"""The family `implement` from the history of a toy to agents whose faults are known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from coevo.command.main import main
from coevo.evaluation.checkout import check_out
from coevo.evaluation.results import load_suites
from coevo.evaluation.suites.records import SuiteResult
from coevo.exports.harbor import grading
from coevo.exports.harbor.grading import make_folder_patch
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from tests.languages import toys
from tests.projects import QUICK, Mined, write
from tests.settings_files import settings

pytestmark = pytest.mark.usefixtures('toy')

TARGETS = ('rings: call Till.price then is Till.bell 9', 'opens: is Till.door 4')
KEPT = ('taxes: is Till.tax 5', 'fees: is Till.fee 6')

OLD = {
    **toys.BUILD,
    **toys.source('Till', 'price: 1', 'tax: 5', 'fee: 6'),
    **toys.tests('Till', *KEPT),
    **toys.tests('Bell', 'rests: pass'),
    # A checkout writes this file with other line ends than its blob has.
    **toys.source('Rates', 'low: 1'),
    '.gitattributes': 'rates.toy eol=crlf\n',
}
NEW = {
    **toys.source('Till', 'price: 1', 'tax: 5', 'fee: 6', 'bell: 9', 'door: 4'),
    **toys.tests('Till', *KEPT, *TARGETS),
    **toys.tests('Bell', 'rests: pass', 'sounds: is Till.bell 9'),
}


@pytest.fixture(scope='module')
def found(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('implement')
    repository = write(folder / 'repository', [OLD, NEW])
    return toys.mined(repository, folder / 'store', profile=QUICK)


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    words = ['release', '--store', str(found.store), '--snapshot', str(folder)]
    assert main([*words, '--family', 'implement']) == 0
    assert list(verify_snapshot(folder)) == []
    return folder


def find_task(released: Path, test_file: str = 'test_till.toy') -> str:
    sql = "SELECT task_id FROM tasks WHERE family = 'implement' AND test_file = ?"
    ((task_id,),) = snapshot.open_snapshots(released).execute(sql, [test_file]).fetchall()
    return str(task_id)


def test_a_task_names_its_targets_and_the_siblings_that_are_not_shown(released: Path) -> None:
    sql = """SELECT test_file, one.test_method, one.role FROM
        (SELECT test_file, unnest(demanded) AS one FROM tasks WHERE family = 'implement')
        ORDER BY ALL"""
    told = snapshot.open_snapshots(released).execute(sql).fetchall()
    assert told == [
        ('test_bell.toy', 'BellTest#sounds', 'target'),
        # the test of the door needs what the visible test does not show
        ('test_bell.toy', 'TillTest#rings', 'sibling'),
        ('test_till.toy', 'BellTest#sounds', 'sibling'),
        ('test_till.toy', 'TillTest#opens', 'target'),
        ('test_till.toy', 'TillTest#rings', 'target'),
    ]


def test_targets_of_another_track_in_the_same_file_are_no_siblings(tmp_path: Path) -> None:
    old = {
        **toys.BUILD,
        **toys.source('Till', 'price: 1'),
        **toys.tests('Till', 'costs: is Till.price 1'),
    }
    new = {
        **toys.source('Till', 'price: 1', 'tax: 5', 'bell: 9'),
        **toys.tests('Till', 'costs: is Till.price 1 then is Till.tax 5', 'rings: is Till.bell 9'),
    }
    repository = write(tmp_path / 'repository', [old, new])
    toys.mined(repository, tmp_path / 'store', profile=QUICK)
    words = ['release', '--store', str(tmp_path / 'store'), '--family', 'implement']
    assert main([*words, '--snapshot', str(tmp_path / 'snapshot')]) == 0
    opened = snapshot.open_snapshots(tmp_path / 'snapshot')
    sql = "SELECT track FROM tasks WHERE family <> 'implement' ORDER BY ALL"
    assert opened.sql(sql).fetchall() == [('extension',), ('generation',)]
    sql = """SELECT one.test_method, one.role FROM
        (SELECT unnest(demanded) AS one FROM tasks WHERE family = 'implement') ORDER BY ALL"""
    assert opened.sql(sql).fetchall() == [
        ('TillTest#costs', 'target'),
        ('TillTest#rings', 'target'),
    ]


def test_the_start_state_has_the_new_tests_and_the_old_code(
    found: Mined, released: Path, tmp_path: Path
) -> None:
    check_out(released, find_task(released), tmp_path / 'start', found.store)
    texts = {path.name: path.read_text() for path in (tmp_path / 'start').glob('*.toy')}
    assert texts['till.toy'] == OLD['till.toy']
    assert texts['test_till.toy'] == NEW['test_till.toy']
    assert texts['test_bell.toy'] == OLD['test_bell.toy']


def test_the_patch_of_a_folder_holds_its_code_alone(
    found: Mined, released: Path, tmp_path: Path
) -> None:
    task_id, folder = find_task(released), tmp_path / 'start'
    check_out(released, task_id, folder, found.store)
    (folder / 'till.toy').write_text(NEW['till.toy'])
    (folder / 'test_till.toy').write_text('[shop.TillTest]\nrings: pass\n')
    (folder / 'bell.toy').symlink_to('/etc/passwd')
    assert b'\r\n' in (folder / 'rates.toy').read_bytes()
    made = make_folder_patch(folder, str(released), found.store, task_id).decode()
    assert made.startswith('diff --git a/till.toy b/till.toy\n')
    assert made.count('diff --git') == 1
    assert '+bell: 9\n' in made


def test_code_beyond_the_file_limit_stays_as_it_is_at_the_start(
    found: Mined, released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id, folder = find_task(released), tmp_path / 'start'
    check_out(released, task_id, folder, found.store)
    monkeypatch.setattr(grading, '_MOST_FILES', 1)
    assert make_folder_patch(folder, str(released), found.store, task_id) == b''


def test_the_prompt_asks_for_code_and_names_the_tests(released: Path) -> None:
    sql = 'SELECT prompt FROM tasks WHERE task_id = ?'
    ((prompt,),) = snapshot.open_snapshots(released).execute(sql, [find_task(released)]).fetchall()
    assert '- TillTest#rings' in prompt
    assert 'Do NOT modify tests' in prompt
    assert 'sounds' not in prompt


def patch(path: str, old: Mapping[str, str], new: str) -> str:
    before, after = old[path].splitlines(), new.splitlines()
    lines = [f'-{line}' for line in before] + [f'+{line}' for line in after]
    head = f'--- a/{path}\n+++ b/{path}\n@@ -1,{len(before)} +1,{len(after)} @@\n'
    return head + ''.join(f'{line}\n' for line in lines)


def till(*lines: str) -> str:
    (text,) = toys.source('Till', *lines).values()
    return patch('till.toy', OLD, text)


WHOLE = till('price: 1', 'tax: 5', 'fee: 6', 'door: 4', 'bell: 9')
AGENTS = {
    'empty': '',
    'same': till('price: 1', 'tax: 5', 'fee: 6'),
    'whole': WHOLE,
    'half': till('price: 1', 'tax: 5', 'fee: 6', 'bell: 9'),
    'breaks': till('price: 1', 'tax: 7', 'fee: 6', 'door: 4', 'bell: 9'),
    'builds': WHOLE + patch('toy.build', OLD, 'build: false\n'),
    'tests': patch('test_till.toy', NEW, '[shop.TillTest]\nrings: pass\nopens: pass\n'),
    'escapes': '--- /dev/null\n+++ b/../till.toy\n@@ -0,0 +1 @@\n+[shop.Till]\n',
    'confused': 'I would not change it.',
}
"""Each is an attempt of its own, so that all are judged in one evaluation."""


@pytest.fixture(scope='module')
def rows(
    found: Mined, released: Path, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, SuiteResult]:
    folder = tmp_path_factory.mktemp('agents')
    task_id = find_task(released)
    lines = [
        {'task_id': task_id, 'attempt': number, 'patch': answer}
        for number, answer in enumerate(AGENTS.values(), start=1)
    ]
    predictions = folder / 'agents.jsonl'
    predictions.write_text(''.join(json.dumps(line) + '\n' for line in lines))
    evaluate(found, released, folder / 'out', str(predictions), '--only-tasks', task_id)
    return dict(zip(AGENTS, load_suites(folder / 'out'), strict=True))


def evaluate(found: Mined, released: Path, out: Path, predictions: str, *more: str) -> None:
    words = ['evaluate', str(released), predictions, '--only-family', 'implement', *more]
    out.mkdir(exist_ok=True)
    words += settings(out, leaking=True)
    places = ['--clones', str(found.store), '--out', str(out), '--jobs', '1']
    assert main([*words, *places]) == 0


def test_gold_succeeds_and_the_report_says_what_holds_beyond_the_targets(
    found: Mined, released: Path, tmp_path: Path
) -> None:
    evaluate(found, released, tmp_path / 'out', 'gold')
    rows = load_suites(tmp_path / 'out')
    assert [(row.outcome, row.success_strict) for row in rows] == [('success', True)] * 2
    report = json.loads((tmp_path / 'out' / 'report.json').read_text())
    schema = files('coevo.evaluation.reporting').joinpath('report.schema.json').read_bytes()
    jsonschema.validate(report, json.loads(schema), cls=jsonschema.Draft202012Validator)
    told = report['families'][0]['implement']
    assert (told['strict']['value'], told['strict']['units']) == (1.0, 2)
    assert (told['siblings']['value'], told['siblings']['units']) == (1.0, 2)
    assert told['kept']['units'] > 2


@pytest.mark.parametrize(
    ('name', 'outcome', 'detail'),
    [
        ('empty', 'no_change', None),
        ('same', 'no_change', None),
        ('whole', 'success', None),
        ('half', 'partly', 'compile_error'),
        ('breaks', 'regression', 'fail'),
        ('tests', 'hrns_fail', 'no_code'),
        ('escapes', 'hrns_fail', 'malformed'),
        ('confused', 'hrns_fail', 'malformed'),
    ],
)
def test_submitted_code_has_one_outcome(
    rows: Mapping[str, SuiteResult], name: str, outcome: str, detail: str | None
) -> None:
    assert (rows[name].outcome, rows[name].detail) == (outcome, detail)
    assert rows[name].success_strict is (name == 'whole')


def test_a_change_of_a_build_file_has_no_effect(rows: Mapping[str, SuiteResult]) -> None:
    assert rows['builds'].outcome == 'success'
    assert rows['builds'].said == 'without effect, since it is no file of the code: toy.build'


def test_tests_that_are_not_shown_run_where_the_others_hold(
    rows: Mapping[str, SuiteResult],
) -> None:
    roles = {name: {test.role for test in row.demanded or ()} for name, row in rows.items()}
    assert roles['whole'] >= {'kept', 'sibling', 'variant'}
    assert roles['breaks'] == {'kept'}
    assert roles['half'] == set()
