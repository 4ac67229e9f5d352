"""Baselines of a toy's release, made and judged; what stands in tests that call the named methods."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks.baselines.__main__ import main as make
from benchmarks.baselines.answers import write_java_test, write_python_test
from benchmarks.baselines.copying import Model
from benchmarks.baselines.shipped import main as ship
from coevo.command.main import main
from coevo.evaluation.reporting.report import write_report
from coevo.evaluation.results import load_results, write_results
from coevo.languages.table import get_reading
from coevo.model.dependencies import Dependency, Revised
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.evaluation.rows import row
from tests.languages import toys
from tests.projects import QUICK, write
from tests.settings_files import settings

ROOT = Path(__file__).parents[2]
OLD = {
    **toys.BUILD,
    **toys.source('Till', 'price: 1', 'stays: 3'),
    **toys.tests('Till', 'follows: is Till.price 1', 'stays: is Till.stays 3'),
}
NEW = {
    **toys.source('Till', 'price: 2', 'stays: 3'),
    **toys.tests('Till', 'follows: is Till.price 2', 'stays: is Till.stays 3'),
}


@pytest.mark.slow
@pytest.mark.usefixtures('toy')
def test_baseline_submissions_get_the_expected_outcomes(tmp_path: Path) -> None:
    found = toys.mined(
        write(tmp_path / 'repository', [OLD, NEW]), tmp_path / 'store', profile=QUICK
    )
    snapshot, out = tmp_path / 'snapshot', tmp_path / 'baselines'
    publish_release(ReleaseOptions(store=found.store, snapshot=snapshot))
    words = [str(snapshot), '--store', str(found.store), '--out', str(out)]
    assert (
        make([*words, *(f'--only={name}' for name in ('gold', 'no-change', 'delete-others'))]) == 0
    )
    outcomes, leaking = {}, settings(tmp_path, leaking=True)
    for folder in sorted(out.iterdir()):
        results = folder / 'results'
        command = ['evaluate', str(snapshot), str(folder), '--out', str(results), '--jobs', '1']
        assert main([*command, '--store', str(found.store), *leaking]) == 0
        (row,) = pq.read_table(results / 'results.parquet').to_pylist()
        outcomes[folder.name] = row['outcome'], row['others_lost']
        assert main(['submit', '--check', str(folder), '--snapshot', str(snapshot)]) == 0
    assert outcomes['gold'] == ('success', 0)
    assert outcomes['no-change'][0] == 'exec_fail'
    assert outcomes['delete-others'] == ('success', 1)
    patch = json.loads((out / 'delete-others' / 'predictions.jsonl').read_text())['patch']
    assert '-stays: is Till.stays 3' in patch


def dependency(name: str, declaration: str) -> Dependency:
    return Dependency(
        name=name,
        declaration=declaration,
        file='any',
        start_line=1,
        end_line=1,
        revised=Revised.MODIFIED,
        rank=1,
    )


def model(path: str, source: str) -> Model:
    type_ = get_reading('java' if path.endswith('.java') else 'python').parse(source.encode(), path)
    (found,) = (one for one in type_.types if one.members)
    return Model(class_name=found.name, member=found.members[0], source=source.encode(), path=path)


@pytest.mark.parametrize(
    ('name', 'declaration', 'called'),
    [
        (
            'p.Till#price(int,String)',
            'public static int price(int n, String s)',
            'p.Till.price(0, null)',
        ),
        ('p.Till#total(boolean)', 'long total(boolean all)', 'new p.Till().total(false)'),
        ('p.Till$Roll#cut()', 'public void cut()', 'new p.Till.Roll().cut();'),
        ('p.Till#Till(char)', 'public Till(char c)', "assertNotNull(new p.Till(' '))"),
    ],
)
def test_generated_java_test_calls_the_named_dependency(
    name: str, declaration: str, called: str
) -> None:
    file = 'package p;\nimport org.junit.Test;\nclass TillTest {\n  @Test public void a() {}\n}\n'
    text = write_java_test('sums', [dependency(name, declaration)], model('TillTest.java', file))
    assert text.startswith('@org.junit.Test public void sums() throws Throwable {')
    assert called in text
    parsed = get_reading('java').parse(f'class A {{ {text} }}'.encode())
    assert not parsed.has_error


@pytest.mark.parametrize(
    ('name', 'declaration', 'called'),
    [
        ('shop.till#price()', 'def price(n, of=3)', 'shop.till.price(None)'),
        ('shop.till#price()', 'def price(n: int, *, of: str)', "shop.till.price(0, of='')"),
        ('shop.till$Till#total()', 'def total(self, every)', 'shop.till.Till().total(None)'),
        ('shop.till$Till#__init__()', 'def __init__(self, x: bool)', 'shop.till.Till(False)'),
        ('shop.till#odd()', 'def odd(', 'shop.till.odd()'),
    ],
)
def test_generated_python_test_calls_the_named_dependency(
    name: str, declaration: str, called: str
) -> None:
    file = 'def test_a():\n    pass\n'
    text = write_python_test('test_b', [dependency(name, declaration)], model('test_till.py', file))
    assert text == f'def test_b():\n    import shop.till\n    assert {called} is not None'


def test_shipped_results_have_the_same_report_and_nothing_that_a_process_printed(
    tmp_path: Path,
) -> None:
    rows = [row(f'task{number}', said='secret', output='secret') for number in range(3)]
    write_results(tmp_path / 'results', rows)
    write_report(tmp_path / 'results', rows)
    assert ship([str(tmp_path / 'results'), str(tmp_path / 'shipped')]) == 0
    reports = [(tmp_path / name / 'report.json').read_bytes() for name in ('results', 'shipped')]
    assert reports[0] == reports[1]
    assert {(one.said, one.output) for one in load_results(tmp_path / 'shipped')} == {('', '')}


@pytest.mark.parametrize(
    'results', sorted((ROOT / 'snapshots').glob('*/baselines/*/results.parquet')), ids=str
)
def test_results_that_are_shipped_hold_no_output_of_processes(results: Path) -> None:
    assert {(one.said, one.output) for one in load_results(results.parent)} == {('', '')}
