"""A snapshot is a stranger's data: what is to be a name, an argument or a date has its form, wherever
the snapshot lies and whoever opens it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import coevo
from coevo.command.main import main
from coevo.model.errors import DamagedSnapshot
from coevo.snapshots import snapshot as snapshots_of
from coevo.snapshots.verification import verify_snapshot
from packagers.site.folder import write_site
from tests.coevo.snapshots.test_verification import reseal
from tests.web_server import Site


def edit(snapshot: Path, table: str, **values: str) -> Path:
    """Give columns of all rows of a table another value, in SQL, and seal the snapshot again."""
    replaced = ', '.join(f'{value} AS {name}' for name, value in values.items())
    for file in sorted((snapshot / 'data' / table).glob('*.parquet')):
        schema = duckdb.sql(f"DESCRIBE FROM '{file}'").fetchall()
        assert set(values) <= {name for name, *_ in schema}
        other = file.with_suffix('.new')
        duckdb.execute(
            f"COPY (SELECT * REPLACE ({replaced}) FROM '{file}') TO '{other}' (FORMAT parquet)"
        )
        other.replace(file)
    reseal(snapshot)
    return snapshot


def manifest(snapshot: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    content = json.loads((snapshot / 'manifest.json').read_bytes())
    change(content)
    (snapshot / 'manifest.json').write_text(json.dumps(content))
    return snapshot


MALFORMED = {
    'an absolute path as a task': ('tasks', 'task_id', "'/victim'"),
    'a path that leaves': ('tasks', 'task_id', "'../victim'"),
    'the text of an escape': ('tasks', 'task_id', r"'/victim/\udc80'"),
    'a line feed behind an id': ('methods', 'method_id', 'method_id || chr(10)'),
    'an option as a pair': ('pairs', 'pair_id', "'--upload-pack=x'"),
    'an option as a revision': ('tasks', 'new_rev', "'--upload-pack=touch /victim'"),
    'a short revision': ('pairs', 'old_rev', "'HEAD'"),
    'a ref of options': ('repositories', 'ref', "'--all'"),
    'a mutant': ('mutants', 'mutant_id', "'../../x'"),
    'one of many methods': ('tasks', 'method_ids', "['../x', method_ids[1]]"),
    'a repository': ('repositories', 'repo', "'../..'"),
    'a repository of dots': ('tasks', 'repo', "'./..'"),
    'a family': ('repositories', 'family', "'/etc'"),
    'a test file above': ('tasks', 'test_file', "'../../../etc/passwd'"),
    'a test file anywhere': ('methods', 'test_file', "'/etc/passwd'"),
    "Git's own folder": ('methods', 'test_file', "'a/.GIT/config'"),
    'a file with a zero': ('mutants', 'file', "'a' || chr(0)"),
    'a file of a dependency': (
        'tasks',
        'dependencies',
        "[struct_update(d, file := '../x') FOR d IN dependencies]",
    ),
    'lines without end': (
        'tasks',
        'dependencies',
        '[struct_update(d, end_line := 9223372036854775807) FOR d IN dependencies]',
    ),
    'an address of options': ('repositories', 'url', "'--upload-pack=x'"),
    'an address with a control': ('repositories', 'url', "'https://e.org/' || chr(27)"),
    'a month': ('tasks', 'released', "'../2024-01'"),
    'a walk': ('pairs', 'walk', "'sideways'"),
    'an outcome': ('cells', 'outcome', "'success'"),
    'a date that Python lacks': ('methods', 'contamination_date', "TIMESTAMPTZ 'infinity'"),
    'a year that Python lacks': ('tasks', 'new_author_date', "TIMESTAMPTZ '20000-01-01'"),
    'a number that is none': ('tasks', 'coverage_gold', "'nan'::DOUBLE"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize('name', MALFORMED)
def test_a_malformed_value_is_found_wherever_a_snapshot_is_opened(
    snapshot: Path, name: str
) -> None:
    table, column, value = MALFORMED[name]
    edit(snapshot, table, **{column: value})
    found = verify_snapshot(snapshot)
    assert {('form', table, column)} == {(one.rule, one.table, one.detail) for one in found} or (
        {one.rule for one in found} == {'schema'}
    )
    with pytest.raises(DamagedSnapshot, match=column):
        coevo.open(snapshot)


@pytest.fixture(scope='module')
def hostile(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same snapshot in each form, whose tasks are called as a folder is."""
    folder = tmp_path_factory.mktemp('hostile')
    target = edit(
        Path(shutil.copytree(made, folder / 'snapshot')), 'tasks', task_id="'/tmp/victim'"
    )
    shutil.make_archive(str(folder / 'snapshot'), 'zip', target)
    return folder


@pytest.fixture(params=['folder', 'zip', 'url'])
def place(request: pytest.FixtureRequest, hostile: Path) -> Iterator[str]:
    if request.param != 'url':
        yield str(hostile / ('snapshot' if request.param == 'folder' else 'snapshot.zip'))
        return
    site = Site(hostile)
    yield f'{site.url}/snapshot'
    site.close()


VERBS = {
    'query': ('query', '{}', 'SELECT 1'),
    'verify': ('verify', '{}'),
    'show': ('show', '{}', '/tmp/victim'),
    'prompt': ('prompt', '{}', '/tmp/victim'),
    'identification': ('report', 'identification', '{}'),
    'evaluate': ('evaluate', '{}', '{predictions}', '--out', '{out}'),
    'attempt': ('run', '{}', '--agent', 'true', '--out', '{out}'),
    'publish': ('pipeline', 'publish', '{}', '{out}'),
    'site': ('pipeline', 'site', '{}', '--out', '{out}'),
    'reverify': ('pipeline', 'reverify', '{}', '--store', '{store}'),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize('verb', VERBS)
def test_every_verb_refuses_a_malformed_snapshot_in_one_sentence(
    place: str, verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predictions = tmp_path / 'predictions.jsonl'
    predictions.write_text('{"task_id": "/tmp/victim", "patch": null}\n')
    names = {'predictions': predictions, 'out': tmp_path / 'out', 'store': tmp_path / 'store'}
    status = main([word.format(place, **names) for word in VERBS[verb]])
    said = capsys.readouterr()
    assert status == (1 if verb in ('verify', 'publish') else 2), said
    assert 'Traceback' not in said.err
    told = [line for line in said.err.splitlines() if 'once' not in line]  # tools are fetched once
    assert len(told) == (0 if verb == 'verify' else 1), said.err
    assert not (tmp_path / 'out' / 'predictions.jsonl').exists()


MANIFESTS: dict[str, Callable[[dict[str, Any]], object]] = {
    'a month that leaves': lambda m: m.update(month='../other'),
    'a month of no kind': lambda m: m.update(month=['2024-01']),
    'a month with a line feed': lambda m: m.update(month='2024-01\n'),
    'a file above': lambda m: m['files'].update({'../x': {'size': 1, 'sha256': '0' * 64}}),
    'a file anywhere': lambda m: m['files'].update({'/x': {'size': 1, 'sha256': '0' * 64}}),
    'a size of no kind': lambda m: m['files']['README.md'].update(size='1'),
    'a checksum of no kind': lambda m: m['files']['README.md'].update(sha256=1),
    'files of no kind': lambda m: m.update(files=[]),
    'a file of no kind': lambda m: m['files'].update({'README.md': 1}),
    'rows of no kind': lambda m: m['rows'].update(tasks='x'),
    'rows that are too many': lambda m: m['rows'].update(tasks=10**400),
    'walks of no kind': lambda m: m.update(walks={}),
    'a walk of no kind': lambda m: m.update(walks=[1]),
    'a repository of no kind': lambda m: m['walks'][0].update(repo=['x']),
    'a walk whose name is of no kind': lambda m: m['walks'][0].update(walk={}),
    'unmined of no kind': lambda m: m['walks'][0].update(pairs_unmined='1'),
    'parameters of no kind': lambda m: m.update(parameters=[]),
    'licences of no kind': lambda m: m['parameters'].update(licences_accepted=['MIT']),
    'a version of no kind': lambda m: m.update(schema_version='1'),
    'a version that is a truth': lambda m: m.update(schema_version=True),
    'a minor version of no kind': lambda m: m.update(schema_minor=None),
    'a negative version': lambda m: m.update(schema_minor=-1),
}


@pytest.mark.parametrize('name', MANIFESTS)
def test_a_manifest_with_a_malformed_value_is_damaged(snapshot: Path, name: str) -> None:
    manifest(snapshot, MANIFESTS[name])
    for read in (verify_snapshot, coevo.open, snapshots_of.load_manifest):
        with pytest.raises(DamagedSnapshot, match='is damaged'):
            read(snapshot)


@pytest.mark.parametrize('text', ['', '[]', 'null', '1e999', '[' * 100_000, '\xff', '{"files": 1}'])
def test_a_text_that_is_no_manifest_is_damaged(snapshot: Path, text: str) -> None:
    (snapshot / 'manifest.json').write_bytes(text.encode('latin-1'))
    with pytest.raises(DamagedSnapshot, match='is damaged'):
        verify_snapshot(snapshot)


def test_the_month_of_a_manifest_cannot_lead_out_of_a_site(snapshot: Path, tmp_path: Path) -> None:
    """It once was the name of a folder below the site, hence of any folder."""
    other = tmp_path / 'other'
    shutil.copytree(snapshot, other)
    before = {path: path.read_bytes() for path in other.rglob('*') if path.is_file()}
    manifest(snapshot, lambda content: content.update(month=str(other)))
    with pytest.raises(DamagedSnapshot, match='is damaged'):
        write_site([snapshot], tmp_path / 'site', lambda line: None)
    assert {path: path.read_bytes() for path in other.rglob('*') if path.is_file()} == before
    assert not (tmp_path / 'site').exists()


def test_a_parquet_file_that_duckdb_cannot_read_is_damaged(snapshot: Path) -> None:
    methods = snapshot / 'data' / 'methods' / 'part-0.parquet'
    methods.write_bytes(methods.read_bytes()[:-9])
    with pytest.raises(DamagedSnapshot, match='cannot be read'):
        coevo.open(snapshot)
