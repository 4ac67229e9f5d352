"""Modules that a project's own build generates, which a checkout lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.python.missing_modules import find_missing_own_modules
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import method, shop
from tests.repos import commit, init

PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "till"
version = "1"
requires-python = ">=3.11,<3.12"
"""
BACKEND = """\
    import os
    import subprocess
    import zipfile


    def build_wheel(folder, settings):
        {first}
        with open('till/prices.txt') as file:
            prices = dict(line.split() for line in file)
        lines = [f'{{name}} = {{price}}\\n' for name, price in prices.items()]
        with zipfile.ZipFile(os.path.join(folder, 'till-1-py3-none-any.whl'), 'w') as wheel:
            wheel.writestr('till/prices.py', ''.join(lines))
            wheel.writestr('till/__init__.py', 'raise SystemExit')
            wheel.writestr('other/prices.py', '')
            wheel.writestr('../prices.py', '')
        return 'till-1-py3-none-any.whl'
"""
CODE = """\
    try:
        from till.prices import APPLE
    except ImportError:
        raise SystemExit('run the build first')
"""
TESTS = """\
    import till


    def test_price():
        assert till.APPLE == {}
"""


def write_files(price: int, first: str = 'pass') -> dict[str, str]:
    """Return a project whose build makes `till/prices.py` of a text file.

    first  the first statement of the build
    """
    return {
        'backend.py': BACKEND.format(first=first),
        'till/__init__.py': CODE,
        'till/prices.txt': f'APPLE {price}\n',
        'tests/test_till.py': TESTS.format(price),
    }


def test_generated_modules_are_those_of_each_revision(tmp_path: Path) -> None:
    with shop(tmp_path, write_files(1), write_files(2), PROJECT) as place:
        assert place.built.new.overrides == ('generated-modules',)
        assert place.verdict(method('test_price')).outcome is Outcome.PASS
        on_old = place.cell(place.new, place.old)
        assert place.verdict(method('test_price'), on_old).outcome is Outcome.FAIL


@pytest.mark.jvm
def test_a_build_may_start_java(tmp_path: Path) -> None:
    first = "subprocess.check_call(['java', '-version'])"
    with shop(tmp_path, write_files(1, first), write_files(2, first), PROJECT) as place:
        assert place.verdict(method('test_price')).outcome is Outcome.PASS


def test_a_build_that_fails_generates_nothing(tmp_path: Path) -> None:
    first = "raise ValueError('no grammar')"
    with shop(tmp_path, write_files(1, first), write_files(2, first), PROJECT) as place:
        assert place.built.new.failure == 'import:SystemExit@till/__init__.py:<module>'
        assert place.built.new.overrides == ()


def test_own_modules_that_no_file_is_are_missing(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repository')
    rev = commit(
        repo,
        'first',
        {
            'pyproject.toml': '[project]\nname = "till"\n',
            'src/till/__init__.py': 'from . import deep\nfrom .deep import name\n',
            'src/till/deep.py': 'import far\n\ntry:\n    from till.version import VERSION\n'
            'except ImportError:\n    VERSION = None\n',
            'tests/test_till.py': 'import till.made.lexer\nfrom till import any_name\n',
        },
    )
    missing = find_missing_own_modules(Repository(repo / '.git'), rev, '.', {'till'})
    assert missing.needed == {'till.made.lexer': True, 'till.version.VERSION': False}
