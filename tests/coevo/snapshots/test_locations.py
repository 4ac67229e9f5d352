"""A snapshot is the same wherever it lies."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import coevo
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.snapshots.cutoffs import Cutoff
from coevo.snapshots.query import SnapshotQuery, run_query, run_select
from coevo.storage.place import Url
from coevo.storage.places import open_place
from tests import snapshots
from tests.web_server import Site


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return snapshots.make(tmp_path_factory.mktemp('made'), 1, 2, 3)


@pytest.fixture
def site(snapshot: Path) -> Iterator[Site]:
    served = Site(snapshot.parent)
    yield served
    served.close()


def counts(*places: Path | str) -> list[tuple[object, ...]]:
    connection = coevo.open(*places)
    sql = 'SELECT walk, label, count(*) FROM methods GROUP BY ALL ORDER BY ALL'
    found = connection.execute(sql).fetchall()
    found += connection.execute("SELECT count(*) FROM clean('2024-01-03')").fetchall()
    found += connection.execute('SELECT count(*) FROM standard').fetchall()
    connection.close()
    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize('name', ['snapshot.zip', 'the "best" of Ann\'s.zip'])
@pytest.mark.parametrize('head', ['', 'some/folder/'])
def test_a_zip_reads_as_its_folder_does(
    snapshot: Path, tmp_path: Path, name: str, head: str
) -> None:
    archive = tmp_path / name
    with zipfile.ZipFile(archive, 'w', zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(snapshot.rglob('*')):
            packed.write(file, f'{head}{file.relative_to(snapshot).as_posix()}')
    assert counts(archive) == counts(snapshot)


def test_a_snapshot_that_is_named_twice_is_refused(snapshot: Path) -> None:
    with pytest.raises(Fatal, match='is named twice; name each snapshot once'):
        coevo.open(snapshot, snapshot)


def test_a_url_reads_as_its_folder_does(snapshot: Path, site: Site) -> None:
    assert counts(f'{site.url}/snapshot/') == counts(snapshot)


@pytest.fixture
def large(snapshot: Path) -> Iterator[tuple[str, int]]:
    """The name of a snapshot beside the other one whose methods have texts, in row groups; their bytes."""
    folder = snapshot.parent / 'large'
    shutil.copytree(snapshot, folder)
    methods = folder / 'data' / 'methods' / 'part-0.parquet'
    text = ' || '.join(f"sha256(concat(method_id, n, '{part}'))" for part in range(8))
    duckdb.execute(f"""COPY (SELECT * REPLACE ({text} AS new_source)
        FROM '{snapshot}/data/methods/part-0.parquet', range(2000) of(n) ORDER BY method_id)
        TO '{methods}' (ROW_GROUP_SIZE 2048)""")
    yield folder.name, methods.stat().st_size
    shutil.rmtree(folder)


@pytest.mark.slow
def test_columns_and_rows_outside_a_query_are_not_fetched(
    site: Site, large: tuple[str, int]
) -> None:
    name, size = large
    connection = coevo.open(f'{site.url}/{name}')
    first = connection.execute('SELECT min(method_id) FROM methods').fetchone()
    site.bytes = 0
    connection.execute('SELECT count(label) FROM methods').fetchall()
    assert 0 < site.bytes < size / 10
    site.bytes = 0
    sql = 'SELECT new_source FROM methods WHERE method_id = ?'
    assert len(connection.execute(sql, first).fetchall()) == 2000
    assert site.bytes < size / 4
    connection.close()


@pytest.mark.slow
def test_threads_share_a_remote_file(site: Site, large: tuple[str, int]) -> None:
    name, _ = large
    connection = coevo.open(f'{site.url}/{name}')
    connection.execute('SET threads = 8')
    found = connection.execute('SELECT count(DISTINCT new_source) FROM methods').fetchone()
    assert found == (9 * 2000,)
    connection.close()


def test_the_manifest_is_fetched_once(site: Site) -> None:
    cutoff = Cutoff(date='2024-01-03')
    run_query((f'{site.url}/snapshot',), SnapshotQuery(sql='SELECT 1', cutoff=cutoff))
    assert site.asked.count('/snapshot/manifest.json') == 1


def test_a_server_without_ranges_is_reported(site: Site) -> None:
    site.ranged = False
    with pytest.raises(Fatal, match='download it'):
        coevo.open(f'{site.url}/snapshot')


@pytest.mark.parametrize('status', [404, 403, 503])
def test_a_server_that_refuses_is_reported(site: Site, status: int) -> None:
    site.broken = status
    with pytest.raises(RuntimeError, match='has no manifest' if status == 404 else str(status)):
        coevo.open(f'{site.url}/snapshot')


@pytest.fixture
def published(snapshot: Path, bucket: Url) -> Url:
    """The snapshot in a bucket."""
    for file in snapshot.rglob('*'):
        if file.is_file():
            name = file.relative_to(snapshot).as_posix()
            open_place(bucket).write_file(f'2024-01/{name}', file.read_bytes())
    return Url(f'{bucket}/2024-01')


@pytest.mark.slow
def test_a_bucket_reads_as_its_folder_does(snapshot: Path, published: Url) -> None:
    assert counts(published) == counts(snapshot)
    with pytest.raises(DamagedSnapshot, match='no manifest'):
        coevo.open(f'{published}/elsewhere')


def test_a_query_gives_the_same_answer_for_a_folder_and_a_url(
    snapshot: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for place in (snapshot, f'{site.url}/snapshot'):
        run_query(
            (place,), SnapshotQuery(cutoff=Cutoff(date='2024-01-03'), track='update', format='csv')
        )
        said.append(capsys.readouterr())
    assert said[0] == said[1]
    assert said[0].out.count('\n') > 1


def test_a_server_that_fails_during_a_query_is_reported(site: Site, large: tuple[str, int]) -> None:
    connection = coevo.open(f'{site.url}/{large[0]}')
    site.broken = 503
    with pytest.raises(Fatal, match='the server says 503'):
        run_select(connection, 'SELECT new_source FROM methods', 'csv')
    connection.close()


def test_rows_of_two_months_are_distinguished_by_snapshot(snapshot: Path, tmp_path: Path) -> None:
    later = tmp_path / 'later'
    shutil.copytree(snapshot, later)
    manifest = later / 'manifest.json'
    manifest.write_text(manifest.read_text().replace('"month": "2024-01"', '"month": "2024-02"'))
    connection = coevo.open(snapshot, later)
    sql = 'SELECT snapshot, count(*) FROM methods GROUP BY ALL ORDER BY ALL'
    assert connection.execute(sql).fetchall() == [('2024-01', 9), ('2024-02', 9)]
    assert connection.execute("SELECT count(*) FROM clean('2024-01-03')").fetchone() == (6,)


def test_sql_on_a_remote_snapshot_reads_no_local_file(
    snapshot: Path, site: Site, tmp_path: Path
) -> None:
    secret = tmp_path / 'secret.csv'
    secret.write_text('a\n1\n')
    with pytest.raises(Fatal, match='disabled'):
        run_query((f'{site.url}/snapshot',), SnapshotQuery(sql=f"FROM read_csv('{secret}')"))


@pytest.mark.parametrize(
    ('place', 'said'),
    [
        ('ftp://host/x', 'give a folder'),
        ('nowhere', 'no such folder'),
        ('nowhere.zip', 'no such file'),
        ('http://127.0.0.1:1/x', 'cannot be reached'),
    ],
)
def test_an_unusable_location_is_reported(place: str, said: str) -> None:
    with pytest.raises(RuntimeError, match=said):
        coevo.open(place)


def test_a_zip_that_is_no_archive_is_reported(tmp_path: Path) -> None:
    (tmp_path / 'x.zip').write_text('no archive')
    with pytest.raises(DamagedSnapshot, match='get it again'):
        coevo.open(tmp_path / 'x.zip')
