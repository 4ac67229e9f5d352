"""What of a pair's new helpers goes along with its new tests, in each language."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.starts import added_files
from coevo.starts.added_files import TestSources
from tests.repos import commit, init

Tree = Mapping[str, str | bytes | None]

JAVA = 'src/test/java/shop'
BASE = 'package shop;\n\nabstract class Base {\n    int one() { return 1; }\n%s}\n'
MORE = (
    '\n    static final int RATE = 2;\n'
    '\n    int two() { return one() + RATE; }\n'
    '\n    @Test\n    void tested() {}\n'
    '\n    @BeforeEach\n    void runsByItself() {}\n'
    '\n    static class Till {\n        Till(int n) {}\n    }\n'
)
EXTENDED = (
    'package shop;\n\nabstract class Base {\n    int one() { return 1; }\n'
    '\n    static final int RATE = 2;\n'
    '\n    int two() { return one() + RATE; }\n'
    '\n    static class Till {\n        Till(int n) {}\n    }\n}\n'
)
GO = 'package shop\n\nfunc one() int { return %d }\n'
GO_MORE = '\ntype till struct{}\n\nfunc (t till) sell() {}\n\nvar rate = 2\n\nfunc two() int { return rate }\n'
GO_LEFT = '\nfunc init() {}\n\nfunc TestTwo(t *testing.T) {}\n'
PYTHON = 'import os\n\n\ndef one():\n    return %d\n'
PYTHON_MORE = '\n\n@pytest.fixture\ndef two():\n    return 2\n'
PYTHON_LEFT = (
    '\n\n@pytest.fixture(autouse=True)\ndef by_itself():\n    pass\n\n\ndef test_two():\n    pass\n'
)


def helpers(
    folder: Path, language: str, old: Tree, new: Tree, own: str = '', start: Tree | None = None
) -> dict[str, str]:
    repo = init(folder)
    first = commit(repo, 'first', dict(old), date='2024-03-01T00:00:00Z')
    second = commit(repo, 'second', dict(new), date='2024-03-02T00:00:00Z')
    before = TestSources(repository=Repository(repo / '.git'), language=language, rev=first)
    edits = {
        path: text.encode() if isinstance(text, str) else text
        for path, text in (start or {}).items()
    }
    after = TestSources(repository=before.repository, language=language, rev=second, edits=edits)
    found = added_files.find_added_helpers(before, after, own)
    assert [path for path, _ in found] == sorted(path for path, _ in found)
    return {path: content.decode() for path, content in found if content is not None}


def test_new_java_helpers_are_added_but_no_tests_or_automatic_fixtures(tmp_path: Path) -> None:
    old = {'pom.xml': '<project/>', f'{JAVA}/Base.java': BASE % ''}
    new = {
        f'{JAVA}/Base.java': (BASE % MORE).replace('return 1', 'return 9'),
        f'{JAVA}/Kit.java': 'package shop;\n\nclass Kit {}\n',
        f'{JAVA}/OwnTest.java': 'package shop;\n\nclass OwnTest {}\n',
        'src/main/java/shop/Code.java': 'package shop;\n\nclass Code {}\n',
        'src/test/resources/data.txt': 'x',
    }
    assert helpers(tmp_path, 'java', old, new, f'{JAVA}/OwnTest.java') == {
        f'{JAVA}/Base.java': EXTENDED,
        f'{JAVA}/Kit.java': new[f'{JAVA}/Kit.java'],
    }


def test_new_go_helpers_are_added_but_no_tests_or_init_functions(tmp_path: Path) -> None:
    old = {'go.mod': 'module shop\n', 'base_test.go': GO % 1}
    new = {
        'base_test.go': GO % 9 + GO_MORE + GO_LEFT,
        'kit_test.go': 'package shop\n\nfunc three() int { return 3 }\n',
        'code.go': 'package shop\n',
    }
    assert helpers(tmp_path, 'go', old, new) == {
        'base_test.go': GO % 1 + GO_MORE,
        'kit_test.go': new['kit_test.go'],
    }


def test_new_python_helpers_are_added_but_no_tests_or_automatic_fixtures(tmp_path: Path) -> None:
    old = {'setup.py': '', 'tests/conftest.py': PYTHON % 1}
    new = {
        'tests/conftest.py': 'import pytest\n' + PYTHON % 9 + PYTHON_MORE + PYTHON_LEFT,
        'tests/kit.py': 'three = 3\n',
        'code.py': '',
    }
    found = helpers(tmp_path, 'python', old, new)
    assert found.pop('tests/kit.py') == 'three = 3\n'
    assert found.keys() == {'tests/conftest.py'}
    text = found['tests/conftest.py']
    assert 'import pytest\n' in text
    assert text.endswith(PYTHON.partition('\n')[2] % 1 + PYTHON_MORE)


def test_a_helper_that_moved_to_another_file_is_not_added(tmp_path: Path) -> None:
    till = 'class Till {}\n'
    old = {'pom.xml': '', f'{JAVA}/Base.java': BASE % '' + till}
    new = {f'{JAVA}/Base.java': BASE % '', f'{JAVA}/Till.java': 'package shop;\n\n' + till}
    assert helpers(tmp_path / 'java', 'java', old, new) == {}
    two = '\nfunc two() int { return 2 }\n'
    go = {'go.mod': 'module shop\n', 'a_test.go': GO % 1 + two, 'b_test.go': 'package shop\n'}
    moved = {
        'a_test.go': GO % 1,
        'b_test.go': 'package shop\n' + two,
        'c_test.go': 'package shop\n',
    }
    assert helpers(tmp_path / 'go', 'go', go, moved) == {'c_test.go': 'package shop\n'}


def test_a_changed_or_deleted_helper_is_not_added(tmp_path: Path) -> None:
    old = {'pom.xml': '', f'{JAVA}/A.java': BASE % '', f'{JAVA}/B.java': 'class B {}\n'}
    new = {f'{JAVA}/A.java': (BASE % '').replace('return 1', 'return 2'), f'{JAVA}/B.java': None}
    assert helpers(tmp_path, 'java', old, new) == {}


def test_added_helpers_are_taken_from_the_start_state(tmp_path: Path) -> None:
    old = {'pom.xml': '', f'{JAVA}/Base.java': BASE % ''}
    kit = 'package shop;\n\nclass Kit { %s }\n'
    new = {
        f'{JAVA}/Base.java': BASE % MORE,
        f'{JAVA}/Kit.java': kit % 'int a;',
        f'{JAVA}/Gone.java': '',
    }
    start = {
        f'{JAVA}/Base.java': BASE % '',
        f'{JAVA}/Kit.java': kit % '',
        f'{JAVA}/Gone.java': None,
    }
    found = helpers(tmp_path, 'java', old, new, start=start)
    assert found == {f'{JAVA}/Kit.java': kit % ''}


def test_a_file_that_does_not_parse_gets_no_helpers(tmp_path: Path) -> None:
    old = {'setup.py': '', 'tests/kit.py': 'def one():\n    return 1\n'}
    new = {
        'tests/kit.py': 'def one():\n    return 1\n\n\ndef two(:\n    return\n',
        'tests/more.py': '',
    }
    assert helpers(tmp_path, 'python', old, new) == {'tests/more.py': ''}


def test_no_helpers_are_added_above_the_file_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(added_files, 'MOST_FILES', 1)
    old = {'setup.py': ''}
    new = {'tests/a.py': '', 'tests/b.py': ''}
    assert helpers(tmp_path, 'python', old, new) == {}
