"""An import that all tests of a file lean on, and the new code no longer has."""

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
