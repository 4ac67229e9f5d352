"""A release of toys, its code-free edition, and the release again."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from coevo.command.main import main
from coevo.model.dictionary import NAMES_AND_FACTS, OF_OTHERS, find_third_party_paths
from coevo.model.errors import Fatal
from coevo.model.profiles import load_profile
from coevo.model.schema import TABLES
from coevo.snapshots import snapshot, verification
from coevo.snapshots.code_free.recipes import TextPiece, join_pieces
from coevo.snapshots.rules import SnapshotRule
from coevo.snapshots.snapshot import OpenedSnapshots, open_snapshots
from flows.options import ReleaseOptions
from flows.publication import publish_release, write_code_free_edition
from packagers.slices import LEAST, SliceIndex
from packagers.withdrawal import load_earlier_snapshot
from tests.languages import toys
from tests.projects import write
from tests.repos import git

OLD = {
    **toys.BUILD,
    **toys.source('Till', 'price: 1', 'stays: 3'),
    **toys.tests('Till', 'follows: is Till.price 1', 'stays: is Till.stays 3'),
    **toys.tests('Calm', 'rests: call Till.price'),
}
NEW = {
    **toys.source('Till', 'price: 2', 'stays: 3', 'tax: 5'),
    **toys.tests(
        'Till',
        'follows: is Till.price 2',
        'stays: is Till.stays 3',
        'rings: use _five',
        '_five: is Till.tax 5',
    ),
}


@pytest.fixture(scope='module')
def options(toy: None, tmp_path_factory: pytest.TempPathFactory) -> ReleaseOptions:
    folder = tmp_path_factory.mktemp('edition')
    repository = write(folder / 'repository', [OLD, NEW])
    found = toys.mined(repository, folder / 'store', profile=load_profile('whole'))
    options = ReleaseOptions(
        store=found.store, snapshot=folder / 'whole', code_free=folder / 'edition'
    )
    publish_release(options)
    write_code_free_edition(options)
    return options


@pytest.fixture(scope='module')
def edition(options: ReleaseOptions) -> Path:
    assert isinstance(options.code_free, Path)
    return options.code_free


@pytest.fixture(scope='module')
def whole(options: ReleaseOptions) -> Path:
    assert isinstance(options.snapshot, Path)
    return options.snapshot


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob('*'))
        if path.is_file()
    }


def texts(folder: Path) -> list[str]:
    """What the columns with text of others hold."""
    return [text for table in TABLES for text in _texts(folder, table)]


def _texts(folder: Path, table: str) -> Iterator[str]:
    for file in snapshot.list_data_files(folder, table):
        for row in pq.read_table(file).to_pylist():
            for path in find_third_party_paths(TABLES[table]):
                name, _, inner = path.partition('.')
                values = [one[inner] for one in row[name]] if inner else [row[name]]
                yield from (value for value in values if value)


@pytest.mark.parametrize('table', TABLES)
def test_every_column_is_classified_as_text_or_fact(table: str) -> None:
    find_third_party_paths(TABLES[table])
    assert not OF_OTHERS & NAMES_AND_FACTS


def test_unclassified_column_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('coevo.model.dictionary.NAMES_AND_FACTS', NAMES_AND_FACTS - {'signature'})
    find_third_party_paths.cache_clear()
    try:
        with pytest.raises(TypeError, match='signature'):
            find_third_party_paths(TABLES['cells'])
    finally:
        find_third_party_paths.cache_clear()


def test_edition_has_all_rows_and_no_text(whole: Path, edition: Path) -> None:
    assert len(texts(whole)) > 10
    assert texts(edition) == []
    whole_rows = json.loads((whole / 'manifest.json').read_text())['rows']
    connection = open_snapshots(edition)
    for table, count in whole_rows.items():
        assert connection.sql(f'SELECT count(*) FROM {table}').fetchall() == [(count,)]
    sql = 'SELECT track, test_methods, prompt FROM standard_tasks ORDER BY track'
    assert connection.sql(sql).fetchall() == [
        ('generation', ['TillTest#rings'], None),
        ('update', ['TillTest#follows'], None),
    ]
    plain = duckdb.sql(f"SELECT count(*), count(test_patch) FROM '{edition}/data/tasks/*.parquet'")
    assert plain.fetchall() == [(2, 0)]


def test_edition_contains_no_line_of_code(edition: Path, whole: Path) -> None:
    """But for what coevo itself writes; names of files and tests are no code."""
    words = [
        piece['words']
        for recipe in pq.read_table(edition / 'data/texts/recipes.parquet').to_pylist()
        for piece in recipe['pieces']
    ]
    lines = {
        line.strip() for file in (OLD, NEW) for text in file.values() for line in text.split('\n')
    }
    code = {line for line in lines if len(line) >= LEAST}
    assert code
    assert not [(line, word) for word in words for line in code if line in word]


def test_edition_verifies_and_lists_the_rules_that_were_not_checked(
    edition: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['verify', str(edition)]) == 0
    said = capsys.readouterr().out
    assert 'not checked, since a code-free edition has no texts' in said
    assert 'tasks.sibling_patch' in said
    assert re.search(r'checked: \d+ files by SHA-256, [\d,]+ rows .* and \d+ rules', said)


def test_only_the_rules_that_read_texts_cannot_be_checked_without_texts(whole: Path) -> None:
    """Without the columns they cannot be asked, and all others can."""
    opened = snapshot.attach_snapshots_unchecked((whole,))
    for name, rows in dict(opened.rows).items():
        gone = sorted({path.partition('.')[0] for path in find_third_party_paths(TABLES[name])})
        kept = f'* EXCLUDE ({", ".join(gone)})' if gone else '*'
        opened.connection.execute(f'CREATE VIEW {name} AS SELECT {kept} FROM {rows}')
    unasked = {rule for rule in verification.LAWS if not _can_be_asked(opened, rule)}
    # One reads columns of nested rows that are left: they went here with the list that holds them.
    counted = {rule for rule in verification.LAWS if rule.name == 'suite_counted'}
    assert unasked - counted == {rule for rule in verification.LAWS if rule.reads_texts}


def _can_be_asked(opened: OpenedSnapshots, rule: SnapshotRule) -> bool:
    try:
        opened.connection.execute(f'SELECT count(*) FROM ({rule.sql})')
    except duckdb.BinderException:
        return False
    return True


def test_verification_finds_a_text_in_an_edition(
    edition: Path, whole: Path, tmp_path: Path
) -> None:
    changed = Path(shutil.copytree(edition, tmp_path / 'changed'))
    name = 'data/tasks/update.parquet'
    content = json.loads((changed / 'manifest.json').read_text())
    table = pq.read_table(changed / name)
    at = table.schema.get_field_index('prompt')
    field = table.schema.field(at)
    pq.write_table(table.set_column(at, field, [['Do this.']]), changed / name)
    content['files'][name] = {
        'sha256': files(changed)[name],
        'size': (changed / name).stat().st_size,
    }
    (changed / 'manifest.json').write_text(json.dumps(content))
    assert {one.rule for one in verification.verify_snapshot(changed)} == {'text_of_others'}


def test_hydration_restores_the_bytes_of_the_snapshot(
    options: ReleaseOptions, edition: Path, whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / 'again'
    assert main(['get', str(edition), '--out', str(out), '--store', str(options.store)]) == 0
    assert files(out) == files(whole)


def test_hydration_accepts_a_named_folder_of_clones(
    options: ReleaseOptions, edition: Path, whole: Path, tmp_path: Path
) -> None:
    (clone,) = (Path(str(options.store)) / 'clones').glob('*.git')
    owner, _, name = clone.name.removesuffix('.git').partition('+')
    (tmp_path / 'clones' / owner).mkdir(parents=True)
    git(tmp_path, 'clone', '-q', str(clone), str(tmp_path / 'clones' / owner / name))
    out = tmp_path / 'again'
    command = ['get', str(edition), '--out', str(out), '--clones', str(tmp_path / 'clones')]
    assert main(command) == 0
    assert files(out) == files(whole)


def test_hydration_refuses_a_clone_that_lacks_an_object(
    options: ReleaseOptions, edition: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone,) = (Path(str(options.store)) / 'clones').glob('*.git')
    copy = tmp_path / 'clones' / clone.name
    copy.parent.mkdir()
    git(tmp_path, 'clone', '-q', '--bare', '--depth=1', f'file://{clone}', str(copy))
    out = tmp_path / 'again'
    command = ['get', str(edition), '--out', str(out), '--clones', str(copy.parent)]
    assert main(command) == 1
    said = capsys.readouterr().err
    assert f'{copy} lacks ' in said
    assert 'was not written' in said
    assert [path.name for path in tmp_path.iterdir()] == ['clones']


def test_hydration_reports_a_repository_without_an_address(
    edition: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['get', str(edition), '--out', str(tmp_path / 'again')]) == 1
    assert 'has no address to clone from' in capsys.readouterr().err


def test_getting_a_snapshot_that_has_its_texts_copies_it(whole: Path, tmp_path: Path) -> None:
    again = tmp_path / 'again'
    assert main(['get', str(whole), '--out', str(again), '--store', str(tmp_path)]) == 2
    assert not again.exists()
    assert main(['get', str(whole), '--out', str(again)]) == 0
    files = sorted(path for path in whole.rglob('*') if path.is_file())
    assert [(again / file.relative_to(whole)).read_bytes() for file in files] == [
        file.read_bytes() for file in files
    ]
    assert main(['get', str(whole), '--out', str(again)]) == 2
    assert main(['prompt', str(whole), _task(whole)]) == 0


def test_an_edition_gives_no_prompt(edition: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(['prompt', str(edition), _task(edition)]) == 2
    assert 'coevo get' in capsys.readouterr().err
    assert main(['show', str(edition), _task(edition)]) == 0


def test_edition_is_published_unchanged_and_serves_as_an_earlier_snapshot(
    edition: Path, tmp_path: Path
) -> None:
    assert main(['pipeline', 'publish', str(edition), str(tmp_path / 'elsewhere')]) == 0
    assert files(tmp_path / 'elsewhere') == files(edition)
    earlier = load_earlier_snapshot(edition, '2999-01')
    assert len(earlier.tasks) == 2


def test_edition_of_an_edition_is_refused(
    options: ReleaseOptions, edition: Path, tmp_path: Path
) -> None:
    with pytest.raises(Fatal, match='already'):
        write_code_free_edition(
            ReleaseOptions(store=options.store, snapshot=edition, code_free=tmp_path / 'another')
        )


def _task(folder: Path) -> str:
    ((found,),) = open_snapshots(folder).sql('SELECT min(task_id) FROM tasks').fetchall()
    return str(found)


@pytest.mark.parametrize(
    ('text', 'is_patch'),
    [
        ('', False),
        ('def total():\n    return price() + tax()\n', False),
        ('total():\n        return price() + tax()', False),
        ('say: return price() + 3 of all', False),
        ('@@ -1,2 +1,2 @@\n def total():\n-    return price() + tax()\n+    return 3\n', True),
        ('+def total():\n+    return price() + tax()\n\\ No newline at end of file\n', True),
        ('+\n+\n-x\n', True),
    ],
)
def test_text_is_rebuilt_from_its_recipe(text: str, is_patch: bool) -> None:
    file = '# prices\n\ndef total():\n    return price() + tax()\n'
    pieces = SliceIndex([(4, file)]).make_recipe(text, is_patch=is_patch)
    assert join_pieces(pieces, {4: file}.__getitem__) == text
    assert not [piece for piece in pieces if 'return price()' in piece.words]


@pytest.mark.parametrize('seed', range(40))
def test_text_of_random_pieces_of_files_is_rebuilt_from_its_recipe(seed: int) -> None:
    """Lines cut, mended, indented otherwise, with other ends, beside what stands in no file."""
    drawn = random.Random(seed)
    words = [
        'def',
        'price',
        'return',
        'total()',
        '+',
        '-',
        '@@',
        '',
        ' ',
        '    ',
        'ü',
        '\\udcff',
        '\r',
    ]
    files = {
        number: ''.join(
            ' '.join(drawn.choices(words, k=drawn.randrange(6))) + drawn.choice(['\n', '\n\n', ''])
            for _ in range(drawn.randrange(30))
        )
        for number in range(3)
    }
    shelf = SliceIndex(list(files.items()))
    for _ in range(20):
        parts = []
        for _ in range(drawn.randrange(8)):
            file = files[drawn.randrange(3)]
            start = drawn.randrange(len(file) + 1)
            cut = file[start : start + drawn.randrange(60)]
            parts += [drawn.choice(['', '+', '-', ' ', 'else\n']), cut, drawn.choice(['', '\n'])]
        text = ''.join(parts)
        for is_patch in (False, True):
            pieces = shelf.make_recipe(text, is_patch=is_patch)
            assert join_pieces(pieces, files.__getitem__) == text


def test_consecutive_lines_of_a_patch_are_one_slice() -> None:
    file = 'one\ntwo\n\nthree\n'
    pieces = SliceIndex([(0, file)]).make_recipe('+one\n+two\n+\n+three\n', is_patch=True)
    assert pieces == (TextPiece(source=0, start=0, length=len(file), prefix='+'),)
