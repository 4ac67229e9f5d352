"""The two commands of a task in Python, run by plain uv and pytest as they stand."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.python import reading, uv
from coevo.languages.python.commands import add_commands
from coevo.languages.python.language import make_prompt_words
from coevo.languages.reading import RevisionTree
from coevo.model.pair_rows import Environment, LibraryEntry
from coevo.model.records import TestMethod
from tests.repos import commit, init

PINS = ('iniconfig==2.0.0', 'packaging==24.0', 'pluggy==1.5.0', 'pytest==8.2.1')
BARE = Environment(
    runtime='3.11.2',
    build_tool='uv',
    libraries=tuple(LibraryEntry(coordinates=one, sha256='0' * 64) for one in PINS),
)
FILE = 'core/tests/test_till.py'
PROJECT = """\
[build-system]
requires = ["setuptools", "setuptools-scm"]
build-backend = "setuptools.build_meta"
[project]
name = "till"
dynamic = ["version"]
[tool.setuptools.packages.find]
where = ["src"]
[tool.setuptools_scm]
[tool.pytest.ini_options]
addopts = "--cov=till"
"""
TESTS = """\
import till

class TestTill:
    def test_sells(self):
        assert till.price == 2

    def test_returns(self):
        assert till.price == 3
"""


MIXIN = """\
import unittest

class Counts:
    def test_counts(self):
        assert True

class Deep(Counts):
    pass

class TillCase(Deep, unittest.TestCase):
    pass

class OtherCase(Deep, unittest.TestCase):
    def test_counts(self):
        assert False
"""


def method(name: str, owner: str = 'tests.test_till$TestTill') -> TestMethod:
    return TestMethod(module='core', test_file=FILE, test_class=owner, test_method=name)


def tree(folder: Path, files: Mapping[str, str]) -> RevisionTree:
    repository = init(folder / 'repository')
    return reading.open_tree(Repository(repository / '.git'), commit(repository, 'all', files))


def test_suite_command_runs_the_whole_file(tmp_path: Path) -> None:
    known = tree(tmp_path, {'core/pyproject.toml': PROJECT, FILE: TESTS})
    line = add_commands(BARE, 'core', FILE, (), known).test_command
    assert line == 'cd core && .venv/bin/python -m pytest -o addopts= tests/test_till.py'


def test_command_keeps_the_options_that_the_tests_need(tmp_path: Path) -> None:
    needed = PROJECT.replace('--cov=till', "--cov=till --ds=till.settings -W 'error::UserWarning'")
    known = tree(tmp_path, {'core/pyproject.toml': needed, FILE: TESTS})
    line = add_commands(BARE, 'core', FILE, (), known).test_command
    options = "-o 'addopts=--ds=till.settings -W error::UserWarning'"
    assert line == f'cd core && .venv/bin/python -m pytest {options} tests/test_till.py'


def test_command_runs_a_mixin_test_in_the_class_that_inherits_it(tmp_path: Path) -> None:
    known = tree(tmp_path, {'core/pyproject.toml': PROJECT, FILE: MIXIN})
    module = known.parse_file(FILE).types[0].name
    asked = [method('test_counts', f'{module}$Counts')]
    line = add_commands(BARE, 'core', FILE, asked, known).test_command
    assert line.endswith(' tests/test_till.py::TillCase::test_counts')


@pytest.mark.slow
def test_commands_run_the_requested_tests_in_a_module_without_git_tags(tmp_path: Path) -> None:
    files = {
        'core/pyproject.toml': PROJECT,
        'core/src/till/__init__.py': 'price = 2\n',
        FILE: TESTS,
    }
    known = tree(tmp_path, files)
    path = f'{Path(uv.find_program()).parent}{os.pathsep}{os.environ["PATH"]}'

    def run(line: str) -> int:
        done = subprocess.run(
            ['sh', '-c', line],
            cwd=tmp_path / 'repository',
            env={**os.environ, 'PATH': path},
            check=False,
        )
        return done.returncode

    asked = add_commands(BARE, 'core', FILE, [method('test_sells')], known)
    assert run(asked.compile_command) == 0
    assert run(asked.test_command) == 0
    for name, status in (('test_returns', 1), ('test_gone', 4)):
        line = add_commands(BARE, 'core', FILE, [method(name)], known).test_command
        assert run(line) == status, name


def test_prompt_for_a_whole_file_names_the_file() -> None:
    (step,) = make_prompt_words('core', FILE, ()).running
    assert step.endswith(': `cd core && python -m pytest tests/test_till.py`')
    (step,) = make_prompt_words('.', FILE, ()).running
    assert step.endswith(f': `python -m pytest {FILE}`')
