"""What reaches a test without a word in its text: fixtures by any way, files, and tables that only it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.model.reasons import DiffReason
from coevo.model.records import Commit, Pair
from coevo.model.words import Walk
from miners.diffs.changes import PairChange, diff_pair
from tests import repos

FIXTURE = '@pytest.fixture{mark}\ndef {name}({wants}):\n    return {value}\n'
USER = 'def test_use({name}):\n    assert {name}\n\n\ndef test_other():\n    assert True\n'
CODE = {'pyproject.toml': '[project]\nname = "shelf"\n', 'shelf.py': 'def put():\n    return 1\n'}
CODE_2 = {'shelf.py': 'def put():\n    return 2\n'}


def fixture(value: int, name: str = 'book', mark: str = '', wants: str = '') -> str:
    return 'import pytest\n\n\n' + FIXTURE.format(name=name, mark=mark, wants=wants, value=value)


def diffed(
    folder: Path, old: Mapping[str, str], new: Mapping[str, str | None], *, code: bool = True
) -> PairChange:
    """The change between CODE with the files `old`, and `new` over it."""
    repo = repos.init(folder / 'repository')
    first = repos.commit(repo, 'old', {**CODE, **old})
    second = repos.commit(repo, 'new', {**(CODE_2 if code else {}), **new})
    ends = [
        Commit(rev=r, parents=(), author_date=None, committer_date=None) for r in (first, second)
    ]
    pair = Pair(
        repo='local/shelf',
        language='python',
        walk=Walk.PARENTS,
        old=ends[0],
        new=ends[1],
        old_is_ancestor=True,
    )
    return diff_pair(Repository(repo / '.git'), pair)


def changes(change: PairChange) -> dict[str, str]:
    return {c.method.test_method: c.change.value for c in change.candidates}


PLACES: dict[str, tuple[dict[str, str], str, str]] = {
    # the files around, the file whose fixture changes, and the settings of pytest
    'conftest': ({}, 'tests/conftest.py', ''),
    'conftest at the root': ({}, 'conftest.py', ''),
    'pytest_plugins': (
        {'tests/conftest.py': 'pytest_plugins = ["tests.shelves"]\n'},
        'tests/shelves.py',
        '',
    ),
    'pytest_plugins in the file': (
        {'tests/test_use.py': 'pytest_plugins = "tests.shelves"\n' + USER.format(name='book')},
        'tests/shelves.py',
        '',
    ),
    '-p': ({}, 'tests/shelves.py', 'addopts = "-ra -p tests.shelves"'),
    'import by name': (
        {'tests/conftest.py': 'from .shelves import book\n'},
        'tests/shelves.py',
        '',
    ),
    'import by star': (
        {'tests/conftest.py': 'from tests.shelves import *\n'},
        'tests/shelves.py',
        '',
    ),
    'import into the file': (
        {'tests/test_use.py': 'from tests.shelves import book\n' + USER.format(name='book')},
        'tests/shelves.py',
        '',
    ),
    'plugins that import': (
        {
            'tests/conftest.py': 'pytest_plugins = ["tests.more"]\n',
            'tests/more.py': 'from tests.shelves import *\n',
        },
        'tests/shelves.py',
        '',
    ),
}


@pytest.mark.parametrize('place', PLACES)
def test_a_fixture_reaches_an_unchanged_test_by_any_way_of_pytest(
    place: str, tmp_path: Path
) -> None:
    files, changing, settings = PLACES[place]
    old = {
        'pytest.ini' if settings else 'tests/__init__.py': '',
        'tests/__init__.py': '',
        'tests/test_use.py': USER.format(name='book'),
        **files,
        changing: fixture(1),
    }
    if settings:
        old['pytest.ini'] = '[pytest]\n' + settings.replace('"', '')
    change = diffed(tmp_path, old, {changing: fixture(2)})
    assert changes(change) == {'test_use': 'context_changed'}
    assert (change.compared, change.alike) == (2, 1)


REQUESTS = {
    'another name': USER.format(name='called'),
    'a mark': (
        'import pytest\n\n\n@pytest.mark.usefixtures("book")\ndef test_use():\n    pass\n\n\n'
        'def test_other():\n    pass\n'
    ),
    'a composed name': (
        'def test_use(request):\n    assert request.getfixturevalue("bo" + "ok")\n\n\n'
        'def test_other():\n    pass\n'
    ),
    'a parameter': (
        'import pytest\n\n\n@pytest.fixture\ndef stack(request):\n'
        '    return request.getfixturevalue(f"{request.param}")\n\n\n'
        '@pytest.mark.parametrize("stack", ["book"], indirect=True)\n'
        'def test_use(stack):\n    assert stack\n\n\ndef test_other():\n    pass\n'
    ),
}


@pytest.mark.parametrize('how', REQUESTS)
def test_a_fixture_reaches_a_test_by_another_name_or_a_computed_one(
    how: str, tmp_path: Path
) -> None:
    mark = '(name="called")' if how == 'another name' else ''
    files = {'tests/test_use.py': REQUESTS[how], 'tests/conftest.py': fixture(1, mark=mark)}
    change = diffed(tmp_path, files, {'tests/conftest.py': fixture(2, mark=mark)})
    assert changes(change) == {'test_use': 'context_changed'}


def test_an_autouse_fixture_of_a_plugin_reaches_every_test(tmp_path: Path) -> None:
    auto = '(autouse=True)'
    files = {
        'tests/__init__.py': '',
        'tests/conftest.py': 'pytest_plugins = ["tests.shelves"]\n',
        'tests/shelves.py': fixture(1, mark=auto),
        'tests/test_use.py': USER.format(name='tmp_path'),
    }
    change = diffed(tmp_path, files, {'tests/shelves.py': fixture(2, mark=auto)})
    assert changes(change) == {'test_use': 'context_changed', 'test_other': 'context_changed'}


def test_a_test_that_reaches_changed_code_through_a_fixture_alone_is_a_candidate(
    tmp_path: Path,
) -> None:
    files = {
        'tests/__init__.py': '',
        'tests/conftest.py': 'from tests.shelves import *\n',
        'tests/shelves.py': 'import pytest\n\nfrom shelf import put\n\n\n'
        + FIXTURE.format(name='book', mark='', wants='', value='put()'),
        'tests/test_use.py': USER.format(name='book'),
    }
    change = diffed(tmp_path, files, {})
    (candidate,) = change.candidates
    assert (candidate.change.value, candidate.method.test_method) == ('unchanged', 'test_use')
    assert [dependency.name for dependency in candidate.dependencies] == ['shelf#put()']
    assert not candidate.surroundings_differ


@pytest.mark.parametrize(
    ('path', 'text'),
    [
        ('tests/__snapshots__/test_use.ambr', '# name: test_use\n  {}\n# ---\n'),
        ('tests/cassettes/test_use/test_use.yaml', 'answer: {}\n'),
        ('tests/cases/one.json', '[{}]\n'),
    ],
)
def test_a_recorded_file_or_a_case_belongs_to_its_test(
    path: str, text: str, tmp_path: Path
) -> None:
    test = (
        'import pathlib\n\n\ndef test_use(snapshot):\n'
        '    assert list(pathlib.Path(__file__).parent.glob("cases/*.json"))\n\n\n'
        'def test_other():\n    pass\n'
    )
    files = {'tests/test_use.py': test, path: text.format(1)}
    change = diffed(tmp_path, files, {path: text.format(2)})
    assert changes(change) == {'test_use': 'context_changed'}


def test_settings_name_test_files_that_no_name_shows(tmp_path: Path) -> None:
    settings = '[pytest]\npython_files = ["check_*.py"]\npython_functions = "should_*"\n'
    check = 'from shelf import put\n\n\ndef should_put():\n    assert put() == {}\n'
    files = {'pytest.toml': settings, 'checks/check_shelf.py': check.format(1)}
    change = diffed(tmp_path, files, {'checks/check_shelf.py': check.format(2)})
    assert changes(change) == {'should_put': 'changed'}


def test_a_pair_without_any_test_says_so(tmp_path: Path) -> None:
    change = diffed(tmp_path, {}, {})
    assert change.reason is DiffReason.NO_TEST_FOUND
    assert change.compared is None


def test_tests_of_files_that_use_nothing_that_differs_are_counted_apart(tmp_path: Path) -> None:
    files = {
        'tests/test_use.py': 'from shelf import put\n\n\ndef test_put():\n    assert put()\n',
        'tests/test_far.py': 'def test_one():\n    pass\n\n\ndef test_two():\n    pass\n',
    }
    change = diffed(tmp_path, files, {})
    assert changes(change) == {'test_put': 'unchanged'}
    assert (change.compared, change.alike, change.apart) == (1, 0, 2)


# Tables and constants that only one test reads: a test whose table changed is changed.


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
