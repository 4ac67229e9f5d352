"""Pynguin as an agent: the tests that it is made to write, and the tasks that it is given."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.agents import pynguin_driver
from coevo.agents.adapters import ADAPTERS
from coevo.agents.costs import Meter, PriceTable
from coevo.agents.records import Ending
from coevo.agents.run import DRIVER, SOFTWARE, AgentSettings, Caps, run_agent
from coevo.languages.python.interpreters import (
    find_interpreters,
    get_library_variables,
    get_sandbox_program,
    list_interpreter_mounts,
)
from coevo.sandboxes.sandbox import Mount, Sandbox
from coevo.sandboxes.workspace import open_workspace
from tests.repos import commit, init

GENERATED = """\
import pytest
import random as _pynguin_random
import shop.till as module_0

STEP = 1

def _seed():
    return STEP

@pytest.fixture(autouse=True)
def _pynguin_seed():
    _pynguin_random.seed(0)

def test_0():
    var_0 = module_0.fare(3)
    assert var_0 == 11

@pytest.mark.xfail(strict=True)
def test_1():
    module_0.fare(None)

def test_2():
    _seed()
    with pytest.raises(ValueError):
        module_0.discount(0)
"""
CODE = """\
def fare(zones):
    if zones < 1:
        raise ValueError('no zone')
    return 2 + 3 * zones
"""
TESTS = """\
class TestFare:
    def test_one_zone(self):
        assert fare(1) == 5


class TestOther:
    pass
"""


def test_bodies_bring_what_they_use_and_leave_out_expected_failures() -> None:
    first, second = pynguin_driver.list_self_contained_bodies(GENERATED)
    for body in (first, second):
        assert 'import shop.till as module_0' in body
        assert '_pynguin_random' not in body
    assert 'STEP' not in first
    assert second.index('STEP = 1') < second.index('def _seed():') < second.index('_seed()\n')
    assert 'assert var_0 == 11' in first
    assert 'module_0.discount(0)' in second


def test_whole_file_lacks_expected_failures_alone() -> None:
    names = [
        each.name
        for each in ast.parse(pynguin_driver.drop_expected_failures(GENERATED)).body
        if isinstance(each, ast.FunctionDef)
    ]
    assert names == ['_seed', '_pynguin_seed', 'test_0', 'test_2']
    failing = GENERATED.partition('def test_0')[0]
    assert pynguin_driver.drop_expected_failures(failing) == ''


def test_bodies_that_mention_the_changed_code_come_first() -> None:
    bodies = pynguin_driver.list_self_contained_bodies(GENERATED)
    assert pynguin_driver.sort_by_mentions(bodies, ['discount']) == bodies[::-1]
    assert pynguin_driver.sort_by_mentions(bodies, ['', 'count']) == bodies


def test_tests_are_added_to_their_class_or_to_a_new_one() -> None:
    wanted = [
        'tests.test_fare$TestFare#test_two',
        'tests.test_fare$TestNew#test_three',
        'tests.test_fare#test_four',
    ]
    text = pynguin_driver.add_tests(TESTS, wanted, ['x = 1', 'x = 2', 'x = 3', 'x = 4'])
    tree = ast.parse(text)
    methods = {
        each.name: [inner.name for inner in each.body if isinstance(inner, ast.FunctionDef)]
        for each in tree.body
        if isinstance(each, ast.ClassDef)
    }
    assert methods == {
        'TestFare': ['test_one_zone', 'test_two'],
        'TestOther': [],
        'TestNew': ['test_three'],
    }
    assert [each.name for each in tree.body if isinstance(each, ast.FunctionDef)] == ['test_four']
    assert 'x = 1\n        x = 4' in text
    assert (
        ast.unparse(ast.parse(pynguin_driver.add_tests('', wanted[2:], ['x = 1'])))
        == 'def test_four():\n    x = 1'
    )


def test_module_is_named_from_the_folder_above_its_packages(tmp_path: Path) -> None:
    for name in (
        'src/shop/__init__.py',
        'src/shop/till/__init__.py',
        'src/shop/till/fare.py',
        'tool.py',
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    find = pynguin_driver.find_root_and_module
    assert find(tmp_path / 'src/shop/till/fare.py') == (tmp_path / 'src', 'shop.till.fare')
    assert find(tmp_path / 'src/shop/__init__.py') == (tmp_path / 'src', 'shop')
    assert find(tmp_path / 'tool.py') == (tmp_path, 'tool')


@pytest.fixture(scope='module')
def software(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('pynguin')
    target = folder / f'{sys.version_info[0]}.{sys.version_info[1]}'
    words = [
        'pip',
        'install',
        '--quiet',
        '--target',
        str(target),
        '--python',
        sys.executable,
        'pynguin==0.48.0',
    ]
    subprocess.run([Path(sys.executable).with_name('uv'), *words], check=True)
    for path in (folder, *folder.parents):
        if path.is_relative_to(folder.parent.parent) and os.access(path, os.W_OK):
            path.chmod(path.stat().st_mode | 0o055)
    return folder


@pytest.fixture
def place() -> Iterator[Path]:
    with open_workspace() as folder:
        commit(init(folder / 'start'), 'start', {'shop/__init__.py': '', 'shop/till.py': CODE})
        (folder / 'prompt.txt').write_text('')
        yield folder


def run_pynguin(
    sandbox: Sandbox, software: Path, place: Path, tests: list[str], *others: str
) -> str:
    """Run the adapter on a task, and return the test file that it writes."""
    code = [{'file': 'shop/till.py', 'name': 'shop.till#fare(zones)'}]
    code += [{'file': name, 'name': ''} for name in others]
    task = {'test_file': 'tests/test_till.py', 'tests': tests, 'code': code}
    (place / 'task.json').write_text(json.dumps(task))
    interpreter = next(one for one in find_interpreters() if one.feature == sys.version_info[:2])
    adapter = ADAPTERS['pynguin']
    assert adapter.BUNDLED_FILE is not None
    bin_folder = get_sandbox_program(interpreter).rpartition('/')[0]
    settings = AgentSettings(
        command=adapter.COMMAND,
        caps=Caps(seconds=120.0),
        endpoint=None,
        mounts=(
            Mount(source=software, target=SOFTWARE),
            Mount(source=adapter.BUNDLED_FILE, target=f'{DRIVER}/{adapter.BUNDLED_FILE.name}'),
            *list_interpreter_mounts(interpreter),
        ),
        environment={
            **get_library_variables(interpreter),
            'PATH': f'{bin_folder}:/usr/bin:/bin',
            'COEVO_SECONDS': '30',
        },
    )
    meter = Meter(place / 'rounds.jsonl', PriceTable({}, Path('p')), None)
    ran = run_agent(sandbox, settings, place, 'tests/test_till.py', meter)
    assert ran.ending is Ending.COMPLETED, ran.output_tail
    assert ran.files is not None
    end = ran.files['tests/test_till.py'][1]
    assert end is not None
    return end.content.decode()


@pytest.mark.slow
def test_generated_tests_have_the_wanted_names_and_pass(
    sandbox: Sandbox, software: Path, place: Path, tmp_path: Path
) -> None:
    text = run_pynguin(sandbox, software, place, ['tests.test_till#test_fare_grows'])
    (tmp_path / 'shop').mkdir()
    (tmp_path / 'shop/__init__.py').touch()
    (tmp_path / 'shop/till.py').write_text(CODE)
    (tmp_path / 'test_till.py').write_text(text)
    words = [
        sys.executable,
        '-B',
        '-m',
        'pytest',
        '-q',
        '-p',
        'no:cacheprovider',
        'test_till.py::test_fare_grows',
    ]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    (tmp_path / 'shop/till.py').write_text(CODE.replace('2 + 3', '9 + 9'))
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode == 1


@pytest.mark.slow
def test_whole_test_file_is_written_where_no_test_is_named(
    sandbox: Sandbox, software: Path, place: Path
) -> None:
    text = run_pynguin(sandbox, software, place, [])
    assert 'def test_0()' in text
    assert 'fare(' in text


@pytest.mark.slow
def test_tests_of_two_modules_stand_beside_each_other_and_beside_those_that_are_there(
    sandbox: Sandbox, software: Path, place: Path
) -> None:
    there = 'def test_0():\n    assert True\n'
    other = CODE.replace('fare', 'discount')
    commit(place / 'start', 'more', {'shop/sale.py': other, 'tests/test_till.py': there})
    text = run_pynguin(sandbox, software, place, [], 'shop/sale.py')
    names = [each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    assert text.startswith(there)
    assert len(names) == len(set(names)) > 2
    assert 'fare(' in text
    assert 'discount(' in text
