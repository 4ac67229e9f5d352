"""Files of a snapshot that somebody else wrote: other columns, other types, nulls, and no files at all."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import duckdb
import pytest

import coevo
from coevo.command.main import main
from coevo.evaluation.assignments import load_assignments
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.schema import SCHEMA, TABLES
from coevo.snapshots.columns import TableFile, find_foreign_files
from coevo.snapshots.snapshot import open_snapshots
from coevo.snapshots.verification import verify_snapshot
from tests.coevo.snapshots.test_verification import reseal


def rewrite(snapshot: Path, table: str, select: str) -> Path:
    """Every file of a table as a SELECT of it gives it."""
    for file in sorted((snapshot / 'data' / table).glob('*.parquet')):
        new = file.with_suffix('.new')
        duckdb.execute(f"COPY (SELECT {select} FROM '{file}') TO '{new}' (FORMAT parquet)")
        new.replace(file)
    reseal(snapshot)
    return snapshot


def test_files_written_by_coevo_are_recognised_by_their_schema(made: Path) -> None:
    parts = [
        TableFile(table=table, file=str(file), version=SCHEMA)
        for table in TABLES
        for file in sorted((made / 'data' / table).glob('*.parquet'))
    ]
    assert len(parts) > len(TABLES)
    assert find_foreign_files(duckdb.connect(), parts) == ()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ('table', 'select', 'said'),
    [
        ('methods', '* EXCLUDE (cause)', 'no column cause in methods'),
        ('methods', '* RENAME (method_id AS METHOD_ID)', 'no column method_id in methods'),
        ('methods', '* REPLACE ([1] AS contamination_basis)', 'is INTEGER[], not VARCHAR'),
        ('cells', '* REPLACE (repeat::VARCHAR AS repeat)', 'is VARCHAR, not BIGINT'),
        ('pairs', '* REPLACE (CAST(gap_hours AS DECIMAL) AS gap_hours)', 'not DOUBLE'),
        (
            'tasks',
            "* REPLACE ({'x': 1} AS environment)",
            'is STRUCT(x INTEGER), not STRUCT(runtime',
        ),
        ('tasks', '* REPLACE (NULL::VARCHAR AS walk)', "a walk of tasks that none can be: 'null'"),
        ('methods', '* REPLACE (NULL::VARCHAR AS test_class)', 'a test_class of methods'),
        ('methods', '* REPLACE ([NULL::VARCHAR] AS parameters)', 'a parameters of methods'),
        (
            'methods',
            '* REPLACE ([struct_update(d, revised := NULL::VARCHAR) FOR d IN dependencies] AS dependencies)',
            'a dependencies of methods',
        ),
    ],
)
def test_wrong_columns_are_damage_wherever_a_snapshot_is_opened(
    snapshot: Path, table: str, select: str, said: str
) -> None:
    rewrite(snapshot, table, select)
    with pytest.raises(DamagedSnapshot, match='holds') as told:
        coevo.open(snapshot)
    assert said in str(told.value)
    assert {one.rule for one in verify_snapshot(snapshot)} == {'schema'}


def test_additional_columns_are_ignored(snapshot: Path) -> None:
    before = load_assignments(snapshot)
    for table in ('methods', 'tasks'):
        rewrite(snapshot, table, '*, 1 AS one_more')
    assert before
    assert load_assignments(snapshot) == before


def test_nulls_in_a_nullable_column_are_no_damage(snapshot: Path) -> None:
    rewrite(snapshot, 'methods', '* REPLACE (if(false, isolated, NULL) AS isolated)')
    assert open_snapshots(snapshot).execute('SELECT count(isolated) FROM methods').fetchone() == (
        0,
    )


@pytest.mark.parametrize(
    'name', ['manifest.json', 'data/methods/x.parquet', 'data/timings/x.parquet']
)
@pytest.mark.parametrize('words', ['query {}', 'verify {}', 'show {} x'])
def test_a_pipe_among_the_files_does_not_block_a_command(
    snapshot: Path, name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (snapshot / name).unlink(missing_ok=True)
    os.mkfifo(snapshot / name)
    status = main(words.format(snapshot).split())
    said = capsys.readouterr()
    assert status == (1 if words.startswith('verify') else 2)
    begins = ('data/', 'methods: ', 'timings: ')
    assert said.out.startswith(begins) or re.search('is no (regular )?file', said.err)


def test_a_device_is_refused_as_a_manifest(snapshot: Path) -> None:
    (snapshot / 'manifest.json').unlink()
    (snapshot / 'manifest.json').symlink_to('/dev/zero')
    with pytest.raises(DamagedSnapshot, match='is no regular file'):
        coevo.open(snapshot)


@pytest.mark.sampled(1)
@pytest.mark.parametrize('name', ['walk=states', 'track=update', 'a[1]', "it's", '{a,b}', 'a%20b'])
def test_a_snapshot_folder_may_have_special_characters_in_its_name(
    snapshot: Path, name: str
) -> None:
    """`walk=states` is no column of what lies in it."""
    before = open_snapshots(snapshot).execute('FROM methods ORDER BY ALL').fetchall()
    place = Path(shutil.move(snapshot, snapshot.parent / name))
    assert open_snapshots(place).execute('FROM methods ORDER BY ALL').fetchall() == before
    assert verify_snapshot(place) == []


@pytest.mark.parametrize('name', ['a*', 'snapsho?'])
def test_a_snapshot_folder_whose_name_is_a_glob_pattern_is_refused(
    snapshot: Path, name: str
) -> None:
    place = Path(shutil.copytree(snapshot, snapshot.parent / name))
    with pytest.raises(Fatal, match='rename it'):
        coevo.open(place)
