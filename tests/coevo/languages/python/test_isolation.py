"""Tests whose import the new code lacks, or whose class has another name, with old tests around."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.model.words import Label, Track
from coevo.starts.isolation import WITH_FILE
from tests.coevo.languages.python.shops import PROJECT
from tests.once import mined_once
from tests.projects import write

CODE = 'RATE = 1\n\n\ndef last():\n    return 1\n'
TESTS = """\
import {0}

from {0} import last


def test_last():
    assert last() == {0}.RATE


def test_module():
    assert {0}.last() == 1
"""


@pytest.mark.parametrize(
    ('rest', 'detail'),
    [
        # The targets bring their own imports in place of the old ones, which only they use.
        ('', ''),
        ('\n\nLEAST = {0}.RATE\n', WITH_FILE),
    ],
)
def test_update_of_all_tests_of_a_file_is_isolated_with_the_file_if_more_of_it_breaks(
    tmp_path: Path, rest: str, detail: str
) -> None:
    tests = TESTS + rest
    steps = [
        {
            'pyproject.toml': PROJECT,
            'till.py': CODE,
            'tests/test_till.py': tests.format('till'),
        },
        {'till.py': None, 'desk.py': CODE, 'tests/test_till.py': tests.format('desk')},
    ]
    pair = mined_once(write(tmp_path / 'repository', steps), tmp_path / 'store')
    for name in ('test_last', 'test_module'):
        row = pair.method(name)
        assert (row.label, row.track) == (Label.UPDATE, Track.UPDATE), row.isolated
        assert row.isolated is not None
        assert row.isolated.detail == detail


@pytest.mark.parametrize(
    'text', ['class {0}:\n{1}', 'class TestTill:\n{2}\n\nclass TestDesk:\n{3}']
)
def test_update_of_a_test_in_a_class_of_another_name_is_isolated(tmp_path: Path, text: str) -> None:
    """The class is renamed, or the test moves to a class that both revisions have."""
    code = 'def last():\n    return {0}\n\n\ndef name():\n    return "till"\n'
    moves = '    def test_last(self):\n        total = [till.last()] * 2\n        assert total == [{0}, {0}]\n'
    stays = '    def test_name(self):\n        assert till.name()\n'

    def fill(number: int) -> str:
        """Return the test file as it is when `last` returns a number."""
        both = moves.format(number) + '\n' + stays
        parts = (both, stays, stays.replace('name', 'title', 1) + '\n' + moves.format(number))
        if number == 1:
            parts = (both, both, stays.replace('name', 'title', 1))
        return 'import till\n\n\n' + text.format(f'Test{"Till" if number == 1 else "Desk"}', *parts)

    steps = [
        {'pyproject.toml': PROJECT, 'till.py': code.format(1), 'tests/test_till.py': fill(1)},
        {'till.py': code.format(2), 'tests/test_till.py': fill(2)},
    ]
    pair = mined_once(write(tmp_path / 'repository', steps), tmp_path / 'store')
    row = pair.method('test_last')
    assert (row.label, row.track) == (Label.UPDATE, Track.UPDATE), row.isolated
    assert row.isolated is not None
    assert row.isolated.agrees, row.isolated.detail
