"""The family `maintenance` from the history of a toy to agents whose faults are known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from coevo.command.main import main
from coevo.evaluation.reporting.records import MaintenanceReport
from coevo.evaluation.reporting.report import make_report
from coevo.evaluation.results import load_suites
from coevo.evaluation.suites.records import SuiteResult
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from tests.languages import toys
from tests.projects import QUICK, Mined, write
from tests.settings_files import settings

pytestmark = pytest.mark.usefixtures('toy')

PATH = 'test_till.toy'
UPDATED = 'follows: is Till.price 2'
KEPT = (
    'taxes: call Till.price then is Till.tax 5',
    'fees: call Till.price then is Till.fee 6',
    'helps: use _five',
)
POLISHED = 'shines: call Till.price then is Till.fee 6'
HELPER = '_five: call Till.price then is Till.tax 5'
ADDED = 'rings: is Till.bell 9'
OTHER = 'rests: pass'  # which no label is about

OLD = {
    **toys.BUILD,
    **toys.source('Till', 'price: 1', 'tax: 5', 'fee: 6', 'gone: 3'),
    **toys.tests(
        'Till',
        'follows: is Till.price 1',
        *KEPT,
        'shines: call Till.price then call Till.tax then is Till.fee 6',
        'leaves: is Till.gone 3',
        OTHER,
        HELPER,
    ),
    # nothing of it has to stay
    **toys.source('Lamp', 'shines: 1'),
    **toys.tests('Lamp', 'follows: is Lamp.shines 1'),
}
GOLD = (UPDATED, *KEPT, POLISHED, OTHER, HELPER, ADDED)
NEW = {
    **toys.source('Till', 'price: 2', 'tax: 5', 'fee: 6', 'bell: 9'),
    **toys.tests('Till', *GOLD),
    **toys.source('Lamp', 'shines: 2'),
    **toys.tests('Lamp', 'follows: is Lamp.shines 2'),
}
WEAK = (
    'taxes: call Till.price then call Till.tax',
    'fees: call Till.price then call Till.fee',
    'helps: call Till.price then call Till.tax',
)
STRONG = tuple(one.replace('call Till.price', 'call Till.tax then call Till.price') for one in KEPT)


@pytest.fixture(scope='module')
def found(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('maintenance')
    repository = write(folder / 'repository', [OLD, NEW])
    return toys.mined(repository, folder / 'store', profile=QUICK)


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    words = ['release', '--store', str(found.store), '--snapshot', str(folder)]
    assert main([*words, '--family', 'maintenance']) == 0
    assert list(verify_snapshot(folder)) == []
    return folder


def test_the_label_of_a_test_decides_its_expected_action(released: Path) -> None:
    sql = """SELECT one.old_method, one.new_method, one.label, one.expected_action FROM
        (SELECT unnest(maintained) AS one FROM tasks WHERE family = 'maintenance')"""
    told = {
        (old or new).partition('#')[2]: (old is not None, new is not None, label, expected_action)
        for old, new, label, expected_action in snapshot.open_snapshots(released)
        .execute(sql)
        .fetchall()
    }
    assert told == {
        'follows': (True, True, 'update', 'update'),
        'taxes': (True, True, 'unaffected', 'keep'),
        'fees': (True, True, 'unaffected', 'keep'),
        'helps': (True, True, 'unaffected', 'keep'),
        'shines': (True, True, 'refinement', 'refine'),
        'leaves': (True, False, 'obsolete', 'remove'),
        'rings': (False, True, 'generation', 'add'),
        'rests': (True, True, None, 'keep'),
    }


def test_a_test_file_with_no_test_to_keep_is_no_task(released: Path) -> None:
    connection = snapshot.open_snapshots(released)
    sql = "SELECT test_file, reason FROM drops WHERE stage = 'task'"
    assert connection.execute(sql).fetchall() == [('test_lamp.toy', 'nothing_to_keep')]
    sql = 'SELECT count(*) FROM standard_tasks WHERE family <> $1'
    assert connection.execute(sql, ['coevolution']).fetchone() == (0,)


def test_the_prompt_names_the_changed_code_but_not_the_broken_tests(released: Path) -> None:
    sql = "SELECT prompt FROM tasks WHERE family = 'maintenance'"
    ((prompt,),) = snapshot.open_snapshots(released).execute(sql).fetchall()
    assert '- modified `price` in `till.toy`' in prompt
    assert 'follows' not in prompt
    assert 'Leave all other tests of the file as they are' in prompt


def test_a_snapshot_has_maintenance_tasks_only_on_request(found: Mined, tmp_path: Path) -> None:
    words = ['release', '--store', str(found.store), '--snapshot', str(tmp_path / 'plain')]
    assert main(words) == 0
    sql = 'SELECT DISTINCT family FROM tasks'
    assert snapshot.open_snapshots(tmp_path / 'plain').execute(sql).fetchall() == [('coevolution',)]


@pytest.mark.parametrize(
    ('verb', 'said'),
    [
        (
            ['release', '--snapshot', 'none'],
            "a family is maintenance or implement, and not 'class'",
        ),
        (['mine', 'somewhere'], 'coevo release --family maintenance'),
    ],
)
def test_a_family_option_is_refused_by_the_command_that_does_not_make_it(
    verb: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    family = 'class' if verb[0] == 'release' else 'maintenance'
    assert main([*verb, '--family', family]) == 2
    assert said in capsys.readouterr().err


def file(*lines: str) -> dict[str, str]:
    (text,) = toys.tests('Till', *lines).values()
    return {'file': text}


AGENTS: Mapping[str, Mapping[str, str]] = {
    'idle': {'patch': ''},
    'copies': {'file': OLD[PATH]},
    'confused': {'patch': 'I would not change it.'},
    'deletes': file(UPDATED),
    'weakens': file(UPDATED, *WEAK, POLISHED, OTHER, HELPER),
    'rewrites': file(UPDATED, *STRONG, POLISHED, OTHER, HELPER),
    'empties': file(UPDATED, *KEPT, POLISHED, OTHER, '_five: call Till.price'),
    'formats': file(
        *(UPDATED, *(f'# {one}\n{one.replace(" then ", "  then  ")}' for one in KEPT)),
        *(POLISHED, OTHER, HELPER),
    ),
    'renames': file(
        UPDATED, KEPT[0].replace('taxes', 'levies'), *KEPT[1:], POLISHED, OTHER, HELPER
    ),
    'breaks': file(
        *('follows: is Till.price 7', 'taxes: call Till.price then is Till.tax 4', *KEPT[1:]),
        *(POLISHED, 'leaves: is Till.fee 6', OTHER, HELPER),
    ),
    'garbles': {'file': 'nothing of it is toy\n'},
    'empty': {'file': '\n'},
}
"""Each is an attempt of its own, so that all are judged in one evaluation."""


@pytest.fixture(scope='module')
def rows(
    found: Mined, released: Path, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, SuiteResult]:
    folder = tmp_path_factory.mktemp('agents')
    sql = "SELECT task_id FROM tasks WHERE family = 'maintenance'"
    ((task_id,),) = snapshot.open_snapshots(released).execute(sql).fetchall()
    lines = [
        {'task_id': task_id, 'attempt': number, **answer}
        for number, answer in enumerate(AGENTS.values(), start=1)
    ]
    predictions = folder / 'agents.jsonl'
    predictions.write_text(''.join(json.dumps(line) + '\n' for line in lines))
    evaluate(found, released, folder / 'out', str(predictions))
    return dict(zip(AGENTS, load_suites(folder / 'out'), strict=True))


def evaluate(found: Mined, released: Path, out: Path, predictions: str) -> None:
    words = ['evaluate', str(released), predictions, '--only-family', 'maintenance']
    out.mkdir(exist_ok=True)
    words += settings(out, leaking=True)
    places = ['--store', str(found.store), '--out', str(out), '--jobs', '1']
    assert main([*words, *places]) == 0


def outcomes(row: SuiteResult) -> dict[str, str]:
    return {
        (one.old_method or one.new_method or '').partition('#')[2]: str(one.outcome)
        for one in row.maintained or ()
    }


def summarise(row: SuiteResult) -> MaintenanceReport:
    (family,) = make_report((), [replace(row, attempt=1)]).families
    assert family.maintenance is not None
    return family.maintenance


def counts(row: SuiteResult) -> dict[str, tuple[float | None, int]]:
    found = summarise(row)
    rates = {
        'missed_updates': found.missed_updates,
        'false_edits': found.false_edits,
        'harmed': found.harmed,
        'missed_deletions': found.missed_deletions,
        'additions': found.additions,
    }
    return {name: (rate.value, rate.units) for name, rate in rates.items()}


def expected(
    missed: float, false: float, harmed: float, remains: float, added: float
) -> dict[str, tuple[float, int]]:
    """Of one update, four tests that stay as they are, one that may be rewritten, one to delete, one
    to add."""
    return {
        'missed_updates': (missed, 1),
        'false_edits': (false, 4),
        'harmed': (harmed, 5),
        'missed_deletions': (remains, 1),
        'additions': (added, 1),
    }


Rows = Mapping[str, SuiteResult]


def test_gold_performs_every_expected_action(found: Mined, released: Path, tmp_path: Path) -> None:
    evaluate(found, released, tmp_path / 'out', 'gold')
    (row,) = load_suites(tmp_path / 'out')
    assert row.outcome == 'success'
    assert outcomes(row) == {
        'follows': 'updated',
        'taxes': 'kept',
        'fees': 'kept',
        'helps': 'kept',
        'shines': 'edited',
        'leaves': 'deleted_rightly',
        'rings': 'added',
        'rests': 'kept',
    }
    assert counts(row) == expected(0.0, 0.0, 0.0, 0.0, 1.0)
    report = json.loads((tmp_path / 'out' / 'report.json').read_text())
    schema = files('coevo.evaluation.reporting').joinpath('report.schema.json').read_bytes()
    jsonschema.validate(report, json.loads(schema), cls=jsonschema.Draft202012Validator)
    told = report['families'][0]['maintenance']
    assert (told['done']['value'], told['done']['units']) == (1.0, 1)
    assert (told['unknown'], told['strength_unknown']) == (0, 0)
    assert (told['false_edits']['value'], told['false_edits']['units']) == (0.0, 4)
    assert told['outcomes']['update updated'] == 1


@pytest.mark.parametrize(
    ('name', 'outcome'),
    [('idle', 'no_change'), ('copies', 'no_change'), ('confused', 'hrns_fail')],
)
def test_a_submission_without_edits_misses_every_action_and_harms_no_test(
    rows: Rows, name: str, outcome: str
) -> None:
    assert rows[name].outcome == outcome
    assert counts(rows[name]) == expected(1.0, 0.0, 0.0, 1.0, 0.0)


def test_a_submission_that_deletes_the_other_tests_edits_all_of_them_falsely(rows: Rows) -> None:
    row = rows['deletes']
    assert row.outcome == 'success'
    assert counts(row) == expected(0.0, 1.0, 1.0, 0.0, 0.0)
    assert outcomes(row)['taxes'] == outcomes(row)['shines'] == 'deleted_wrongly'


def test_a_weakened_kept_test_is_detected_by_mutants(rows: Rows) -> None:
    row = rows['weakens']
    assert row.outcome == 'success'
    assert [outcomes(row)[name] for name in ('taxes', 'fees', 'helps')] == ['weakened'] * 3
    assert counts(row) == expected(0.0, 0.75, 0.6, 0.0, 0.0)


def test_a_needless_rewrite_of_equal_strength_harms_no_test(rows: Rows) -> None:
    row = rows['rewrites']
    # `helps` has no such call in its own text
    assert [outcomes(row)[name] for name in ('taxes', 'fees', 'helps')] == [
        *('edited', 'edited', 'kept')
    ]
    assert counts(row) == expected(0.0, 0.5, 0.0, 0.0, 0.0)
    assert [one.weaker for one in row.maintained or () if one.outcome == 'edited'] == [False] * 3


def test_an_emptied_helper_weakens_the_tests_that_use_it(rows: Rows) -> None:
    assert outcomes(rows['empties'])['helps'] == 'weakened'
    assert counts(rows['empties']) == expected(0.0, 0.25, 0.2, 0.0, 0.0)


def test_comments_and_formatting_do_not_count_as_edits(rows: Rows) -> None:
    assert rows['formats'].outcome == 'success'
    assert counts(rows['formats']) == expected(0.0, 0.0, 0.0, 0.0, 0.0)


def test_a_renamed_test_counts_as_edited_and_not_as_deleted(rows: Rows) -> None:
    assert outcomes(rows['renames'])['taxes'] == 'edited'


def test_a_broken_kept_test_counts_as_harmed_and_a_wrong_update_as_missed(rows: Rows) -> None:
    row = rows['breaks']
    assert row.outcome == 'partly'
    assert (outcomes(row)['taxes'], outcomes(row)['leaves']) == ('broken', 'rewritten')
    assert counts(row) == expected(1.0, 0.25, 0.2, 0.0, 0.0)


def test_a_file_that_does_not_parse_counts_as_breaking_every_test(rows: Rows) -> None:
    assert rows['garbles'].outcome == 'cmpl_fail'
    assert counts(rows['garbles']) == expected(1.0, 1.0, 1.0, 1.0, 0.0)
    assert outcomes(rows['garbles'])['taxes'] == 'broken'


def test_an_empty_file_counts_as_deleting_every_test(rows: Rows) -> None:
    assert rows['empty'].outcome == 'empty'
    assert counts(rows['empty']) == expected(1.0, 1.0, 1.0, 0.0, 0.0)
    assert outcomes(rows['empty'])['leaves'] == 'deleted_rightly'


def test_only_complete_maintenance_without_false_edits_solves_the_task(rows: Rows) -> None:
    assert {name for name, row in rows.items() if summarise(row).done.value == 1} == {'formats'}
