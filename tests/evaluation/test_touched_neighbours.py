"""Which neighbours a patch touches, by the text of the test file alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.evaluation.measuring.neighbour_strength import (
    NeighbourFile,
    TouchedNeighbours,
    find_touched_neighbours,
)
from coevo.languages.declarations import SourceFile
from coevo.languages.table import get_surgery
from coevo.model.records import TestMethod

START = """\
import pytest
from quay import fare, fee


@pytest.fixture
def days():
    return 5


def check_fee(days, wanted):
    assert fee(days) == wanted


def test_new():
    assert fare(1) == 16


def test_fee(days):
    check_fee(days, 10)


def test_none():
    assert fare(0) == 4
"""
GOLD = START.replace('== 16', '== 17')


def methods(text: str) -> Iterator[TestMethod]:
    for member in get_surgery('python').list_other_tests(text.encode(), [], 'test_quay.py'):
        yield TestMethod(
            module='.',
            test_file='test_quay.py',
            test_class=member.owner,
            test_method=member.name,
            parameters=member.parameters,
        )


def touch(patched: str) -> TouchedNeighbours:
    tests = {method.test_method: method for method in methods(START)}
    target = tests.pop('test_new')

    def find_targets(file: SourceFile) -> list[TestMethod]:
        return [target]

    file = NeighbourFile(
        language='python',
        path='test_quay.py',
        known=(START.encode(), GOLD.encode()),
        find_targets=find_targets,
        neighbours=tests,
    )
    return find_touched_neighbours(file, patched.encode())


@pytest.mark.parametrize(
    'patched',
    [
        START,
        GOLD,
        GOLD.replace('    assert fare(0) == 4', '    # zero\n    assert fare(0)  ==  4'),
        GOLD.replace('== 17', '== 17\n    assert fare(2) == 30'),
        # what a new test needs for itself
        GOLD.replace('def test_new', 'def price(n):\n    return fare(n)\n\n\ndef test_new'),
        GOLD.replace('import pytest', 'import math\nimport pytest'),
        GOLD + '\n\ndef test_more():\n    assert fare(3) == 43\n',
    ],
)
def test_patch_of_targets_and_own_helpers_touches_no_neighbour(patched: str) -> None:
    assert touch(patched) == TouchedNeighbours()


def test_rewritten_neighbour_is_touched_alone() -> None:
    found = touch(GOLD.replace('    assert fare(0) == 4', '    assert fare(0) == 2 + 2'))
    assert found.rewritten == found.touched == {'test_none'}
    assert not found.fewer_assertions
    assert touch(GOLD.replace('    assert fare(0) == 4', '    pass')).fewer_assertions == {
        'test_none'
    }


@pytest.mark.parametrize(
    'patched',
    [
        GOLD.replace('return 5', 'return 2'),
        GOLD.replace('    assert fee(days) == wanted', '    fee(days)'),
        GOLD.replace('def test_fee', 'fee = abs\n\n\ndef test_fee'),
        GOLD.replace('import pytest', 'import pytest\nfrom fakes import fare'),
        GOLD.replace(
            'def check_fee',
            '@pytest.fixture(autouse=True)\ndef quiet(monkeypatch):\n    pass\n\n\ndef check_fee',
        ),
        f'{GOLD}\n\nimport quay\nquay.fee = abs\n',
    ],
)
def test_change_of_what_neighbours_use_touches_all_of_them(patched: str) -> None:
    found = touch(patched)
    assert found.touched == {'test_fee', 'test_none'}
    assert not found.rewritten


def test_neighbour_that_no_longer_calls_its_helper_has_fewer_assertions() -> None:
    emptied = GOLD.replace('    check_fee(days, 10)', '    pass')
    assert touch(emptied).fewer_assertions == {'test_fee'}
    inlined = GOLD.replace('    check_fee(days, 10)', '    assert fee(days) == 10')
    assert touch(inlined).rewritten == {'test_fee'}
    assert not touch(inlined).fewer_assertions


def test_emptied_helper_costs_those_that_name_it_their_assertions() -> None:
    found = touch(GOLD.replace('    assert fee(days) == wanted', '    fee(days)'))
    assert found.fewer_assertions == {'test_fee'}
