"""The family `function` from the functions of a toy to suites that are judged."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from benchmarks.baselines import suites as suite_baselines
from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.records import Prediction
from coevo.evaluation.reporting.report import make_report
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.families import Family
from coevo.model.profiles import FunctionRules
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

pytestmark = pytest.mark.usefixtures('toy')

CODE = {
    **toys.BUILD,
    **toys.source('rates', 'vat: 7', 'expected_action: 3', 'all: rates.vat', 'unused: 1'),
    **toys.source('Till', 'price: 1', 'tax: 5'),
}
# One test of a function alone counts for more than two that execute others beside it.
TESTS = {
    **toys.tests(
        'Books',
        'taxes: is rates.vat 7 then is Till.price 1',
        'again: is rates.vat 7 then call Till.price',
    ),
    **toys.tests(
        'Rates',
        'of_vat: is rates.vat 7',
        'of_duty: is rates.expected_action 3',
        'of_all: is rates.all 7',
        'rests: skip',
    ),
    **toys.tests('Broken', 'errs: is rates.expected_action 4'),
}
# The first test of a function; the file that is about it came later.
FIRST = toys.tests('Books', 'taxes: is rates.vat 7 then is Till.price 1')
RULES = FunctionRules(least_complexity=0)


@pytest.fixture(scope='module')
def found(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('functions')
    repository = write(folder / 'repository', [{**CODE, **FIRST}, TESTS])
    profile = replace(QUICK, traces=True, measure_runs=100, functions=RULES)
    return toys.mined(
        repository,
        folder / 'store',
        walk=Walk.SINGLE_REVISION,
        profile=profile,
        families=(Family.FUNCTION,),
    )


def rows(found: Mined) -> dict[str | None, SingleRevisionRow]:
    segments = Store(found.store).load_current_segments(found.report.partitions[0])
    return {row.unit: row for segment in segments for row in segment.single_revision}


VAT, DUTY, ALL, UNUSED = (
    f'rates.toy#rates.{name}()' for name in ('vat', 'expected_action', 'all', 'unused')
)


def test_a_function_that_is_no_task_has_a_drop_reason(found: Mined) -> None:
    names = {row.suite_id: unit for unit, row in rows(found).items()}
    assert {(names.get(one.key), one.reason, one.detail) for one in found.drops} == {
        (ALL, 'not_self_contained', 'vat'),
        (None, 'not_tested', UNUSED),
    }


def test_the_test_file_with_the_most_tests_of_a_function_alone_is_gold(found: Mined) -> None:
    row = rows(found)[VAT]
    assert (row.test_file, row.tests, row.passing) == ('test_rates.toy', 4, 3)
    (focus,) = row.focus
    assert (focus.kind, focus.declaration, focus.start_line, focus.end_line) == (
        'function',
        'shop.rates.vat',
        2,
        2,
    )
    assert row.executing_tests is not None
    assert [(one.test_file, one.test_method) for one in row.executing_tests] == [
        ('test_books.toy', 'again'),
        ('test_books.toy', 'taxes'),
        ('test_rates.toy', 'of_all'),
        ('test_rates.toy', 'of_vat'),
    ]
    assert row.adequacy is not None
    assert (row.adequacy.lines, row.adequacy.covered_lines, row.adequacy.methods) == (1, 1, 1)
    assert (row.adequacy.mutants, row.adequacy.killed) == (1, 1)


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    publish_release(ReleaseOptions(store=found.store, snapshot=folder))
    assert list(verify_snapshot(folder)) == []
    return folder


def test_a_function_is_dated_by_the_first_test_that_executes_it(released: Path) -> None:
    sql = """SELECT unit, family, start_builder, executing_tests, executing_files, complexity,
        contamination_date, unit_date FROM tasks ORDER BY unit"""
    expected_action, vat = snapshot.open_snapshots(released).execute(sql).fetchall()
    assert expected_action[:6] == (DUTY, 'function', 'absent', 1, 1, None)
    assert vat[:6] == (VAT, 'function', 'absent', 4, 2, None)
    dates: list[datetime] = [expected_action[6], expected_action[7], vat[6], vat[7]]
    assert dates[0] > dates[2] == dates[3] == dates[1]


def test_each_function_task_has_a_prompt_naming_its_function(released: Path) -> None:
    sql = 'SELECT prompt FROM tasks ORDER BY unit'
    (expected_action,), (vat,) = snapshot.open_snapshots(released).execute(sql).fetchall()
    assert '`shop.rates.expected_action` in `rates.toy`' in expected_action
    assert '`shop.rates.vat` in `rates.toy`' in vat
    assert 'test_rates.toy does NOT exist' in vat


def judged(
    found: Mined, released: Path, *patches: bytes | None, unit: str = VAT
) -> list[SuiteResult]:
    """Of attempts at the one task of a function, in their order."""
    sql = 'SELECT task_id FROM tasks WHERE unit = ?'
    ((task_id,),) = snapshot.open_snapshots(released).execute(sql, [unit]).fetchall()
    predictions = [
        Prediction(task_id=task_id, patch=patch, attempt=number)
        for number, patch in enumerate(patches, 1)
    ]
    cache = found.store.with_name('judged')
    options = EvaluationOptions(
        snapshot=released, predictions=predictions, clones=found.store, cache=cache
    )
    evaluation = evaluate(options)
    assert (evaluation.rows, evaluation.bugs) == ((), {})
    rows = [row for row in evaluation.suites if row.task_id == task_id]
    return sorted(rows, key=lambda row: row.attempt)


def test_each_function_task_is_graded_by_its_own_mutants(found: Mined, released: Path) -> None:
    sql = 'SELECT test_patch FROM tasks WHERE unit = ?'
    ((gold,),) = snapshot.open_snapshots(released).execute(sql, [VAT]).fetchall()
    beside = Place(path='test_rates.toy', name='RatesTest').suite(
        'of_duty: is rates.expected_action 3'
    )
    good, blind = judged(found, released, gold.encode(), beside)
    assert good.adequacy is not None
    assert (good.outcome, good.adequacy.killed, good.adequacy.mutants) == ('success', 1, 1)
    assert blind.adequacy is not None
    assert (blind.outcome, blind.adequacy.killed, blind.adequacy.mutants) == ('success', 0, 1)


def test_hostile_suites_get_their_expected_outcomes(found: Mined, released: Path) -> None:
    hostile = hostile_suites(Place(path='test_rates.toy', name='RatesTest'))
    del hostile['none']
    rows = judged(found, released, *(patch for patch, _, _ in hostile.values()))
    ends = {name: (row.outcome, row.detail) for name, row in zip(hostile, rows, strict=True)}
    assert ends == {name: (outcome, detail) for name, (_, outcome, detail) in hostile.items()}


def test_suite_baselines_write_their_expected_answers(
    found: Mined, released: Path, tmp_path: Path
) -> None:
    answers: dict[str, list[dict[str, str]]] = {}
    for kind in ('empty', 'unchanged', 'sibling', 'first'):
        out = tmp_path / kind
        words = [str(released), kind, '--store', str(found.store), '--out', str(out)]
        assert suite_baselines.main(words) == 0
        answers[kind] = [json.loads(line) for line in out.read_text().splitlines()]
    assert {one['file'] for one in answers['empty']} == {''}
    assert {one['patch'] for one in answers['unchanged']} == {''}
    # it executes one of the functions, and is the file beside for the other
    siblings = [one['file'].partition('\n')[0] for one in answers['sibling']]
    assert siblings == ['[shop.BooksTest]'] * 2
    assert [one['file'] for one in answers['first']] == [
        '[shop.RatesTest]\nof_vat: is rates.vat 7\n'
    ] * 2


@pytest.fixture(scope='module')
def without_gold(found: Mined) -> Path:
    folder = found.store.with_name('untested')
    publish_release(ReleaseOptions(store=found.store, snapshot=folder, untested=True))
    assert list(verify_snapshot(folder)) == []
    return folder


def test_a_function_that_no_test_executes_is_a_task_without_gold(without_gold: Path) -> None:
    connection = snapshot.open_snapshots(without_gold)
    sql = """SELECT test_file, test_patch, executing_tests, gold_adequacy.tests,
        contamination_date = new_committer_date FROM tasks WHERE unit = ?"""
    assert connection.execute(sql, [UNUSED]).fetchall() == [
        ('test_rates_unused.toy', '', 0, 0, True)
    ]
    sql = "SELECT count(*) FROM drops WHERE reason = 'not_tested'"
    assert connection.execute(sql).fetchall() == [(0,)]


def test_a_function_without_gold_is_graded_by_mutants_of_its_own(
    found: Mined, without_gold: Path
) -> None:
    place = Place(path='test_rates_unused.toy', name='UnusedTest')
    good, blind, wrong = judged(
        found,
        without_gold,
        place.suite('of_unused: is rates.unused 1'),
        place.suite('of_unused: is rates.vat 7'),
        place.suite('of_unused: is rates.unused 2'),
        unit=UNUSED,
    )
    assert good.adequacy is not None
    assert blind.adequacy is not None
    assert (good.outcome, good.adequacy.killed, good.adequacy.mutants) == ('success', 1, 1)
    assert (blind.outcome, blind.adequacy.killed, blind.adequacy.mutants) == ('success', 0, 1)
    assert (wrong.outcome, wrong.adequacy) == ('exec_fail', None)
    (figures,) = make_report([], [good, replace(wrong, attempt=1, task_id='other')]).families
    assert figures.mutation.over_all.value == 0.5


def test_gold_is_not_asked_of_a_function_without_gold(found: Mined, without_gold: Path) -> None:
    options = EvaluationOptions(
        snapshot=without_gold,
        predictions='gold',
        clones=found.store,
        cache=found.store.with_name('judged'),
    )
    rows = evaluate(options).suites
    assert [row.outcome for row in rows] == ['success'] * 2
    assert all(row.gold_adequacy is not None and row.gold_adequacy.tests > 0 for row in rows)
