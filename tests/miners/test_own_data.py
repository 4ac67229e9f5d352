"""Tables and constants that only one test reads: a test whose table changed is changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.model.records import Commit, Pair
from coevo.model.words import Walk
from miners.diffs.changes import diff_pair
from tests import repos

PYTHON = {'pyproject.toml': '[project]\nname = "till"\n'}
PYTHON_CODE = ('till.py', 'def price(n):\n    return n * {}\n')
GO = {'go.mod': 'module example.org/till\n\ngo 1.21\n'}
GO_CODE = ('till.go', 'package till\n\nfunc Price(n int) int {{ return n * {} }}\n')
JAVA = {'pom.xml': '<project><artifactId>till</artifactId></project>\n'}
JAVA_CODE = ('src/main/java/Till.java', 'class Till {{ int price(int n) {{ return n * {}; }} }}\n')
LANGUAGES = {'python': (PYTHON, PYTHON_CODE), 'go': (GO, GO_CODE), 'java': (JAVA, JAVA_CODE)}

Texts = dict[str, str]
Write = Callable[[int, str], Texts]

GO_TEST = (
    'import "testing"\n\nfunc {name}(t *testing.T) {{ for _, r := range {table} {{ t.Log(r) }} }}\n'
)
JAVA_TEST = '@org.junit.Test public void {name}() {{ System.out.println({table}); }}\n'


def write_python(rows: int, rest: str = '') -> Texts:
    own = f'ROWS = [{rows}]\n\n\ndef test_own():\n    assert ROWS\n'
    return {'tests/test_till.py': f'import pytest\n\n{own}\n\n{rest}'}


def write_go(rows: int, rest: str = '') -> Texts:
    test = GO_TEST.format(name='TestOwn', table='rows')
    return {'till_test.go': f'package till\n\n{test}\nvar rows = []int{{{rows}}}\n{rest}'}


def write_java(rows: int, rest: str = '') -> Texts:
    test = JAVA_TEST.format(name='own', table='ROWS')
    text = f'class TillTest {{ private static final int[] ROWS = {{{rows}}};\n{test}{rest} }}\n'
    return {'src/test/java/TillTest.java': text}


def find_changes(folder: Path, language: str, old: Texts, new: Texts) -> dict[str, str]:
    """Return the kinds of change by test method, where the code changes as well."""
    files, (path, code) = LANGUAGES[language]
    repo = repos.init(folder / 'repository')
    revs = [
        repos.commit(repo, f'{n}', {**files, path: code.format(n), **texts})
        for n, texts in enumerate((old, new), start=2)
    ]
    first, second = (
        Commit(rev=rev, parents=(), author_date=None, committer_date=None) for rev in revs
    )
    pair = Pair(
        repo='local/till',
        language=language,
        walk=Walk.PARENTS,
        old=first,
        new=second,
        old_is_ancestor=True,
    )
    change = diff_pair(Repository(repo / '.git'), pair)
    return {c.method.test_method: c.change.value for c in change.candidates}


@pytest.mark.parametrize(
    ('language', 'write', 'name'),
    [
        ('python', write_python, 'test_own'),
        ('go', write_go, 'TestOwn'),
        ('java', write_java, 'own'),
    ],
)
def test_test_is_changed_if_a_table_changed_that_only_it_reads(
    language: str, write: Write, name: str, tmp_path: Path
) -> None:
    assert find_changes(tmp_path, language, write(1, ''), write(2, '')) == {name: 'changed'}


@pytest.mark.parametrize(
    ('language', 'write', 'rest'),
    [
        ('python', write_python, 'def test_other():\n    assert ROWS\n'),
        ('python', write_python, '@pytest.fixture\ndef row():\n    return ROWS[0]\n'),
        ('python', write_python, 'def help():\n    return ROWS\n'),
        ('go', write_go, GO_TEST.format(name='TestOther', table='rows').partition('\n\n')[2]),
        ('go', write_go, 'func help() int { return rows[0] }\n'),
        ('java', write_java, JAVA_TEST.format(name='other', table='ROWS')),
        ('java', write_java, '@org.junit.Before public void setUp() { ROWS[0]++; }'),
    ],
)
def test_table_with_another_reader_surrounds_the_test(
    language: str, write: Write, rest: str, tmp_path: Path
) -> None:
    kinds = find_changes(tmp_path, language, write(1, rest), write(2, rest))
    assert kinds
    assert set(kinds.values()) == {'context_changed'}


def test_table_is_read_through_a_constant_of_its_own(tmp_path: Path) -> None:
    texts = [
        {
            'tests/test_till.py': f'FIRST = {n}\nROWS = [FIRST]\n\n\ndef test_own():\n    assert ROWS\n'
        }
        for n in (1, 2)
    ]
    assert find_changes(tmp_path, 'python', *texts) == {'test_own': 'changed'}


def test_table_that_another_file_imports_surrounds_the_test(tmp_path: Path) -> None:
    other = {
        'tests/test_more.py': 'from test_till import ROWS\n\n\ndef test_more():\n    assert ROWS\n'
    }
    texts = [{**write_python(n), **other} for n in (1, 2)]
    kinds = find_changes(tmp_path, 'python', *texts)
    assert kinds == {'test_own': 'context_changed', 'test_more': 'context_changed'}
