"""SQL of strangers' reads the snapshot that is asked, and nothing else of this machine or any other.

Each setting of DuckDB's that sees to it is tried by what it withholds.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from coevo.model.errors import Fatal
from coevo.snapshots.query import SnapshotQuery, run_query
from tests.web_server import Site

# Found by DuckDB by its name, where it may look at Python's variables.
a_variable_of_ours = pa.table({'secret': ['never']})

SETTINGS = {
    'autoinstall_known_extensions': False,
    'autoload_known_extensions': False,
    'allow_community_extensions': False,
    'enable_external_access': False,
    'python_enable_replacements': False,
    'lock_configuration': True,
    'temp_directory': '',
}

FILES = (
    "FROM read_csv('{file}')",
    "FROM read_text('{file}')",
    "FROM read_blob('{file}')",
    "FROM read_json('{file}')",
    "FROM sniff_csv('{file}')",
    "FROM '{file}'",
    "FROM read_parquet('{parquet}')",
    "FROM parquet_schema('{parquet}')",
    "FROM parquet_metadata('{parquet}')",
    "FROM glob('{folder}/*')",
    "SELECT (SELECT content FROM read_text('{file}')) FROM tasks",
    "FROM read_csv('.tmp/spilled.csv')",  # where DuckDB would spill by itself, and read what is there
    "FROM read_csv('{folder}/.tmp/spilled.csv')",
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files that are nobody's business, in which the question is asked."""
    folder = tmp_path / 'here'
    (folder / '.tmp').mkdir(parents=True)
    for file in (folder / 'secret.csv', folder / '.tmp' / 'spilled.csv'):
        file.write_text('secret\nnever\n')
    duckdb.execute(f"COPY (SELECT 'never' AS secret) TO '{folder / 'secret.parquet'}'")
    monkeypatch.chdir(folder)
    monkeypatch.setenv('HOME', str(folder))
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.close()


@pytest.fixture(params=['folder', 'zip'])
def place(request: pytest.FixtureRequest, made: Path, zipped: Path) -> Path:
    return made if request.param == 'folder' else zipped


@pytest.fixture(scope='module')
def zipped(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.make_archive(str(tmp_path_factory.mktemp('zipped') / 'x'), 'zip', made))


def told(place: Path, sql: str, said: pytest.CaptureFixture[str]) -> str:
    """All that a question says, be it an answer or a complaint."""
    try:
        run_query((place,), SnapshotQuery(sql=sql))
    except Fatal as refusal:
        return str(refusal)
    finally:
        shown = ''.join(said.readouterr())
    return shown


def test_duckdb_settings_are_locked_down(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = ', '.join(f"current_setting('{name}') AS {name}" for name in SETTINGS)
    run_query((place,), SnapshotQuery(sql=f'SELECT {columns}', format='json'))
    assert json.loads(capsys.readouterr().out) == [SETTINGS]


@pytest.mark.sampled(4)
@pytest.mark.parametrize('sql', FILES)
def test_sql_reads_no_other_file(
    made: Path, here: Path, sql: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {'file': here / 'secret.csv', 'parquet': here / 'secret.parquet', 'folder': here}
    said = told(made, sql.format(**names), capsys)
    assert 'disabled' in said
    assert 'never' not in said


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    'sql',
    [
        'SET lock_configuration = false',
        'SET enable_external_access = true',
        "PRAGMA temp_directory = '.'",
        'RESET temp_directory',
        'INSTALL spatial',
        'LOAD spatial',
        "ATTACH 'x.db'",
        "COPY tasks TO 'x.csv'",
        "EXPORT DATABASE 'x'",
        'CREATE TABLE x AS FROM tasks',
        'EXPLAIN ANALYZE FROM tasks',
        "SELECT 1; COPY tasks TO 'x.csv'",
    ],
)
def test_sql_cannot_set_load_or_write_anything(made: Path, here: Path, sql: str) -> None:
    before = sorted(here.rglob('*'))
    with pytest.raises(Fatal):
        run_query((made,), SnapshotQuery(sql=sql))
    assert sorted(here.rglob('*')) == before


@pytest.mark.parametrize(
    'sql',
    [
        "SELECT st_area('x')",  # of an extension that is not here
        "FROM read_xlsx('x.xlsx')",
        "FROM sqlite_scan('x.db', 'x')",
        "SELECT to_json(icu_sort_key('x', 'de'))",
    ],
)
def test_sql_that_names_an_extension_does_not_fetch_it(
    made: Path, here: Path, sql: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where one would be kept, below the home folder, nothing is."""
    told(made, sql, capsys)
    assert not (here / '.duckdb').exists()


@pytest.mark.parametrize('call', ['read_csv', 'read_parquet', 'read_text', 'read_json'])
def test_sql_contacts_no_host(
    made: Path, site: Site, here: Path, call: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = told(made, f"FROM {call}('{site.url}/here/secret.csv')", capsys)
    assert 'never' not in said
    assert site.asked == []


def test_python_variables_are_no_tables(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert duckdb.sql('FROM a_variable_of_ours').fetchall() == [('never',)]
    said = told(place, 'FROM a_variable_of_ours', capsys)
    assert 'does not exist' in said
    assert 'never' not in said
