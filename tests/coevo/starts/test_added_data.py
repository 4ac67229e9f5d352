"""What of a pair's new files goes along with its new tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.starts import added_files
from tests.repos import commit, git, init

JAVA = {
    'pom.xml': '<project/>',
    'more/pom.xml': '<project/>',
    'README': 'x',
    'src/main/resources/code.txt': 'x',
    'src/test/java/shop/TillTest.java': 'class TillTest {}',
    'src/test/java/shop/till.txt': '1',
    'src/test/resources/rates.txt': '2',
}
PYTHON = {
    'setup.py': 'x = 1\n',
    'README': 'x',
    'till/code.txt': 'x',
    'tests/conftest.py': 'x = 1\n',
    'tests/test_till.py': 'def test_a(): pass\n',
    'tests/data/rates.bin': b'\0\xff',
    'tests/test_till/a.yml': 'a: 1\n',
}


def added(folder: Path, language: str, new: dict[str, str | bytes | None]) -> dict[str, bytes]:
    repo = init(folder)
    old: dict[str, str | bytes | None] = {
        'src/test/resources/old.txt': '1',
        'tests/old.txt': '1',
    }
    first = commit(repo, 'first', old, date='2024-03-01T00:00:00Z')
    (repo / 'tests' / 'link.txt').symlink_to('old.txt')
    git(repo, 'add', 'tests/link.txt')
    changed = {'src/test/resources/old.txt': '2', 'tests/old.txt': None}
    second = commit(repo, 'second', {**changed, **new}, date='2024-03-02T00:00:00Z')
    found = added_files.list_added_test_data(Repository(repo / '.git'), language, first, second)
    assert [path for path, _ in found] == sorted(path for path, _ in found)
    return {path: content for path, content in found if content is not None}


def test_new_data_of_the_tests_is_added_but_no_sources(tmp_path: Path) -> None:
    assert added(tmp_path / 'java', 'java', {**JAVA}) == {
        'src/test/java/shop/till.txt': b'1',
        'src/test/resources/rates.txt': b'2',
    }
    assert added(tmp_path / 'python', 'python', {**PYTHON}) == {
        'tests/data/rates.bin': b'\0\xff',
        'tests/test_till/a.yml': b'a: 1\n',
    }


def test_added_data_has_the_line_ends_of_a_checkout(tmp_path: Path) -> None:
    new = {'.gitattributes': '*.csv text eol=crlf\n', 'tests/test_a.py': '', 'tests/a.csv': 'a\n'}
    assert added(tmp_path / 'python', 'python', {**new}) == {'tests/a.csv': b'a\r\n'}


def test_no_data_is_added_above_the_size_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(added_files, 'MOST_BYTES', 7)
    assert added(tmp_path, 'python', {**PYTHON, 'tests/a.txt': 'a'}) == {}


def test_files_of_a_cell_replace_added_data_of_the_same_name() -> None:
    files = (('tests/b', None), ('tests/c', b'1'))
    assert added_files.merge_data(files, (('tests/a', b'2'), ('tests/c', b'3'))) == (
        ('tests/a', b'2'),
        ('tests/b', None),
        ('tests/c', b'1'),
    )
