"""What a revision needs, read from each place where projects say it; nothing of it is run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from packaging.version import Version

from coevo.git.repository import Repository
from coevo.languages.python import layout
from coevo.languages.python.ends import resolve_sibling_project_needs
from coevo.languages.python.interpreters import (
    allows_feature,
    find_nearest_available,
    list_candidates,
    meets_requirement,
)
from coevo.languages.python.layout import list_generated_modules
from coevo.languages.python.requirements.reading import load_needs
from coevo.languages.python.requirements.stated import Needs
from tests.repos import commit, init


def needs_of(folder: Path, **files: str) -> Needs:
    """By names of files with `__` for a dot and `___` for a slash."""
    repo = init(folder / 'repo')
    texts = {name.replace('___', '/').replace('__', '.'): text for name, text in files.items()}
    rev = commit(repo, 'all', {**texts})
    return load_needs(Repository(repo / '.git'), rev)


def test_pyproject_extras_and_groups_are_read(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        pyproject__toml="""\
[project]
name = "Shop.Till"
version = "2.1"
requires-python = ">=3.9"
dependencies = ["click>=8 ; python_version >= '3.8'", "shop-till[more]"]
[project.optional-dependencies]
tests = ["hypothesis", "ruff", "shop_till[more]"]
more = ["rich"]
docs = ["sphinx"]
[project.scripts]
till = "shop.till:main"
[dependency-groups]
test = [{include-group = "base"}, "freezegun"]
base = ["attrs<24"]
""",
    )
    assert (found.name, found.version, found.pythons) == ('Shop.Till', '2.1', ('>=3.9',))
    assert found.runtime == ("click>=8 ; python_version >= '3.8'",)
    assert found.tests == ('attrs<24', 'freezegun', 'hypothesis', 'rich')
    assert found.entry_points == (('console_scripts', ('till = shop.till:main',)),)


def test_dev_extra_is_ignored_if_there_is_a_tests_extra(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        setup__cfg="""\
[metadata]
name = till
version = attr: till.version
[options]
install_requires =
    six
python_requires = ~=3.8
[options.extras_require]
tests =
    mock
dev =
    gevent
""",
    )
    assert (found.runtime, found.tests, found.version) == (('six',), ('mock',), None)


def test_poetry_dependencies_are_translated(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        pyproject__toml="""\
[tool.poetry]
name = "till"
version = "1.0.0"
[tool.poetry.dependencies]
python = "^3.8"
click = "^8.1.2"
rich = {version = "~13.2", optional = true}
six = {version = "*", extras = ["fast"]}
left = {git = "https://example.org/left.git"}
[tool.poetry.group.test.dependencies]
mock = "4.0.3"
""",
    )
    assert found.runtime == ('click>=8.1.2,<9', 'six[fast]')
    assert (found.tests, found.pythons) == (('mock==4.0.3',), ('>=3.8,<4',))


def test_setup_py_is_read_and_not_run(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        setup__py="""\
import os
from setuptools import setup
os.abort()
BASE = ['six']
EXTRAS = {'docs': ['sphinx']}
EXTRAS['tests'] = BASE + ['mock', 'coverage']
setup(
    name='till',
    version=open('VERSION').read(),
    install_requires=BASE + computed(),
    tests_require=['nose'],
    extras_require=EXTRAS,
    python_requires='>=3.6',
    entry_points={'console_scripts': ['till = till:main']},
)
""",
    )
    assert (found.name, found.version, found.pythons) == ('till', None, ('>=3.6',))
    assert (found.runtime, found.tests) == (('six',), ('mock', 'nose', 'six'))


def test_lists_that_setup_py_assembles_are_read(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        setup__py="""\
import sys
info = dict(name='till', version='1.0')
more = dict(install_requires=['six'])
try:
    from setuptools import setup
    info.update(more)
except ImportError:
    info['install_requires'] = ['distribute']
info['install_requires'].append('attrs')
info['install_requires'] += ['click>=7']
if sys.version_info < (3,):
    info['install_requires'].append('enum34')
if __name__ == '__main__':
    setup(**info)
""",
    )
    assert (found.name, found.runtime) == ('till', ('attrs', 'click>=7', 'six'))


@pytest.mark.parametrize('place', ['requirements__txt', 'shop___requirements__txt'])
def test_list_file_that_setup_py_names_is_found_by_its_base_name(
    tmp_path: Path, place: str
) -> None:
    found = needs_of(
        tmp_path,
        setup__py="""\
from setuptools import setup
LIST, TESTS = shop.FOLDER / 'requirements.txt', 'requirements_develop.txt'
setup(install_requires=read(LIST), extras_require={'dev': read(TESTS)})
""",
        **{place: 'attrs>=20\nclick\n', 'shop___requirements_develop__txt': 'tox\n'},
    )
    assert found.runtime == ('attrs>=20', 'click')


def test_two_list_files_of_the_same_name_are_not_read(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        setup__py="setup(install_requires=read('requirements.txt'))",
        one___requirements__txt='attrs\n',
        two___requirements__txt='click\n',
    )
    assert found.runtime == ()


@pytest.mark.parametrize(
    'setup',
    [
        "setup(install_requires=lines('needs/own.txt'))",
        "setup(install_requires=open('needs/own.txt').read().splitlines())",
        "setup(install_requires=[one.strip() for one in open('needs/own.txt')])",
        "setup(install_requires=lines(os.path.join(HERE, 'needs', 'own.txt')))",
        "NAME = 'needs/own.txt'\nsetup(install_requires=lines(NAME))",
        "with open('needs/own.txt') as file:\n    found = list(file)\nsetup(install_requires=found)",
        "def found():\n    return open('needs/own.txt').readlines()\nsetup(install_requires=found())",
        "setup(install_requires=lines('needs/own.txt') + lines('none.txt'))",
    ],
)
def test_list_files_that_setup_py_opens_are_read(tmp_path: Path, setup: str) -> None:
    more = (
        "def lines(name='README.txt'):\n    return open(name)\n"
        "setup(tests_require=[], long_description=open('README.txt').read())"
    )
    found = needs_of(
        tmp_path,
        setup__py=f'{setup}\n{more}\n',
        README__txt='words\n',
        needs___own__txt='six>=1  # this\n-r more.txt\n',
        needs___more__txt='attrs\n',
    )
    assert (found.runtime, found.tests) == (('attrs', 'six>=1'), ())


def test_list_files_that_setuptools_settings_name_are_read(tmp_path: Path) -> None:
    lists = {'own__txt': 'six\n', 'more__txt': 'attrs\n', 'test__txt': 'mock\n'}
    cfg = '[options]\ninstall_requires = file: own.txt, more.txt\n'
    toml = """\
[project]
dynamic = ["dependencies", "optional-dependencies"]
[tool.setuptools.dynamic]
dependencies = {file = ["own.txt", "more.txt"]}
optional-dependencies.test = {file = "test.txt"}
"""
    assert needs_of(tmp_path / 'a', setup__cfg=cfg, **lists).runtime == ('attrs', 'six')
    found = needs_of(tmp_path / 'b', pyproject__toml=toml, **lists)
    assert (found.runtime, found.tests) == (('attrs', 'six'), ('mock',))


def test_requirements_list_beside_declared_dependencies_is_for_tests(tmp_path: Path) -> None:
    lists = {'requirements__txt': 'six==1.0\nmypy\nmock\n', 'tests___requirements__txt': 'attrs\n'}
    stated = needs_of(tmp_path / 'a', setup__py="setup(install_requires=['six'])\n", **lists)
    assert (stated.runtime, stated.tests) == (('six',), ('attrs', 'mock', 'six==1.0'))
    alone = needs_of(tmp_path / 'b', **lists)
    assert (alone.runtime, alone.tests) == (('mock', 'six==1.0'), ('attrs',))


def test_first_file_counts_if_files_contradict_each_other(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        pyproject__toml='[dependency-groups]\ntest = ["pytest>=6,<7", "six; os_name == \'nt\'", "six"]\n',
        tox__ini='[testenv]\ndeps =\n  pytest==3.7.1\n  mock\n',
        Pipfile='[packages]\nsix = "==1.0"\n[dev-packages]\ntoml = "*"\n',
    )
    assert found.tests == ('mock', 'pytest>=6,<7', 'six', "six; os_name == 'nt'", 'toml')


def test_unparsable_files_state_no_requirements(tmp_path: Path) -> None:
    found = needs_of(tmp_path, setup__py='print "two"\n', pyproject__toml='=', setup__cfg='x\n[')
    assert found == Needs()


def test_lists_include_other_lists_and_options_are_left_out(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        requirements__txt='six==1.12  # the last\n',
        requirements___test__txt='-r base.txt\n-e .\n--index-url https://example.org\nmock\n'
        'git+https://example.org/left.git#egg=left\nhttps://example.org/x.whl\n',
        requirements___base__txt='attrs \\\n  --hash=sha256:00\n-r test.txt\n',
    )
    assert (found.runtime, found.tests) == (('six==1.12',), ('attrs', 'mock'))


def test_extras_that_tox_deps_name_are_read(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        tox__ini='[testenv]\ndeps =\n    .[doc]\n    py27: enum34\n    {[base]deps}\n    pretend\n',
        setup__cfg='[metadata]\nname = till\n[options.extras_require]\ndoc =\n    tornado>=4.5\n',
    )
    assert found.tests == ('pretend', 'tornado>=4.5')


def test_extras_and_groups_that_tox_settings_name_are_read(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        tox__ini='[testenv]\nextras = {[base]extras}\n    doc, py27: old\ndependency_groups = checks\n',
        pyproject__toml='[project]\nname = "till"\n[project.optional-dependencies]\ndoc = ["attrs"]\n'
        'old = ["enum34"]\n[dependency-groups]\nchecks = ["mock"]\nlint = ["six"]\n',
    )
    assert found.tests == ('attrs', 'mock')


def test_requirement_files_that_tox_deps_name_are_read(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        tox__ini='[testenv]\ndeps =\n    -r needs/all.txt\n    -r{toxinidir}/needs/more.txt\n    -e.\n',
        needs___all__txt='attrs\n-r deep.txt\n',
        needs___deep__txt='six\n',
        needs___more__txt='mock\n',
    )
    assert found.tests == ('attrs', 'mock', 'six')


WORKFLOW = """\
jobs:
  tests:
    steps:
    - run: |
        python -m pip install --upgrade pip setuptools
        pip install -e ".[arrays, test]" 'attrs>=20' -c limits.txt
        pip install -r needs/ci.txt pytest==${{ matrix.pytest }} \\
          tornado && pip3 install --index-url https://example.org mock
        python -m pytest
"""


def test_packages_that_workflows_install_before_tests_are_read(tmp_path: Path) -> None:
    project = (
        '[project]\nname = "till"\n[project.optional-dependencies]\n'
        'arrays = ["numpy"]\ntest = ["hypothesis"]\ndoc = ["sphinx"]\n'
    )
    found = needs_of(
        tmp_path,
        pyproject__toml=project,
        needs___ci__txt='freezegun\n',
        __github___workflows___ci__yml=WORKFLOW,
    )
    wanted = ('attrs>=20', 'freezegun', 'hypothesis', 'mock', 'numpy', 'tornado')
    assert found.tests == wanted


def test_workflows_that_run_no_tests_are_ignored(tmp_path: Path) -> None:
    docs = 'steps:\n- run: pip install numpy && make html\n'
    assert needs_of(tmp_path, __github___workflows___docs__yml=docs).tests == ()
    travis = 'install: pip install numpy\nscript: python -m unittest\n'
    assert needs_of(tmp_path, __travis__yml=travis).tests == ('numpy',)


def test_list_files_that_a_hatch_hook_opens_are_read(tmp_path: Path) -> None:
    found = needs_of(
        tmp_path,
        pyproject__toml='[project]\nname = "till"\ndynamic = ["dependencies"]\n',
        hatch_build__py='def update(root):\n    open(join(root, "requirements", "setup.txt"))\n'
        '    open(join(root, "words", "list.txt"))\n',
        requirements___setup__txt='bracex\n',
        words___list__txt='six\n',
    )
    assert found.runtime == ('bracex',)


@pytest.mark.parametrize('name', ['unit', 'unittests', 'unit-tests'])
def test_unit_test_extras_are_test_requirements(tmp_path: Path, name: str) -> None:
    lists = f'testing = ["attrs"]\n{name} = ["till[testing]", "mock"]\ndev = ["six"]\n'
    stated = f'[project]\nname = "till"\n[project.optional-dependencies]\n{lists}'
    assert needs_of(tmp_path, pyproject__toml=stated).tests == ('attrs', 'mock')


@pytest.mark.parametrize(
    ('specifiers', 'allowed'),
    [
        ('', [7, 8, 9, 10, 11, 12]),
        ('>=3.9', [9, 10, 11, 12]),
        ('>=3.7.2,<3.10', [7, 8, 9]),
        ('~=3.8', [8, 9, 10, 11, 12]),
        ('~=3.8.1', [8]),
        ('==3.11.*', [11]),
        ('>3.8,!=3.10.*', [9, 11, 12]),
        ('<=3.8', [7, 8]),
        ('no words', [7, 8, 9, 10, 11, 12]),
        ('>=3.8.*,<3.11.*', [8, 9, 10]),
        ('>=3.8.1,!=3.9.0,<3.11.2,<3.12.0a0', [8, 9, 10, 11]),
        ('===3.9', [9]),
        ('==3', [7, 8, 9, 10, 11, 12]),
        ('==2', []),
        ('~=3', [7, 8, 9, 10, 11, 12]),
        (f'<{"9" * 5000},<3.8', [7]),
    ],
)
def test_version_specifiers_decide_which_interpreters_are_allowed(
    specifiers: str, allowed: list[int]
) -> None:
    assert [minor for minor in range(7, 13) if allows_feature(specifiers, (3, minor))] == allowed


@pytest.mark.parametrize(
    ('allowed', 'day', 'tried'),
    [
        ([], '2024-06-01', [(3, 12), (3, 11), (3, 13)]),
        ([], '2024-01-01', [(3, 11), (3, 10), (3, 12)]),
        (['>=3.6', '<3.10'], '2024-06-01', [(3, 9), (3, 8), (3, 7)]),
        (['>=3.14'], '2020-01-01', [(3, 14)]),
        (['<3.0'], '2012-01-01', [(3, 6), (3, 7), (3, 8)]),
    ],
)
def test_newest_mature_interpreter_is_tried_first(
    allowed: list[str], day: str, tried: list[tuple[int, int]]
) -> None:
    assert list(list_candidates(allowed, datetime.fromisoformat(day).replace(tzinfo=UTC))) == tried


@pytest.mark.parametrize(
    ('version', 'requirement', 'meets'),
    [
        ('1.10', 'six>=1.9,<2', True),
        ('1.10', 'six~=1.4', True),
        ('2.0', 'six<2', False),
        ('1.10.1', 'six==1.10', False),
        ('1.0.5', 'six==1.0.*', True),
        ('1.0.5', 'six!=1.0.*', False),
        ('1.0', 'six==1.0.post1', False),
        ('1.0.post1', 'six==1.0.post1', True),
        ('1.0.post1', 'six>=1.0.1', False),
        ('1.10', "six[a, b] (>=1.9) ; python_version < '3'", True),
        ('1.8', "six (>=1.9) ; python_version < '3'", False),
        ('1.10', 'six', True),
    ],
)
def test_versions_meet_requirements_as_pep_440_says(
    version: str, requirement: str, meets: bool
) -> None:
    assert meets_requirement(Version(version), requirement) is meets


@pytest.mark.parametrize(
    'requirement',
    [
        f'six=={"9" * 5000}',
        f'six>=1; {"(" * 20000}',
        'six>=1.*, <x',
        'six===; six',
        'six===²',
        f'six[{"a," * 20000}]>=1',
        'six @ file:///etc/passwd',
        '\ud800>=1',
    ],
)
def test_requirement_that_cannot_be_read_is_met_by_any_version(requirement: str) -> None:
    assert meets_requirement(Version('1.0'), requirement) in (True, False)
    assert allows_feature(requirement.removeprefix('six'), (3, 9)) in (True, False)


def test_projects_of_one_repository_need_each_other_s_requirements() -> None:
    members = {
        '.': Needs(runtime=('mock',)),
        'a': Needs(name='Shop_A', runtime=('attrs>=1',)),
        'b': Needs(name='shop-b', runtime=('lxml', 'shop.a~=1'), tests=('shop-c', 'six')),
        'c': Needs(name='shop-c', runtime=('shop-b', 'toml')),
    }
    assert resolve_sibling_project_needs('.', members) == (members['.'], ())
    assert resolve_sibling_project_needs('a', members) == (
        replace(members['a'], tests=('mock',)),
        (),
    )
    found, beside = resolve_sibling_project_needs('b', members)
    assert found.runtime == ('attrs>=1', 'lxml')
    assert {'mock', 'six', 'toml'} <= {*found.tests} <= {'attrs>=1', 'lxml', 'mock', 'six', 'toml'}
    assert beside == ('a', 'c')
    assert resolve_sibling_project_needs('c', members)[1] == ('b', 'a')  # they need each other


def test_paths_are_classified_as_test_or_code() -> None:
    tests = [
        'tests/data/one.json',
        'src/shop/tests/helper.py',
        'test_root.py',
        'shop/deep_test.py',
        'conftest.py',
        'numpy/testing/tests/test_utils.py',
        'checks/testing/test_more.py',
        'checks/testing/data.txt',
        'functional_tests/helpers.py',
        'tests-unit/one/helpers.py',
        'shop/integration_test/test_till.py',
        'shop/integration_test/helpers.py',
        'testdata/one.json',
        'shop/test-data/one.json',
        'shop/__snapshots__/deep_test.ambr',
    ]
    code = [
        *('setup.py', 'tox.ini', 'click/testing.py', 'numpy/testing/utils.py', 'shop/contest.py'),
        *('latest_tests.py', 'contests/data.json', 'test_plus/__init__.py', 'test_plus/cases.py'),
    ]
    assert layout.select_test_paths([*tests, *code]) == frozenset(tests)


def test_package_modules_named_like_tests_are_code() -> None:
    tests = ['tests/test_tests.py', 'shop/till/test/unit/test_till.py', 'shop/till/test/data.json']
    code = ['shop/__init__.py', 'shop/tests.py', 'shop/test/__init__.py', 'shop/test/client.py']
    found = layout.select_test_paths([*tests, *code, 'shop/till/__init__.py'])
    assert found == frozenset(tests)
    # Nothing says that these are a package's, or that they have tests of their own.
    assert layout.select_test_paths(['app/tests.py', 'app/__init__.py', 'test/suite.py']) == {
        'app/tests.py',
        'test/suite.py',
    }


@pytest.mark.parametrize(
    'text',
    [
        '[tool.setuptools_scm]\nwrite_to = "src/till/_version.py"\n',
        '[tool.hatch.build.hooks.vcs]\nversion-file = "src/till/_version.py"\n',
        '[tool.hatch]\nbuild.hooks.vcs.version-file = "src/till/_version.py"\n',
    ],
)
def test_modules_that_a_build_writes_are_generated(text: str) -> None:
    ((path, content),) = list_generated_modules([text.encode()], 'till')
    assert path == 'till/src/till/_version.py'
    assert b"version = '0'" in content
    assert not list(list_generated_modules([b'note = "version-file = 1.py"'], '.'))


def test_nearest_available_interpreter_is_used_if_no_candidate_is_installed() -> None:
    when = datetime(2026, 8, 1, tzinfo=UTC)
    assert (3, 11) not in list_candidates(['>=3.10'], when)
    assert find_nearest_available(['>=3.10'], when, {(3, 8), (3, 10), (3, 11)}) == (3, 11)
    assert find_nearest_available(['>=3.12'], when, {(3, 11)}) is None
