"""What others read a snapshot with, without any code of ours."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from coevo.model.schema import TABLES
from tests import snapshots


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return snapshots.make(tmp_path_factory.mktemp('made'), 1, 2, 3)


# Of a first release of pairs: nothing is withdrawn, and no test file stands alone.
EMPTY = {'withdrawn', 'single_revision'}


@pytest.mark.parametrize('table', [name for name in TABLES if name not in EMPTY])
def test_pandas_polars_and_duckdb_read_the_same_rows(snapshot: Path, table: str) -> None:
    import pandas
    import polars

    folder = snapshot / 'data' / table
    (rows,) = duckdb.sql(f"SELECT count(*) FROM '{folder}/*.parquet'").fetchall()[0]
    assert rows > 0
    assert len(polars.read_parquet(f'{folder}/*.parquet')) == rows
    assert sum(len(pandas.read_parquet(file)) for file in folder.iterdir()) == rows


def test_card_lists_the_tables_that_hugging_face_cannot_load(snapshot: Path) -> None:
    card = (snapshot / 'README.md').read_text()
    assert 'is no configuration: `single_revision`, `withdrawn`.' in card
    assert '- config_name: test_repair' in card


def test_plain_duckdb_query_of_the_readme_works(snapshot: Path) -> None:
    sql = f"""SELECT track, count(*) FROM '{snapshot}/data/tasks/*.parquet'
        WHERE contamination_date >= TIMESTAMPTZ '2024-01-04 00:00:00Z' GROUP BY ALL ORDER BY ALL"""
    assert duckdb.sql(sql).fetchall() == [('generation', 1), ('update', 1)]


READ = """
import json, sys
from datasets import get_dataset_config_names, load_dataset
folder = sys.argv[1]
names = get_dataset_config_names(folder)
def count(name):
    try:
        return load_dataset(folder, name, split='test').num_rows
    except ValueError as error:
        assert 'corresponds to no data' in str(error), error
        found = load_dataset(folder, name, split='test', streaming=True)
        assert 'task_id' in found.column_names
        return sum(1 for _ in found)
rows = {name: count(name) for name in names}
rows['default'] = load_dataset(folder, split='test').num_rows
print(json.dumps(rows))
"""


@pytest.mark.slow
def test_hugging_face_datasets_loads_every_table_and_track_offline(
    snapshot: Path, tmp_path: Path
) -> None:
    copy = tmp_path / 'dataset'
    shutil.copytree(snapshot, copy)
    environment = {
        'HF_HUB_OFFLINE': '1',
        'HF_DATASETS_OFFLINE': '1',
        'HF_HOME': str(tmp_path / 'home'),
        'HOME': str(tmp_path),
        'PATH': '/usr/bin:/bin',
    }
    done = subprocess.run(
        [sys.executable, '-c', READ, copy],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])
    assert rows['default'] == rows['tasks'] == 6
    assert (rows['test_generation'], rows['test_update'], rows['test_repair']) == (3, 3, 0)
    assert {*TABLES} - EMPTY <= rows.keys()


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_croissant_is_valid_and_its_records_can_be_read(snapshot: Path) -> None:
    import mlcroissant

    dataset = mlcroissant.Dataset(snapshot / 'croissant.json')
    assert not dataset.metadata.ctx.issues.errors
    found = list(dataset.records('test_update'))
    assert len(found) == 3
    assert {row['test_update/track'] for row in found} == {b'update'}
    environment = found[0]['test_update/environment']
    assert environment['test_update/environment/runtime'] == b'17'
    assert sum(1 for _ in dataset.records('methods')) == 9
    assert sum(1 for _ in dataset.records('tasks')) == 6
    assert '2024-' in str(dataset.metadata.cite_as)
