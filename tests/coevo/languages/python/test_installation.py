"""What an installed project has besides its packages: scripts, metadata, and the host's programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import Shop, method, shop

PROJECT = """\
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "till"
dynamic = ["version"]
description = "Counts money"
requires-python = ">=3.11,<3.12"
dependencies = ["pygments>=2.15"]
scripts = {count-money = "till:main"}
entry-points = {tills = {plain = "till:price"}}

[project.optional-dependencies]
test = ["pytest>=7"]

[tool.setuptools]
py-modules = ["till"]
dynamic = {version = {attr = "till.__version__"}}
"""
CODE = """\
    import sys

    __version__ = '1.2.3'


    def price():
        return 1


    def main():
        print('money:', *sys.argv[1:])
        return 3
"""
TESTS = """\
    import importlib.metadata
    import pathlib
    import shutil
    import subprocess
    import sys


    def test_own_script():
        done = subprocess.run(['count-money', '5'], capture_output=True, text=True)
        assert (done.stdout, done.returncode) == ('money: 5\\n', 3)


    def test_script_beside_the_interpreter():
        script = pathlib.Path(sys.executable).with_name('count-money')
        assert subprocess.run([str(script), '5'], capture_output=True).returncode == 3


    def test_script_of_a_library():
        found = shutil.which('pygmentize')
        assert found == str(pathlib.Path(sys.executable).with_name('pygmentize'))
        assert subprocess.run([found, '-V'], capture_output=True).returncode == 0


    def test_metadata():
        about = importlib.metadata.metadata('till')
        assert (about['Version'], about['Summary']) == ('1.2.3', 'Counts money')
        assert importlib.metadata.requires('till')[0].replace(' ', '') == 'pygments>=2.15'


    def test_entry_points():
        (point,) = importlib.metadata.entry_points(group='tills')
        assert point.load()() == 1


    def test_utilities():
        assert subprocess.run(['sh', '-c', 'echo 1 | sed s/1/2/'], capture_output=True).stdout


    def test_other_programs_of_the_host():
        assert [name for name in ('prlimit', 'bwrap', 'java', 'uv') if shutil.which(name)] == []
"""


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp('installed')
    old = {'till.py': CODE, 'tests/test_till.py': TESTS}
    with shop(folder, old, {'till.py': CODE.replace('return 1', 'return 1.0')}, PROJECT) as opened:
        yield opened


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    'name',
    [
        'test_own_script',
        'test_script_beside_the_interpreter',
        'test_script_of_a_library',
        'test_metadata',
        'test_entry_points',
        'test_utilities',
        'test_other_programs_of_the_host',
    ],
)
def test_a_test_sees_an_installation(place: Shop, name: str) -> None:
    verdict = place.verdict(method(name))
    assert (verdict.outcome, verdict.message) == (Outcome.PASS, '')
