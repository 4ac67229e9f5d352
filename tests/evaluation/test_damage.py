"""What an evaluation reads may be damaged or made by anyone: one sentence each, nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coevo.command.main import main
from coevo.evaluation.options import create_writable_folder
from coevo.evaluation.predictions import load_predictions
from coevo.evaluation.reporting.report import load_report, write_report
from coevo.evaluation.results import NAME, load_results, write_results
from coevo.model.errors import Fatal
from tests.evaluation.rows import ADEQUACY, row


def text(*values: bytes) -> pa.Array:
    """A column of texts, be they UTF-8 or not."""
    raw = pa.array(values)
    return pa.StringArray.from_buffers(len(raw), *raw.buffers()[1:])


COLUMNS: dict[str, tuple[str, pa.Array]] = {
    'an outcome that is none': ('outcome', pa.array(['x', 'y']).dictionary_encode()),
    'an outcome of another type': ('outcome', pa.array([1, 2])),
    'no id': ('task_id', pa.array([None, 'b'], pa.string())),
    'bytes': ('task_id', pa.array([b'a', b'\xff'])),
    'a cost that is no number': ('cost_usd', pa.array([float('nan'), 1.0])),
    'a cost without end': ('cost_usd', pa.array([float('inf'), 1.0])),
    'a date as text': ('new_date', pa.array(['x', 'y'])),
    'a date that Python lacks': ('new_date', pa.array([2**62, 1], pa.timestamp('us', tz='UTC'))),
    'another record': ('adequacy', pa.array([{'x': 1}, {'x': 2}])),
    'a text as a record': ('adequacy', pa.array(['a', 'b'])),
    'no UTF-8': ('harness', text(b'\xff', b'a')),
    'a number as a text': ('snapshot_sha256', pa.array([1, 2])),
    'a text as a number': ('attempt', pa.array(['3', '3'])),
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_results(tmp_path, [row('a', adequacy=ADEQUACY), row('b')])
    return tmp_path


def edit(results: Path, change: Callable[[pa.Table], pa.Table]) -> Path:
    pq.write_table(change(pq.read_table(results / NAME)), results / NAME)
    return results


@pytest.mark.parametrize('name', COLUMNS)
def test_results_with_invalid_columns_are_refused(
    results: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    column, values = COLUMNS[name]
    edit(results, lambda t: t.set_column(t.schema.get_field_index(column), column, values))
    assert main(['report', 'regrade', str(results)]) == 2
    assert main(['report', 'compare', str(results), str(results)]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert all('evaluate again' in line for line in told)
    assert [file.name for file in results.iterdir()] == [NAME]


def test_missing_column_is_refused_and_additional_column_is_ignored(results: Path) -> None:
    before = load_results(results)
    edit(results, lambda table: table.append_column('more', pa.array([1, 2])))
    assert load_results(results) == before
    edit(results, lambda table: table.drop_columns(['track']))
    with pytest.raises(Fatal, match='track'):
        load_results(results)


def test_results_version_that_is_not_utf_8_is_refused(results: Path) -> None:
    edit(results, lambda table: table.replace_schema_metadata({'coevo.results_version': b'\xff'}))
    with pytest.raises(Fatal, match='results of version'):
        load_results(results)


@pytest.mark.parametrize('damage', ['pages', 'folder'])
def test_unreadable_results_file_is_refused(results: Path, damage: str) -> None:
    data = (results / NAME).read_bytes()
    if damage == 'pages':
        (results / NAME).write_bytes(data[:40] + b'\0' * 100 + data[140:])
    else:
        (results / NAME).unlink()
        (results / NAME).mkdir()
    with pytest.raises(Fatal, match=r'^[^\n]+$'):
        load_results(results)


@pytest.mark.parametrize(
    'content',
    [
        b'{"report_version": 2}',
        b'{"report_version": 2, "snapshot_sha256": []}',
        b'{"report_version": 2, "snapshot_sha256": "0", "x": NaN}',
        b'{"report_version": 2, "snapshot_sha256": "0", "x": "\\udc80"}',
        b'[' * 100_000,
        b'\xff',
    ],
)
def test_invalid_report_file_is_refused(results: Path, content: bytes) -> None:
    write_report(results, load_results(results))
    assert load_report(results)['tasks'] == 2
    (results / 'report.json').write_bytes(content)
    with pytest.raises(Fatal, match='coevo report regrade'):
        load_report(results)


@pytest.mark.parametrize(
    'table',
    [
        pa.table({'task_id': ['a'], 'patch': text(b'\xff')}),
        pa.table(
            {'task_id': ['a'], 'patch': [''], 'seconds': pa.array([2**62], pa.timestamp('us'))}
        ),
        pa.Table.from_arrays([pa.array(['a'])] * 3, names=['task_id', 'patch', 'task_id']),
    ],
)
def test_predictions_with_undecodable_values_are_refused(tmp_path: Path, table: pa.Table) -> None:
    pq.write_table(table, tmp_path / 'p.parquet')
    with pytest.raises(Fatal, match=r'^[^\n]+$'):
        load_predictions(tmp_path / 'p.parquet', {'a'})


def test_unwritable_output_folder_is_refused_and_a_new_one_is_created(tmp_path: Path) -> None:
    create_writable_folder(tmp_path / 'new', '--out')
    assert list((tmp_path / 'new').iterdir()) == []
    (tmp_path / 'file').write_text(json.dumps({}))
    for place in (tmp_path / 'file', tmp_path / 'file' / 'x'):
        with pytest.raises(Fatal, match='name another --out'):
            create_writable_folder(place, '--out')


def test_results_of_a_run_are_named_where_the_folder_of_the_run_is_given(tmp_path: Path) -> None:
    (tmp_path / 'results').mkdir()
    for folder in (tmp_path, tmp_path / 'results'):
        (folder / 'report.json').write_text('{"version": 1}')
    with pytest.raises(Fatal, match=f'name the folder of its results: {tmp_path}/results'):
        load_report(tmp_path)
