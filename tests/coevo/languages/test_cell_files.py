"""The files of a cell: the tests of one revision in the code of another, as a checkout has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.core.cell_files import RevisionTrees
from coevo.languages.golang.toolchains import find_toolchains
from coevo.model.words import Outcome
from tests.coevo.languages.golang.place import GO_MOD, opened
from tests.coevo.languages.python.shops import method, shop
from tests.repos import commit, init


def test_each_side_of_a_cell_follows_the_attributes_of_its_revision(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    files = {'code.txt': 'a\n', 'test.txt': 'a\n', 'plain.md': 'a\n'}
    plain = commit(repo, 'plain', {**files, '.gitattributes': '*.md text\n'})
    windows = commit(repo, 'windows', {'.gitattributes': '*.txt text eol=crlf\n'})
    trees = RevisionTrees(
        repository=Repository(repo / '.git'), select_test_paths=lambda *_: ['test.txt']
    )
    for _ in range(2):
        cell = trees.collect_cell_files(windows, plain)
        contents = {path: content for path, (_, content) in cell.items()}
        assert contents['test.txt'] == b'a\r\n'
        assert (contents['code.txt'], contents['plain.md']) == (b'a\n', b'a\n')
        trees.forget_revision(windows)
    assert trees.collect_cell_files(plain, windows)['code.txt'] == ('100644', b'a\r\n')


CSV = {'.gitattributes': '*.csv text eol=crlf\n', 'tests/a.csv': 'a\n', 'testdata/a.csv': 'a\n'}


def test_python_tests_read_the_line_ends_of_a_checkout(tmp_path: Path) -> None:
    text = "def test_data():\n    assert open('tests/a.csv', 'rb').read() == b'a\\r\\n'\n"
    with shop(tmp_path, {**CSV, 'tests/test_till.py': text}, {'till.py': 'A = 1\n'}) as place:
        verdict = place.verdict(method('test_data'))
    assert verdict.outcome is Outcome.PASS, verdict.message


@pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')
def test_go_tests_read_the_line_ends_of_a_checkout(tmp_path: Path) -> None:
    text = (
        'package shop\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestData(t *testing.T) {\n'
        '\tif b, _ := os.ReadFile("testdata/a.csv"); string(b) != "a\\r\\n" {\n\t\tt.Fatal(b)\n\t}\n}\n'
    )
    files = {**GO_MOD, **CSV, 'shop.go': 'package shop\n', 'shop_test.go': text}
    with opened(tmp_path, [files]) as place:
        verdict = place.verdict('TestData')
    assert verdict.outcome is Outcome.PASS, verdict.message
