from __future__ import annotations

import csv
import dataclasses
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import coevo
from coevo.model.errors import Fatal
from coevo.model.method_rows import MethodRow
from coevo.model.records import compute_short_hash
from coevo.model.schema import TABLES
from coevo.model.words import MethodChange, Outcome, Stage, Walk
from coevo.snapshots.cutoffs import Cutoff
from coevo.snapshots.query import SnapshotQuery, run_query
from coevo.storage.store import Store
from tests import segments, snapshots
from tests.segments import PARTITION

Asked = Callable[..., list[dict[str, object]]]


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs of 2, 3 and 4 January 2024 at noon UTC; the first has no contamination date."""
    return snapshots.make(tmp_path_factory.mktemp('made'), 1, 2, 3)


@pytest.fixture
def asked(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    def ask(sql: str, after: str | None = None, **options: str) -> list[dict[str, object]]:
        cutoff = Cutoff(date=after) if after else None
        run_query((snapshot,), SnapshotQuery(sql=sql, format='json', cutoff=cutoff, **options))
        found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
        return found

    return ask


def test_every_table_is_a_view(snapshot: Path) -> None:
    connection = coevo.open(snapshot)
    names = {name for (name,) in connection.execute('SHOW TABLES').fetchall()}
    assert names == {*TABLES, 'standard', 'standard_tasks', 'verified', 'tam_eval', 'permissive'}
    assert connection.execute('SELECT count(*) FROM methods').fetchone() == (9,)


def test_importing_coevo_loads_neither_duckdb_nor_pyarrow() -> None:
    code = 'import coevo, sys; assert not {"duckdb", "pyarrow"} & set(sys.modules)'
    subprocess.run([sys.executable, '-c', code], check=True)


def test_standard_holds_methods_with_complete_evidence(tmp_path: Path) -> None:
    full = segments.segment(1)
    update, refinement, generation = full.methods

    def like(row: MethodRow, name: str, **changed: object) -> MethodRow:
        return dataclasses.replace(row, method_id=compute_short_hash(name), **changed)  # type: ignore[arg-type]

    rows = (
        like(update, 'update'),
        like(generation, 'a compiler is asked once'),
        like(update, 'two runs', t_old_c_old_runs=2, t_old_c_old_passes=2),
        like(update, 'flaky', t_old_c_old_runs=3, t_old_c_old_passes=2),
        like(update, 'timeout', t_old_c_new=Outcome.TIMEOUT, t_old_c_new_runs=2),
        like(update, 'one timeout', t_old_c_new=Outcome.TIMEOUT, t_old_c_new_runs=1),
        like(update, 'not run', t_new_c_new=None, t_new_c_new_runs=None, t_new_c_new_passes=None),
        like(refinement, 'another walk', walk=Walk.STATES),
        like(update, 'branches that interleave', old_is_ancestor=False),
        like(update, 'by module alone', label=None, track=None),
        like(update, 'the change does not fit', change=MethodChange.INSERTED),
    )
    store = Store(tmp_path / 'store')
    store.merge_walk_into_stored(PARTITION, segments.walk(1))
    store.write_segment_unless_intact(PARTITION, dataclasses.replace(full, methods=rows))
    snapshots.write_unverified(store, tmp_path / 'snapshot', '2024-01')
    connection = coevo.open(tmp_path / 'snapshot')
    found = connection.execute('SELECT method_id FROM standard').fetchall()
    names = ('a compiler is asked once', 'timeout', 'update')
    assert {id_ for (id_,) in found} == set(map(compute_short_hash, names))
    assert len(found) == len(names)


@pytest.mark.parametrize(
    ('cutoff', 'kept'),
    [
        ('2023-12', 2),  # the pair without a date is never clean
        ('2024-01-02', 2),
        ('2024-01-03', 1),  # a date means the end of its day
        ('2024-01-04', 0),
        ('2024-01', 0),  # a month means the end of its last day
    ],
)
def test_a_cutoff_means_the_end_of_its_day(asked: Asked, cutoff: str, kept: int) -> None:
    count = 'SELECT count(*) AS n FROM tasks'
    assert asked(count, after=cutoff) == [{'n': 2 * kept}]
    assert asked(f"{count} WHERE clean(contamination_date, '{cutoff}')") == [{'n': 2 * kept}]


def test_midnight_belongs_to_the_next_day(asked: Asked) -> None:
    times = ('2024-06-30 23:59:59.999999', '2024-07-01 00:00:00')
    for time, clean in zip(times, (False, True), strict=True):
        (row,) = asked(f"SELECT clean(TIMESTAMPTZ '{time}+00', '2024-06') AS c")
        assert row == {'c': clean}


@pytest.mark.sampled(2)
@pytest.mark.parametrize('table', TABLES)
def test_every_table_obeys_the_cutoff(asked: Asked, table: str) -> None:
    """Children by join: nothing of a pair that is left out is to be seen anywhere."""
    everything = asked(f'SELECT * FROM {table}')
    assert asked(f'SELECT * FROM {table}', after='2024-01-04') == []
    kept = asked(f'SELECT * FROM {table}', after='2024-01-03')
    if 'pair_id' in (everything or [{}])[0]:
        of_last = [row for row in everything if row['pair_id'] == segments.pair_id(3)]
        assert kept == of_last != []


@pytest.mark.sampled(2)
@pytest.mark.parametrize('table', TABLES)
def test_every_table_obeys_the_track(asked: Asked, table: str) -> None:
    kept = asked(f'SELECT * FROM {table}', track='generation')
    for row in kept:
        assert row.get('track') in ('generation', None)
    ids = {row['method_id'] for row in asked('FROM methods', track='generation')}
    assert len(ids) == 3
    if 'method_id' in (kept or [{}])[0]:
        assert {row['method_id'] for row in kept} == ids
    assert asked(f'SELECT * FROM {table}', track='repair') == []


def test_a_query_reports_how_many_tasks_its_cutoff_leaves_out(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_query((snapshot,), SnapshotQuery(cutoff=Cutoff(date='2024-01-03')))
    said = capsys.readouterr().err
    assert 'after 2024-01-03: 2 of 6 tasks; left out: 2 not later, 2 without a date' in said


@pytest.mark.parametrize('cutoff', ['June', '2024', '2024-13', '2024-02-30', '20240101', '9999-12'])
def test_a_malformed_cutoff_is_refused(snapshot: Path, cutoff: str) -> None:
    with pytest.raises(Fatal, match='2024-06-30'):
        run_query((snapshot,), SnapshotQuery(cutoff=Cutoff(date=cutoff)))


def test_a_query_without_sql_prints_a_summary(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_query((snapshot,), SnapshotQuery())
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == [
        *('parents', 'generation', 'generation', '3', '3'),
        *('2024-01-03T12:00:00Z', '2024-01-04T12:00:00Z'),
    ]
    assert lines[-1] == '(3 rows)'


def test_all_formats_hold_the_same_rows(snapshot: Path, tmp_path: Path) -> None:
    sql = "SELECT task_id, method_ids, contamination_date AS since, 'a,\"b\n' AS odd FROM tasks"
    found = {}
    for name in ('csv', 'json', 'parquet', 'table'):
        out = tmp_path / name
        run_query((snapshot,), SnapshotQuery(sql=f'{sql} ORDER BY ALL', format=name, out=out))
        found[name] = out.read_bytes()
    rows = json.loads(found['json'])
    assert len(rows) == 6
    assert rows[0]['odd'] == 'a,"b\n'
    comma = list(csv.DictReader(io.StringIO(found['csv'].decode(), newline='')))
    assert [row['task_id'] for row in comma] == [row['task_id'] for row in rows]
    assert comma[0]['odd'] == 'a,"b\n'
    assert {row['since'] for row in comma} == {row['since'] or '' for row in rows}
    columns = pq.read_table(io.BytesIO(found['parquet']))
    assert columns['method_ids'].to_pylist() == [row['method_ids'] for row in rows]
    assert all(row['task_id'] in found['table'].decode() for row in rows)


def test_escape_sequences_in_an_answer_do_not_reach_the_terminal(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_query((snapshot,), SnapshotQuery(sql="SELECT 'a' || chr(27) || '[2J' AS x"))
    assert r'a\x1b[2J' in capsys.readouterr().out


@pytest.mark.parametrize(
    'sql',
    ['DESCRIBE tasks', 'SHOW TABLES', 'FROM standard -- all', 'WITH t AS (FROM tasks) FROM t;'],
)
def test_other_statements_that_only_read_are_accepted(asked: Asked, sql: str) -> None:
    assert asked(sql)


@pytest.mark.parametrize(
    'sql',
    [
        "COPY tasks TO '{file}'",
        "COPY (SELECT 1) TO '{snapshot}/data/tasks/update.parquet' (USE_TMP_FILE false)",
        "EXPLAIN ANALYZE COPY tasks TO '{file}'",
        "ATTACH '{file}'",
        'CREATE TABLE x AS FROM tasks',
        'SELECT 1; SELECT 2',
        '',
    ],
)
def test_statements_that_do_not_only_read_are_refused(
    snapshot: Path, tmp_path: Path, sql: str
) -> None:
    before = (snapshot / 'data/tasks/update.parquet').read_bytes()
    with pytest.raises(Fatal, match='only read'):
        run_query(
            (snapshot,), SnapshotQuery(sql=sql.format(file=tmp_path / 'x', snapshot=snapshot))
        )
    assert list(tmp_path.iterdir()) == []
    assert (snapshot / 'data/tasks/update.parquet').read_bytes() == before


@pytest.mark.parametrize(
    'sql', ["FROM read_text('{file}')", "FROM '{file}'", "FROM glob('/etc/*')"]
)
def test_sql_reads_no_other_file(snapshot: Path, tmp_path: Path, sql: str) -> None:
    secret = tmp_path / 'secret.csv'
    secret.write_text('a\n1\n')
    with pytest.raises(Fatal, match='disabled'):
        run_query((snapshot,), SnapshotQuery(sql=sql.format(file=secret)))


def test_bad_sql_is_reported_in_one_line(snapshot: Path) -> None:
    for sql in ('SELEC 1', 'SELECT nothing FROM tasks', "SELECT 'x'::INT"):
        with pytest.raises(Fatal, match=r'^[A-Z]\w+ Error: [^\n]+$'):
            run_query((snapshot,), SnapshotQuery(sql=sql))


def test_an_answer_is_written_whole_or_not_at_all(snapshot: Path, tmp_path: Path) -> None:
    out = tmp_path / 'answer.csv'
    out.write_text('old')
    with pytest.raises(Fatal):
        run_query((snapshot,), SnapshotQuery(sql="SELECT error('x')", out=out))
    assert out.read_text() == 'old'
    with pytest.raises(Fatal, match='folder does not exist'):
        run_query((snapshot,), SnapshotQuery(out=tmp_path / 'no' / 'x'))
    with pytest.raises(Fatal, match='--out'):
        run_query((snapshot,), SnapshotQuery(format='parquet'))
    assert list(tmp_path.iterdir()) == [out]


def test_a_missing_or_unusable_snapshot_is_reported(snapshot: Path, tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='no such folder'):
        coevo.open(tmp_path / 'nowhere')
    with pytest.raises(Fatal, match='it has no manifest'):
        coevo.open(tmp_path)
    (tmp_path / 'manifest.json').write_text('{')
    with pytest.raises(Fatal, match='damaged'):
        coevo.open(tmp_path)
    (tmp_path / 'manifest.json').write_text('{"schema_version": 4}')
    with pytest.raises(Fatal, match='update coevo'):
        coevo.open(tmp_path)


def test_a_quote_in_a_path_is_not_taken_for_sql(tmp_path: Path) -> None:
    folder = tmp_path / "it's"
    folder.mkdir()
    made = snapshots.make(folder, 1)
    assert coevo.open(made).execute('SELECT count(*) FROM tasks').fetchone() == (2,)
    run_query((made,), SnapshotQuery(out=tmp_path / 'out'))


def test_a_cutoff_leaves_out_drops_of_the_walk(asked: Asked) -> None:
    """They are ids of commits; a filter that cannot tell leaves out."""
    stages = {row['stage'] for row in asked('FROM drops', after='2023-01')}
    assert stages == {Stage.FILTER, Stage.LABEL}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ('licence', 'kept'),
    [
        ('MIT', True),
        ('GPL-3.0-only', False),
        ('GPL-3.0-only OR MIT', True),
        ('MIT AND EPL-2.0', False),
    ],
)
def test_permissive_holds_only_methods_under_permissive_licences(
    tmp_path: Path, licence: str, kept: bool
) -> None:
    store = Store(tmp_path / 'store')
    segments.fill(store, 2)
    # A private release keeps the texts under all licences, without a clone.
    snapshots.write(store, tmp_path / 'made', licence=lambda repo, rev: licence, is_private=True)
    connection = coevo.open(tmp_path / 'made')
    (standard,) = connection.execute('SELECT count(*) FROM standard').fetchall()
    assert standard != (0,)
    expected = [standard] if kept else [(0,)]
    assert connection.execute('SELECT count(*) FROM permissive').fetchall() == expected
