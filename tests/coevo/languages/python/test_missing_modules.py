"""Modules that tests import and no requirement for tests brings."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.python.missing_modules import (
    MissingModules,
    find_missing_modules,
    find_missing_requirements,
)
from coevo.languages.python.requirements.other_places import parse_noxfile
from coevo.languages.python.requirements.reading import load_needs
from coevo.languages.python.requirements.stated import Needs
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import PROJECT, method, shop
from tests.repos import commit, init

NOX = """\
import nox

NEEDED = ["pytest>=7", "attrs>=23"]


@nox.session(python=["3.11"])
def tests(session):
    session.install(*NEEDED, "pytest-mock")
    session.install("-e", ".")


@nox.session
def docs(session):
    session.install("sphinx", "pyyaml")
"""


@pytest.mark.parametrize(
    ('files', 'expected'),
    [
        ({'noxfile.py': NOX}, ('attrs>=23', 'pytest-mock', 'pytest>=7')),
        (
            {'tox.toml': '[env_run_base]\ndeps = ["attrs", "-r more.txt"]\n', 'more.txt': 'six\n'},
            ('attrs', 'six'),
        ),
        (
            {'pyproject.toml': '[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ndeps = attrs\n"""\n'},
            ('attrs',),
        ),
        (
            {'pyproject.toml': '[tool.tox.env_run_base]\ndeps = ["attrs"]\n'},
            ('attrs',),
        ),
        (
            {'hatch.toml': '[envs.test]\ndependencies = ["attrs"]\n'},
            ('attrs',),
        ),
        (
            {'pixi.toml': '[feature.test.dependencies]\npython = "3.11.*"\nattrs = "*"\n'},
            ('attrs',),
        ),
        (
            {'pyproject.toml': '[tool.rye]\ndev-dependencies = ["attrs"]\n'},
            ('attrs',),
        ),
        (
            {
                'pyproject.toml': '[tool.flit.metadata]\nmodule = "m"\n'
                '[tool.flit.metadata.requires-extra]\ntest = ["attrs"]\n'
            },
            ('attrs',),
        ),
        (
            {'.github/workflows/ci.yml': 'run: uv run --with attrs --with "six>=1" pytest\n'},
            ('attrs', 'six>=1'),
        ),
    ],
)
def test_places_for_test_requirements_are_read(
    files: dict[str, str], expected: tuple[str, ...], tmp_path: Path
) -> None:
    repo = init(tmp_path / 'repository')
    rev = commit(repo, 'first', {**files})
    assert load_needs(Repository(repo / '.git'), rev).tests == expected


@pytest.mark.parametrize(
    ('files', 'group'),
    [
        ({'noxfile.py': NOX}, ('docs', ('pyyaml', 'sphinx'))),
        (
            {
                'environment.yml': 'dependencies:\n  - python=3.11\n  - yaml=1.2\n  - pip:\n    - six\n'
            },
            ('conda', ('six', 'yaml==1.2.*')),
        ),
        ({'Makefile': 'test:\n\tpip install attrs\n\tpytest\n'}, ('make', ('attrs',))),
        ({'ci/requirements.txt': 'attrs\n'}, ('list ci/requirements-txt', ('attrs',))),
    ],
)
def test_other_places_are_kept_for_what_is_missing(
    files: dict[str, str], group: tuple[str, tuple[str, ...]], tmp_path: Path
) -> None:
    repo = init(tmp_path / 'repository')
    rev = commit(repo, 'first', {**files})
    assert group in load_needs(Repository(repo / '.git'), rev).groups


def test_noxfile_that_adds_thousands_of_texts_names_nothing() -> None:
    listing = '+'.join(['"a"'] * 2000)
    text = f'import nox\n@nox.session\ndef tests(session):\n    session.install({listing})\n'
    assert parse_noxfile(text.encode()).groups == {}
    assert parse_noxfile(NOX.encode()).groups['docs'] == ('sphinx', 'pyyaml')


def test_modules_that_tests_import_and_nothing_brings_are_missing(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repository')
    rev = commit(
        repo,
        'first',
        {
            'pyproject.toml': '[project]\nname = "till"\n',
            'src/till/__init__.py': 'from . import deep\n',
            'src/till/deep.py': 'import os\nimport far\n\n\ndef f():\n    import never\n',
            'tests/helper.py': '',
            'tests/test_till.py': 'import attr\nimport helper\nimport near.part\nimport till\n\n'
            'try:\n    import perhaps\nexcept ImportError:\n    perhaps = None\n',
        },
    )
    site = tmp_path / 'site'
    (site / 'attr').mkdir(parents=True)
    missing = find_missing_modules(Repository(repo / '.git'), rev, '.', site)
    assert missing.needed == {'far': True, 'near.part': True, 'perhaps': False}


def needs(*groups: tuple[str, tuple[str, ...]]) -> Needs:
    return Needs(tests=('pytest',), groups=groups)


@pytest.mark.parametrize(
    ('known', 'module', 'needed', 'expected'),
    [
        (
            needs(('dev', ('numpy>=1', 'pytest-benchmark'))),
            'numpy.linalg',
            True,
            ('numpy', 'pytest-benchmark'),
        ),
        (needs(('docs', ('numpy>=1', 'furo2'))), 'numpy', True, ('numpy',)),
        (needs(('docs', ('pyyaml',))), 'yaml', True, ('pyyaml',)),
        (needs(('docs', ('pyyaml',))), 'yaml', False, ()),
        (needs(('dev', ('pyyaml',))), 'yaml', False, ('pyyaml',)),
        (needs(('x', ('ruamel.yaml>=0.17',))), 'ruamel.yaml', True, ('ruamel-yaml',)),
        (needs(), 'dateutil', True, ('python-dateutil',)),
        (needs(), 'orjson', False, ()),
        (needs(('x', ('pytest',))), 'pytest', True, ()),
        # A tool that a test needs is for tests, whatever its name; other tools are not.
        (
            needs(('testing', ('ruff', 'six', 'sphinx-pytest~=0.3'))),
            'sphinx_pytest',
            True,
            ('six', 'sphinx-pytest'),
        ),
        (needs(('dev', ('mypy', 'six'))), 'mypy', False, ('six',)),
        (needs(), 'docutils', True, ('docutils',)),
    ],
)
def test_a_missing_module_is_brought_from_a_group_or_by_its_name(
    known: Needs, module: str, needed: bool, expected: tuple[str, ...]
) -> None:
    lines = find_missing_requirements(known, MissingModules(needed={module: needed}))
    assert tuple(lines) == expected


@pytest.mark.slow
def test_a_dev_extra_beside_a_test_extra_brings_what_tests_import(tmp_path: Path) -> None:
    project = PROJECT + '[project.optional-dependencies]\ntest = ["pytest"]\ndev = ["attrs>=22"]\n'
    tests = """\
        import attr
        import six


        def test_brought():
            assert attr.define and six.PY3
    """
    old = {'till.py': 'PRICE = 1\n', 'tests/test_till.py': tests}
    with shop(tmp_path, old, {'till.py': 'PRICE = 2\n'}, project) as place:
        assert place.verdict(method('test_brought')).outcome is Outcome.PASS
        assert place.built.new.overrides == ('brought-attrs', 'brought-six')
