"""Where no test says anything with one interpreter, both ends are made ready with the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.python.interpreters import find_interpreters
from coevo.languages.python.supply import PythonSupply
from coevo.model.words import Label
from tests.coevo.languages.python.shops import shop
from tests.once import mined_once
from tests.projects import write

FIRST = (3, 11)  # as of 2024-01-01
NEXT = [one.feature for one in find_interpreters() if one.feature in ((3, 10), (3, 9))]

PROJECT = """\
[project]
name = "till"
version = "1.0"
requires-python = ">=3.9,<3.12"
"""
REFUSES = 'import sys\nif sys.version_info >= (3, {}):\n    raise TypeError("too new")\n'
TESTS = '{}import till\n\n\ndef test_last():\n    assert till.last() == {}\n'


def steps(newest: int) -> list[dict[str, str | bytes | None]]:
    refuses = REFUSES.format(newest)
    return [
        {
            'pyproject.toml': PROJECT,
            'till.py': 'def last():\n    return 1\n',
            'tests/test_till.py': TESTS.format(refuses, 1),
        },
        {
            'till.py': 'def last():\n    return 2\n',
            'tests/test_till.py': TESTS.format(refuses, 2),
        },
    ]


@pytest.mark.slow
@pytest.mark.skipif(not NEXT, reason='there is no Python 3.9 or 3.10 here')
def test_next_interpreter_is_used_if_the_first_gives_no_result(tmp_path: Path) -> None:
    found = mined_once(write(tmp_path / 'repository', steps(FIRST[1])), tmp_path / 'store')
    (pair,) = found.pairs
    assert pair.runtime is not None
    assert tuple(map(int, pair.runtime.split('.')[:2])) == max(NEXT)
    assert pair.runtimes_tried is not None
    assert [text.rpartition('.')[0] for text in pair.runtimes_tried] == [
        '3.11',
        f'3.{max(NEXT)[1]}',
    ]
    assert found.method('test_last').label is Label.UPDATE


@pytest.mark.slow
def test_first_interpreter_is_used_if_all_interpreters_give_no_result(tmp_path: Path) -> None:
    found = mined_once(write(tmp_path / 'repository', steps(0)), tmp_path / 'store')
    (pair,) = found.pairs
    assert (pair.runtime or '').startswith('3.11.')
    assert [drop.reason for drop in found.drops if drop.test_method == 'test_last'] == [
        't_new_c_new_compile_error'
    ]


@pytest.mark.skipif(not NEXT, reason='there is no Python 3.9 or 3.10 here')
@pytest.mark.slow
def test_interpreter_that_is_asked_for_after_the_chosen_one_is_not_missing(tmp_path: Path) -> None:
    known = [one for one in find_interpreters() if one.feature in (FIRST, (3, 9))]
    files = {'till/__init__.py': 'import something_absent\n', 'tests/test_till.py': 'A = 1\n'}
    runtimes = PythonSupply(known=known)
    with shop(
        tmp_path, files, {'tests/test_till.py': 'A = 2\n'}, PROJECT, runtimes=runtimes
    ) as place:
        (old, new) = place.builds
    assert old.runtime.startswith('3.11.')
    assert old.runtimes_tried == new.runtimes_tried
    assert old.runtime_preferred is None
    assert old.runtime_lacking == '3.10'
