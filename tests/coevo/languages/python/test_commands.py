"""The two commands of a task in Python, run by plain uv and pytest as they stand."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from coevo.languages.python import uv
from coevo.languages.python.commands import commands
from coevo.model.records import Environment
from coevo.model.records import LibraryEntry
from coevo.model.records import TestMethod

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


def method(name: str) -> TestMethod:
    return TestMethod(
        module='core', test_file=FILE, test_class='tests.test_till$TestTill', test_method=name
    )


def test_a_suite_is_the_whole_file() -> None:
    line = commands(BARE, 'core', FILE, ()).test_command
    assert line == 'cd core && .venv/bin/python -m pytest -o addopts= tests/test_till.py'


@pytest.mark.slow
def test_the_tests_that_are_asked_for_run_in_a_module_without_tags(tmp_path: Path) -> None:
    files = {
        'pyproject.toml': PROJECT,
        'src/till/__init__.py': 'price = 2\n',
        'tests/test_till.py': TESTS,
    }
    for name, text in files.items():
        file = tmp_path / 'core' / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    path = f'{Path(uv.program()).parent}{os.pathsep}{os.environ["PATH"]}'

    def run(line: str) -> int:
        done = subprocess.run(
            ['sh', '-c', line], cwd=tmp_path, env={**os.environ, 'PATH': path}, check=False
        )
        return done.returncode

    asked = commands(BARE, 'core', FILE, [method('test_sells')])
    assert run(asked.compile_command) == 0
    assert run(asked.test_command) == 0
    assert run(commands(BARE, 'core', FILE, [method('test_returns')]).test_command) == 1
    assert run(commands(BARE, 'core', FILE, [method('test_gone')]).test_command) != 0
