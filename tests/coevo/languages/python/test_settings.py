"""pytest's settings of a project that speak of plugins and packages which are left out or blocked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.git.repository import TreeEntry
from coevo.languages.python.interpreters import find_interpreters
from coevo.languages.python.pytest_options import find_module_settings, make_pytest_options
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import PROJECT, Shop, method, shop

SETTINGS = """\
[project.optional-dependencies]
tests = ["pytest-cov", "pytest-rerunfailures"]
[tool.pytest.ini_options]
addopts = "--strict-config --strict-markers --cov=till"
required_plugins = "pytest-cov"
reruns = 3
filterwarnings = [
    "error",
    "ignore:no data:coverage.exceptions.CoverageWarning",
    "ignore::till.Dear",
]
"""
CODE = """\
import warnings


class Dear(UserWarning):
    pass


def price(kind=UserWarning):
    warnings.warn('dear', kind)
    return 2
"""
TESTS = """\
    import pytest
    import till


    @pytest.mark.flaky(reruns=2)
    @pytest.mark.no_cover
    @pytest.mark.xdist_group('one')
    def test_marks():
        assert till.price(till.Dear) == 2


    def test_warns():
        assert till.price() == 2
"""


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    files = {'till.py': CODE, 'tests/test_till.py': TESTS}
    with shop(tmp_path_factory.mktemp('shop'), files, {'more.txt': ''}, PROJECT + SETTINGS) as made:
        yield made


def test_tests_run_without_the_plugins_that_settings_name(place: Shop) -> None:
    assert place.verdict(method('test_marks')).outcome is Outcome.PASS


def test_all_other_warning_filters_apply(place: Shop) -> None:
    found = place.verdict(method('test_warns'))
    assert (found.outcome, found.exceptions[0]) == (Outcome.ERROR, 'UserWarning')


def test_unknown_mark_is_a_compile_error(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = {'till.py': CODE, 'tests/test_till.py': TESTS.replace('no_cover', 'no_such_mark')}
    with shop(tmp_path_factory.mktemp('shop'), files, {'more.txt': ''}, PROJECT + SETTINGS) as made:
        assert made.verdict(method('test_marks')).outcome is Outcome.COMPILE_ERROR


@pytest.mark.slow
@pytest.mark.parametrize('release', ['3.2.5', '4.6.11', '8.0.2'])
def test_plugins_that_rerun_tests_are_blocked_on_every_pytest_version(
    tmp_path_factory: pytest.TempPathFactory, release: str
) -> None:
    if (3, 6) not in {one.feature for one in find_interpreters()} and release != '8.0.2':
        pytest.skip('there is no Python 3.6 here, which runs so old a pytest')
    known = '>=3.11,<3.12' if release == '8.0.2' else '==3.6.*'
    tests = """\
        def test_plugins(request, worker_id):
            assert worker_id == 'master'  # of pytest-xdist, which is blocked, too
            manager = request.config.pluginmanager
            assert not manager.hasplugin('rerunfailures')
            assert not manager.hasplugin('cacheprovider')
            assert manager.hasplugin('other')
        """
    files = {
        'till.py': '',
        'again.py': 'def pytest_runtest_protocol(item, nextitem):\n    raise SystemExit\n',
        'other.py': '',
        'tests/test_till.py': tests,
    }
    project = f"""\
{PROJECT.replace('>=3.11,<3.12', known)}
[project.optional-dependencies]
tests = ["pytest=={release}"]
[project.entry-points.pytest11]
rerunfailures = "again"
other = "other"
"""
    with shop(tmp_path_factory.mktemp('shop'), files, {'more.txt': ''}, project) as made:
        found = made.verdict(method('test_plugins'))
        assert (found.outcome, found.message) == (Outcome.PASS, '')


@pytest.mark.slow
def test_plugin_that_lacks_its_library_does_not_stop_all_tests(tmp_path: Path) -> None:
    """pytest-qt refuses to start where no package of Qt is installed."""
    project = PROJECT + '[project.optional-dependencies]\ntests = ["pytest-qt"]\n'
    tests = """\
        def test_price():
            pass


        def test_window(qtbot):
            pass
    """
    files = {'till.py': CODE, 'tests/test_till.py': tests}
    with shop(tmp_path, files, {'README': ''}, project) as made:
        assert made.verdict(method('test_price')).outcome is Outcome.PASS
        assert made.verdict(method('test_window')).outcome is Outcome.ERROR


def test_options_that_say_what_tests_run_with_are_kept() -> None:
    options = '-x --ds=shop.settings --mpl --mpl-generate-path=out --record-mode none --dsn=a -q'
    made = make_pytest_options(options.split())
    assert made[-4:] == ('--ds=shop.settings', '--mpl', '--record-mode', 'none')
    assert made[:-4] == make_pytest_options(())


@pytest.mark.parametrize(
    ('files', 'module', 'expected'),
    [
        ({'tests/pytest.ini': '-W error'}, '.', ('tests', ('-W', 'error'))),
        ({'tests/pytest.ini': '-q', 'pytest.ini': '-v'}, '.', ('tests', ('-q',))),
        ({'tests/pytest.ini': '-q', 'pytest.ini': '-v', 'test_b.py': ''}, '.', ('.', ('-v',))),
        ({'tests/data/pytest.ini': '-q', 'pytest.ini': '-v'}, '.', ('.', ('-v',))),
        ({'tests/tox.ini': '', 'pytest.ini': '-v'}, '.', ('.', ('-v',))),
        ({'pytest.ini': '-p one -W error -ptwo'}, 'a', ('.', ('-W', 'error'))),
        ({'pytest.ini': '-v', 'a/pytest.ini': '-p one'}, 'a', ('a', ('-p', 'one'))),
        ({}, 'a', ('a', ())),
    ],
)
def test_settings_are_the_nearest_to_all_tests_of_a_module(
    files: dict[str, str], module: str, expected: tuple[str, tuple[str, ...]]
) -> None:
    texts = {
        path: f'[pytest]\naddopts = {text}\n' if text and path.endswith('.ini') else text
        for path, text in files.items()
    }
    texts |= {'tests/test_till.py': '', 'a/tests/test_a.py': '', 'a/setup.py': ''}
    if module == '.':
        del texts['a/tests/test_a.py']
    entries = dict.fromkeys(texts, TreeEntry(mode='100644', oid=''))
    settings = find_module_settings(entries, lambda path: texts[path].encode(), module)
    assert (settings.folder, settings.options) == expected


def test_linked_settings_are_skipped() -> None:
    entries = {
        'pytest.ini': TreeEntry(mode='120000', oid=''),
        'tox.ini': TreeEntry(mode='100644', oid=''),
        'tests/test_till.py': TreeEntry(mode='100644', oid=''),
    }
    settings = find_module_settings(entries, lambda _: b'[pytest]\naddopts = -v\n', '.')
    assert settings.options == ('-v',)


def test_settings_in_the_folder_of_tests_apply(tmp_path: Path) -> None:
    files = {
        'till.py': CODE,
        'tests/pytest.ini': '[pytest]\naddopts = -W error\npython_files = check_*.py\n',
        'tests/check_till.py': TESTS,
    }
    test = method('test_warns', file='tests/check_till.py')
    with shop(tmp_path, files, {'more.txt': ''}) as made:
        verdict = made.verdict(test)
        project_run = made.built.run_project(made.new, '.', (test,))
    assert (verdict.outcome, verdict.exceptions[0]) == (Outcome.ERROR, 'UserWarning')
    assert project_run.outcomes == {test: Outcome.ERROR}


def test_fixtures_of_classes_of_pytest_are_there(tmp_path: Path) -> None:
    """Since 9.1.1 pytest registers an object, not a class, with the fixture `tmpdir`."""
    tests = """\
        def test_folder(tmpdir):
            assert tmpdir.check(dir=True)
    """
    project = PROJECT + '[project.optional-dependencies]\ntests = ["pytest>=9.2"]\n'
    files = {'till.py': '', 'tests/test_till.py': tests}
    dates = ('2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z')
    with shop(tmp_path, files, {'more.txt': ''}, project, dates=dates) as made:
        assert made.verdict(method('test_folder')).outcome is Outcome.PASS
