"""The family `module` from the packages of a toy to suites that are judged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.results import load_suites
from coevo.model.families import Family
from coevo.model.profiles import ModuleRules
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

STEP = {
    **toys.BUILD,
    **toys.source('Till', 'price: 1', 'tax: 5', 'total: Bill.sum'),
    **toys.source('Bill', 'sum: 9', 'rest: 2'),
    # as much of the package, and no call from one file to the other
    **toys.tests('Apart', 'pays: is Till.price 1 then is Till.tax 5', 'rests: is Bill.rest 2'),
    **toys.tests(
        'Till', 'pays: is Till.price 1', 'again: is Till.price 1', 'totals: is Till.total 9'
    ),
    **toys.in_module(
        'apart',
        {
            **toys.BUILD,
            **toys.source('Lamp', 'shines: 1'),
            **toys.source('Door', 'opens: 1'),
            **toys.tests('Lamp', 'both: is Lamp.shines 1 then is Door.opens 1'),
        },
    ),
    **toys.in_module('alone', {**toys.BUILD, **toys.source('Mat', 'lies: 1')}),
    **toys.in_module(
        'many',
        {
            **toys.BUILD,
            **{
                k: v for name in ('A', 'B', 'C', 'D') for k, v in toys.source(name, 'is: 1').items()
            },
        },
    ),
    **toys.in_module(
        'long',
        {
            **toys.BUILD,
            **toys.source('Long', *(f'l{number}: 1' for number in range(30))),
            **toys.source('E', 'is: 1'),
        },
    ),
    **toys.in_module(
        'idle', {**toys.BUILD, **toys.source('F', 'is: G.is'), **toys.source('G', 'is: 1')}
    ),
}
RULES = ModuleRules(most_files=3, fewer_lines=30)


@pytest.fixture(scope='module')
def found(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('modules')
    profile = replace(QUICK, traces=True, measure_runs=100, modules=RULES)
    return toys.mined(
        write(folder / 'repository', [STEP]),
        folder / 'store',
        walk=Walk.SINGLE_REVISION,
        profile=profile,
        families=(Family.MODULE,),
    )


def rows(found: Mined) -> dict[str | None, SingleRevisionRow]:
    segments = Store(found.store).load_current_segments(found.report.partitions[0])
    return {row.unit: row for segment in segments for row in segment.single_revision}


def test_a_package_that_is_no_task_has_a_drop_reason(found: Mined) -> None:
    names = {row.suite_id: unit for unit, row in rows(found).items()}
    assert {(names.get(one.key), one.reason, one.detail) for one in found.drops} == {
        ('apart', 'no_cross_file_call', ''),
        (None, 'not_tested', 'idle'),
        (None, 'too_few_files', 'alone 1'),
        (None, 'too_many_files', 'many 4'),
        (None, 'too_many_lines', 'long 33'),
    }


def test_the_test_file_that_executes_calls_between_code_files_is_gold(found: Mined) -> None:
    row = rows(found)['.']
    assert (row.test_file, row.executing_tests, row.complexity) == ('test_till.toy', None, None)
    assert [(one.file, one.kind, one.end_line) for one in row.focus] == [
        ('bill.toy', 'file', 3),
        ('till.toy', 'file', 4),
    ]
    assert row.adequacy is not None
    assert (row.adequacy.lines, row.adequacy.covered_lines) == (5, 3)
    assert (row.adequacy.mutants, row.adequacy.killed) == (4, 2)


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    publish_release(ReleaseOptions(store=found.store, snapshot=folder))
    assert list(verify_snapshot(folder)) == []
    return folder


def test_a_package_is_one_task_that_focuses_on_all_of_its_files(released: Path) -> None:
    sql = 'SELECT unit, family, scenario, start_builder, len(focus), prompt FROM tasks'
    ((*row, prompt),) = snapshot.open_snapshots(released).execute(sql).fetchall()
    assert row == ['.', 'module', 'create', 'absent', 2]
    assert '- `bill.toy`\n- `till.toy`\n' in prompt


def test_module_suites_are_graded_and_reported(
    found: Mined, released: Path, tmp_path: Path
) -> None:
    """Hostile ones each have the outcome that they have in every family."""
    place = Place(path='test_till.toy', name='TillTest')
    ((task_id, gold),) = (
        snapshot.open_snapshots(released)
        .execute('SELECT task_id, test_patch FROM tasks')
        .fetchall()
    )
    hostile = hostile_suites(place)
    del hostile['none']
    patches = [gold.encode(), *(patch or b'' for patch, _, _ in hostile.values())]
    lines = [
        {'task_id': task_id, 'patch': patch.decode(), 'attempt': number}
        for number, patch in enumerate(patches, 1)
    ]
    predictions, out = tmp_path / 'predictions.jsonl', tmp_path / 'out'
    predictions.write_text(''.join(f'{json.dumps(line)}\n' for line in lines))
    command = [
        'evaluate',
        str(released),
        str(predictions),
        '--only-family',
        'module',
        '--jobs',
        '1',
    ]
    assert main([*command, '--store', str(found.store), '--out', str(out)]) == 0
    first, *others = load_suites(out)
    ends = {name: (row.outcome, row.detail) for name, row in zip(hostile, others, strict=True)}
    assert ends == {name: (outcome, detail) for name, (_, outcome, detail) in hostile.items()}
    assert first.adequacy is not None
    assert (first.outcome, first.adequacy.killed) == ('success', 2)
    # both end as their process does: for one cause
    assert [[test.cascade for test in row.tests] for row in others if row.outcome == 'exec_fail'][
        1
    ] == [1, 1]
    (family,) = json.loads((out / 'report.json').read_text())['families']
    assert (family['family'], family['ran']['value'], family['passing']['value']) == (
        'module',
        1.0,
        1.0,
    )
    # nobody can see from outside what a toy executes
    assert family['unique_lines']['units'] == 0
