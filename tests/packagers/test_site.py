"""The site's folder: whole, deterministic, nothing from elsewhere, and never in another's place."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path

import duckdb
import pytest

from coevo.command.main import main
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.reasons import EXPLANATIONS
from coevo.snapshots.snapshot import open_snapshots
from packagers.site import folder
from tests import snapshots
from tests.coevo.snapshots.older_schemas import LAST_OF_2, write_as_schema_2
from tests.packagers import sites

# The name of SVG's elements; nothing is fetched from there.
NAMESPACE = 'http://www.w3.org/2000/svg'


def silent(text: str) -> None:
    """Nobody listens."""


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sites.make(tmp_path_factory.mktemp('months'))


def contents(site: Path) -> dict[str, str]:
    return {
        path.relative_to(site).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in site.rglob('*')
        if path.is_file()
    }


def test_site_command_writes_page_and_data_and_prints_how_to_serve_them(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / 'new' / 'site'
    assert main(['pipeline', 'site', str(snapshot), '--out', str(out)]) == 0
    assert f'python3 -m http.server --directory {out} 8000' in capsys.readouterr().out
    index = json.loads((out / 'site.json').read_bytes())
    (month,) = index['months']
    manifest = (snapshot / 'manifest.json').read_bytes()
    assert month['month'] == '2024-06'
    assert month['manifest_sha256'] == hashlib.sha256(manifest).hexdigest()
    for files in month['files'].values():
        for file in files:
            copy = out / '2024-06' / file['path']
            assert copy.read_bytes() == (snapshot / file['path']).read_bytes()
            assert copy.stat().st_size == file['size']
    assert {'index.html', 'main.js', 'main.css', 'licences.txt'} <= set(contents(out))


def test_page_loads_nothing_from_other_hosts_or_absolute_paths(
    snapshot: Path, tmp_path: Path
) -> None:
    out = folder.write_site([snapshot], tmp_path / 'site', silent)
    for name in ('index.html', 'main.js', 'main.css'):
        text = (out / name).read_text().replace(NAMESPACE, '')
        assert not re.search(r'(https?:)?//[\w-]+\.[\w.-]+', text), name
        assert not re.search(r'(src|href|url)\s*[=(]\s*["\']?/', text), name
    assert "default-src 'none'" in (out / 'index.html').read_text()
    # What a reader waits for before the first data.
    sizes = [(out / name).stat().st_size for name in ('index.html', 'main.js', 'main.css')]
    assert sum(sizes) < 200_000


def test_same_snapshots_in_any_order_give_the_same_site(snapshot: Path, tmp_path: Path) -> None:
    older = snapshots.make(tmp_path / 'older', 1, 2)
    one = folder.write_site([older, snapshot], tmp_path / 'one', silent)
    other = folder.write_site([snapshot, older], tmp_path / 'other', silent)
    assert contents(one) == contents(other)
    index = json.loads((one / 'site.json').read_bytes())
    assert [month['month'] for month in index['months']] == ['2024-06', '2024-01']


def test_site_explains_every_reason_and_has_no_unstated_model_cutoff(
    snapshot: Path, tmp_path: Path
) -> None:
    out = folder.write_site([snapshot], tmp_path / 'site', silent)
    index = json.loads((out / 'site.json').read_bytes())
    assert index['reasons'] == EXPLANATIONS
    models = {name: model for model in index['models'] for name in model['names']}
    assert models['gpt-5-codex']['cutoff'] == '2024-09-30'
    assert models['devstral-small']['cutoff'] is None


def test_report_that_contradicts_its_results_is_refused(snapshot: Path, tmp_path: Path) -> None:
    scored = sites.score(tmp_path / 'a', snapshot, 'Agent A', 7)
    path = scored / 'report.json'
    path.write_text(path.read_text().replace('"value": 0.7', '"value": 0.9', 1))
    with pytest.raises(Fatal, match='is not that of the results beside it'):
        folder.write_site([snapshot], tmp_path / 'site', silent, [scored])


def test_reports_are_listed_under_the_snapshot_that_they_score(
    snapshot: Path, tmp_path: Path
) -> None:
    older = snapshots.make(tmp_path / 'older', 1, 2)
    scored = [
        sites.score(tmp_path / 'a', snapshot, 'Agent A', 7),
        sites.score(tmp_path / 'b', snapshot, 'Agent B', 9),
    ]
    out = tmp_path / 'site'
    words = [
        'pipeline',
        'site',
        str(older),
        str(snapshot),
        '--out',
        str(out),
        '--results',
        *map(str, scored),
    ]
    assert main(words) == 0
    index = json.loads((out / 'site.json').read_bytes())
    assert [month['reports'] for month in index['months']] == [2, 0]
    shown = json.loads((out / '2024-06' / 'reports.json').read_bytes())
    assert shown == [json.loads((one / 'report.json').read_bytes()) for one in scored]
    assert json.loads((out / '2024-01' / 'reports.json').read_bytes()) == []
    again = folder.write_site([snapshot, older], tmp_path / 'again', silent, scored[::-1])
    assert contents(again) == contents(out)


def test_missing_or_outdated_report_or_report_of_another_snapshot_is_refused(
    snapshot: Path, tmp_path: Path
) -> None:
    scored = sites.score(tmp_path / 'a', snapshot, 'Agent A', 7)
    other = snapshots.make(tmp_path / 'other', 1)
    for place, words in (
        (scored, 'which is none of those named'),
        (tmp_path / 'other', 'has no report.json'),
    ):
        with pytest.raises(Fatal, match=words):
            folder.write_site([other], tmp_path / 'site', silent, [place])
    (scored / 'report.json').write_text('{"report_version": 0}')
    with pytest.raises(
        Fatal, match='is not a report of version 4; write it again with `coevo report regrade'
    ):
        folder.write_site([snapshot], tmp_path / 'site', silent, [scored])
    assert not (tmp_path / 'site').exists()


def test_site_replaces_an_older_site_and_no_foreign_folder(snapshot: Path, tmp_path: Path) -> None:
    out = tmp_path / 'site'
    folder.write_site([snapshots.make(tmp_path, 1)], out, silent)
    (out / 'left.txt').write_text('of the old site')
    folder.write_site([snapshot], out, silent)
    assert (out / '2024-06').is_dir()
    assert not (out / '2024-01').exists()
    assert not (out / 'left.txt').exists()
    assert [path.name for path in tmp_path.glob('.site*')] == []
    foreign = tmp_path / 'thesis'
    foreign.mkdir()
    (foreign / 'site.json').write_text('{"mine": 1}')
    with pytest.raises(Fatal, match='is there and is no site of coevo'):
        folder.write_site([snapshot], foreign, silent)
    assert contents(foreign).keys() == {'site.json'}


def test_snapshot_file_that_differs_from_the_manifest_gives_no_site(tmp_path: Path) -> None:
    snapshot = snapshots.make(tmp_path, 1)
    (file,) = (snapshot / 'data' / 'pairs').iterdir()
    file.write_bytes(file.read_bytes() + b' ')
    with pytest.raises(DamagedSnapshot, match='not what the manifest says'):
        folder.write_site([snapshot], tmp_path / 'site', silent)
    assert not (tmp_path / 'site').exists()


def test_dangling_link_in_a_snapshot_gives_no_site(tmp_path: Path) -> None:
    snapshot = snapshots.make(tmp_path, 1, 2)
    file = next((snapshot / 'data' / 'tasks').iterdir())
    file.unlink()
    file.symlink_to('nowhere')
    with pytest.raises(DamagedSnapshot, match='leads nowhere: get the snapshot again'):
        folder.write_site([snapshot], tmp_path / 'site', silent)
    assert not (tmp_path / 'site').exists()


def test_two_snapshots_of_one_month_are_refused(snapshot: Path, tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='two of the snapshots are of 2024-06'):
        folder.write_site([snapshot, snapshot], tmp_path / 'site', silent)


def test_site_of_a_month_is_that_of_the_edition_in_its_folder(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = folder.write_site([snapshot], tmp_path / 'direct', silent)
    (tmp_path / 'months' / '2024-06').mkdir(parents=True)
    (tmp_path / 'months' / '2024-06' / 'code-free').symlink_to(snapshot)
    monkeypatch.setenv('COEVO_SNAPSHOTS', str(tmp_path / 'months'))
    for number, place in enumerate((tmp_path / 'months' / '2024-06', '2024-06', 'latest')):
        out = tmp_path / f'site-{number}'
        assert main(['pipeline', 'site', str(place), '--out', str(out)]) == 0
        assert contents(out) == contents(direct)


@pytest.mark.parametrize(
    ('name', 'sentence'),
    [
        ('empty', 'neither it nor a folder in it has a manifest.json; name the folder of one'),
        ('absent', 'there is no such folder; name the folder of one'),
        ('2024-13', '2024-13 is no month; write it like 2024-12'),
    ],
)
def test_place_without_a_snapshot_is_refused_in_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'empty' / 'inner').mkdir(parents=True)
    assert main(['pipeline', 'site', name, '--out', 'site']) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert len(told.splitlines()) == 1
    assert not (tmp_path / 'site').exists()


def test_archive_instead_of_a_snapshot_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / '2024-06.zip'
    archive.write_bytes(b'PK')
    assert main(['pipeline', 'site', str(archive), '--out', str(tmp_path / 'site')]) == 2
    assert 'name its folder' in capsys.readouterr().err


def test_npm_packages_are_pinned_by_checksum_and_not_by_address() -> None:
    lock = Path(folder.__file__).parent / 'web' / 'package-lock.json'
    packages = json.loads(lock.read_bytes())['packages']
    installed = {name: entry for name, entry in packages.items() if name}
    assert {'node_modules/hyparquet', 'node_modules/fzstd', 'node_modules/esbuild'} <= set(
        installed
    )
    assert all(entry['integrity'].startswith('sha512-') for entry in installed.values())
    assert '://' not in lock.read_text()


def test_missing_node_is_reported_with_how_to_install_it(
    snapshot: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv('PATH', str(tmp_path))
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    assert main(['pipeline', 'site', str(snapshot), '--out', str(tmp_path / 'site')]) == 2
    assert 'apt install nodejs npm' in capsys.readouterr().err
    assert not (tmp_path / 'site').exists()


LIMITS = [
    ({}, 'standard', ''),
    ({'scope': 'all'}, 'methods', ''),
    ({'scope': 'walks'}, 'methods', 'old_is_ancestor'),
    ({'tracks': ['update', 'none']}, 'standard', "track = 'update' OR track IS NULL"),
    ({'label': 'refinement', 'repo': sites.OTHER}, 'standard', "label = 'refinement' AND repo = 'example/tram'"),
    ({'cause': 'fixture', 'language': 'java'}, 'standard', "cause = 'fixture'"),
    ({'from': '2016-02-15', 'to': '2019-05-28'}, 'standard', "new_committer_date >= '2016-02-15' AND new_committer_date < '2019-05-29'"),
    ({'after': '2017-06-30'}, 'standard', "clean(contamination_date, '2017-06')"),
    ({'after': '1900-01-01'}, 'standard', 'contamination_date IS NOT NULL'),
    ({'words': 'FARE isnever'}, 'standard', "test_method = 'isNeverNegative'"),
]  # fmt: skip

ASK = """
import { readFileSync } from 'node:fs'
const [folder] = process.argv.slice(1)
const { chosen } = await import(`${folder}/filters.js`)
const { standard } = await import(`${folder}/evidence.js`)
const { rows, rules, limits } = JSON.parse(readFileSync(0, 'utf8'))
const moments = name => rows[name].map(value => value ?? NaN)
rows.length = rows.method_id.length
rows.standard = standard(rows, rules)
rows.committed = moments('committed')
rows.public = moments('public')
rows.causes = rows.cause.map(cause => (cause ? [cause] : []))
const none = { scope: 'standard', tracks: [] }
console.log(JSON.stringify(limits.map(limit => chosen(rows, { ...none, ...limit }).map(i => rows.method_id[i]).sort())))
"""


def test_page_filters_select_the_same_methods_as_duckdb(snapshot: Path) -> None:
    """The program of the page itself, on rows that DuckDB read; a browser does the rest (live)."""

    connection = open_snapshots(snapshot)
    dated = """SELECT methods.* REPLACE (NULL AS dependencies), new_committer_date,
        epoch_ms(new_committer_date) AS committed, epoch_ms(contamination_date) AS public
        FROM methods JOIN pairs USING (pair_id, walk)"""
    unwanted = 'contamination_date, code_first_seen, new_committer_date'
    table = connection.sql(f'SELECT * EXCLUDE ({unwanted}) FROM ({dated})').to_arrow_table()
    rows = table.to_pydict()
    question = {
        'rows': rows,
        'rules': folder.describe_standard_view_conditions(),
        'limits': [limits for limits, _, _ in LIMITS],
    }
    answer = subprocess.run(
        [
            'node',
            '--input-type=module',
            '--eval',
            ASK,
            str(Path(folder.__file__).parent / 'web' / 'src'),
        ],
        check=True,
        input=json.dumps(question),
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    for (limits, view, condition), found in zip(LIMITS, json.loads(answer), strict=True):
        sql = f"""SELECT method_id FROM {view} JOIN
            (SELECT pair_id, walk, new_committer_date FROM pairs) USING (pair_id, walk)
            WHERE {condition or 'true'} ORDER BY method_id"""
        expected = [each for (each,) in connection.sql(sql).fetchall()]
        assert found == expected, limits
        assert expected, limits


ADDRESSES = """
const { commitAddress, compareAddress } = await import(process.argv[1])
const cases = JSON.parse(process.argv[2])
console.log(JSON.stringify(cases.map(([url, old, now]) => [commitAddress(url, old), compareAddress(url, old, now)])))
"""
OLD, NEW = 'a' * 40, 'b' * 40
FOREIGN = [
    ('javascript:alert(1)//github.com/a/b', OLD, NEW),
    ('https://github.com.example.org/a/b', OLD, NEW),
    ('https://github.com@example.org/a/b', OLD, NEW),
    ('https://github.com/a/b?x=1', OLD, NEW),
    ('https://github.com/a/b#x', OLD, NEW),
    ('https://github.com/a/..', OLD, NEW),
    ('https://github.com/a/b/c', OLD, NEW),
    ('https://github.com/-a/b', OLD, NEW),
    ('http://github.com/a/b', OLD, NEW),
    ('https://github.com/a/b', 'HEAD', NEW),
    ('https://github.com/a/b', f'{OLD}\n', '../..'),
    ('https://constructor/a/b', OLD, NEW),
    (None, OLD, NEW),
]


def test_addresses_of_changes_are_built_only_from_parts_of_the_right_form() -> None:
    good = [(f'https://github.com/a/b.c{end}', OLD, NEW) for end in ('', '.git', '/')]
    answer = subprocess.run(
        [
            'node',
            '--input-type=module',
            '-e',
            ADDRESSES,
            str(Path(folder.__file__).parent / 'web/src/hosts.js'),
            json.dumps([*good, *FOREIGN]),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(answer.stdout)
    root = 'https://github.com/a/b.c'
    assert found[:3] == [[f'{root}/commit/{OLD}', f'{root}/compare/{OLD}..{NEW}']] * 3
    assert found[3:] == [[None, None]] * len(FOREIGN)


def test_addresses_that_are_no_https_are_refused_as_links(snapshot: Path, tmp_path: Path) -> None:
    for address in ('javascript:alert(1)', 'http://example.org', 'https://example.org/"onclick="'):
        with pytest.raises(Fatal, match='is no https:// address'):
            folder.write_site([snapshot], tmp_path / 'site', silent, links={'manual': address})
    out = folder.write_site(
        [snapshot], tmp_path / 'site', silent, links={'manual': 'https://example.org/manual/'}
    )
    index = json.loads((out / 'site.json').read_bytes())
    assert index['links'] == {'manual': 'https://example.org/manual/'}


def test_rows_of_an_older_schema_are_written_under_the_names_of_now(
    snapshot: Path, tmp_path: Path
) -> None:
    write_as_schema_2(snapshot, LAST_OF_2)
    out = folder.write_site([snapshot], tmp_path / 'site', silent)
    (month,) = json.loads((out / 'site.json').read_bytes())['months']
    (file,) = month['files']['methods']
    (path,) = out.glob(f'*/{file["path"]}')
    written = duckdb.sql(f"FROM read_parquet('{path}')")
    assert 't_old_c_new_passes' in written.columns
    assert 'told_cnew_passes' not in written.columns
    query = 'SELECT method_id, walk, t_old_c_new FROM methods'
    assert sorted(open_snapshots(snapshot).sql(query).fetchall(), key=str) == sorted(
        written.project('method_id, walk, t_old_c_new').fetchall(), key=str
    )


def test_the_page_says_how_many_tasks_of_an_edition_lack_their_texts(tmp_path: Path) -> None:
    edition = Path(__file__).parents[2] / 'snapshots/2026-06/code-free'
    (tasks,) = open_snapshots(edition).execute('SELECT count(*) FROM tasks').fetchone() or ()
    out = folder.write_site([edition], tmp_path / 'site', silent)
    (month,) = json.loads((out / 'site.json').read_bytes())['months']
    assert month['withheld'].startswith(f'The texts of all {tasks} tasks are withheld here')


def test_the_page_knows_the_release_of_an_edition_and_how_many_pairs_are_not_mined(
    snapshot: Path, tmp_path: Path
) -> None:
    edition = Path(__file__).parents[2] / 'snapshots/2026-06/code-free'
    out = folder.write_site([snapshot, edition], tmp_path / 'site', silent)
    newer, older = json.loads((out / 'site.json').read_bytes())['months']
    release = hashlib.sha256((edition / 'full-manifest.json').read_bytes()).hexdigest()
    assert (newer['release_sha256'], older['release_sha256']) == (release, None)
    sql = """SELECT sum(pairs_found) - (SELECT count(*) FROM pairs) FROM repositories"""
    assert open_snapshots(edition).sql(sql).fetchall() == [(newer['unmined'],)]
    assert older['unmined'] == 0


@pytest.mark.slow
def test_results_of_a_whole_release_are_accepted_for_its_edition(tmp_path: Path) -> None:
    edition = Path(__file__).parents[2] / 'snapshots/2026-06/code-free'
    scored = sites.score(tmp_path / 'a', edition, 'Agent A', 7)
    manifest = json.loads((edition / 'manifest.json').read_bytes())
    whole = tmp_path / 'whole'
    whole.mkdir()
    (whole / 'manifest.json').write_bytes((edition / 'full-manifest.json').read_bytes())
    full = sites.score(tmp_path / 'b', whole, 'Agent B', 9)
    report = json.loads((full / 'report.json').read_bytes())
    assert report['snapshot_sha256'] == manifest['edition']['manifest_sha256']
    out = folder.write_site([edition], tmp_path / 'site', silent, [scored, full])
    assert json.loads((out / 'site.json').read_bytes())['months'][0]['reports'] == 2
