"""Which pairs the gate lets through, how many unchanged tests it draws, and how it counts the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.model.profiles import Gate, load_profile
from coevo.model.reasons import DiffReason
from filters import filter_candidates
from miners.diffs.changes import PairChange, diff_pair
from tests.miners.pairs_of import changes, diffed, java_class

GATE = Gate(share=0.15, limit=20)
CODE = 'public class Fare { int price() { return %s; } }'
TEST = '@Test void %s() { assertEquals(%s, new Fare().price()); }'
ROWS = 'static final int[] ROWS = {%s};'
READS = '@Test void reads() { for (int row : ROWS) assertEquals(row, new Fare().price()); }'


def compare(
    folder: Path, old: Mapping[str, str], new: Mapping[str, str | None], gate: Gate | None = GATE
) -> PairChange:
    pair = diffed(folder, old, new).pair
    return diff_pair(Repository(folder / 'repository' / '.git'), pair, gate)


def unit_tests(*members: str) -> str:
    return java_class(*members, name='FareTest')


@pytest.mark.parametrize(
    ('old', 'new', 'tests', 'expected'),
    [
        ('1', '2', [[TEST % ('a', 1)]] * 2, None),
        ('1', '2', [[TEST % ('a', 1), TEST % ('b', 1)], [TEST % ('a', 1)]], None),
        ('1', '2', [[TEST % ('a', 1)], [TEST % ('a', 2)]], {'a': 'changed'}),
        ('1', '2', [[], [TEST % ('a', 2)]], {'a': 'inserted'}),
        ('1', '2', [[ROWS % 1, READS], [ROWS % 2, READS]], {'reads': 'changed'}),
        ('1', '1', [[TEST % ('a', 2)], [TEST % ('a', 1)]], {'a': 'changed'}),
    ],
    ids=['sources', 'deleted', 'changed', 'inserted', 'table', 'repair'],
)
def test_a_pair_is_of_use_if_a_test_or_what_it_reads_changed(
    tmp_path: Path, old: str, new: str, tests: list[list[str]], expected: dict[str, str] | None
) -> None:
    change = compare(
        tmp_path,
        {'Fare': CODE % old, 'FareTest': unit_tests(*tests[0])},
        {'Fare': CODE % new, 'FareTest': unit_tests(*tests[1])},
    )
    if expected is None:
        assert change.reason is DiffReason.NO_TEST_CHANGE
        assert (change.candidates, change.compared) == ((), None)
    else:
        assert change.reason is None
        assert changes(change) == expected


@pytest.mark.parametrize(
    'others', [{}, {'FareTest': unit_tests(ROWS % 1)}], ids=['no test file', 'a file of rows']
)
def test_a_pair_of_a_project_without_any_test_says_so(
    tmp_path: Path, others: dict[str, str]
) -> None:
    change = compare(tmp_path, {'Fare': CODE % 1, **others}, {'Fare': CODE % 2, **others})
    assert change.reason is DiffReason.NO_TEST_FOUND
    emptied = {'Fare': CODE % 2, 'FareTest': unit_tests()}
    other = tmp_path / 'other'
    change = compare(other, {'Fare': CODE % 1, 'FareTest': unit_tests(TEST % ('a', 1))}, emptied)
    assert change.reason is DiffReason.NO_TEST_CHANGE


def test_a_changed_file_of_the_tests_that_no_test_uses_is_no_change_of_a_test(
    tmp_path: Path,
) -> None:
    tests = {'Fare': CODE % 1, 'FareTest': unit_tests(TEST % ('a', 1))}
    old, new = ({**tests, 'ExampleTest': java_class(ROWS % n, name='Example')} for n in (1, 2))
    change = compare(tmp_path / 'gated', old, new)
    assert (change.reason, change.compared) == (DiffReason.NO_TEST_CHANGE, None)
    whole = compare(tmp_path / 'whole', old, new, gate=None)
    assert (whole.reason, whole.compared, whole.apart) == (None, 0, 1)


def test_unchanged_tests_are_drawn_as_a_share_and_the_others_are_counted(tmp_path: Path) -> None:
    """Of 12 changed tests 2 more may run; all 30 unchanged ones use the code, and 5 others do not."""
    kept = [TEST % (f'kept{n}', 1) for n in range(30)]
    far = [f'@Test void far{n}() {{ }}' for n in range(5)]
    old, new = ([TEST % (f'edited{n}', value) for n in range(12)] for value in (1, 2))
    files = [
        {'Fare': CODE % value, 'FareTest': unit_tests(*kept, *far, *edited)}
        for value, edited in ((1, old), (2, new))
    ]
    gated = compare(tmp_path / 'gated', files[0], files[1])
    whole = compare(tmp_path / 'whole', files[0], files[1], gate=None)
    counts = [Counter(map(str, changes(change).values())) for change in (gated, whole)]
    assert counts == [{'changed': 12, 'unchanged': 2}, {'changed': 12, 'unchanged': 30}]
    assert (whole.undrawn, whole.alike) == (0, 5)
    assert gated.undrawn is not None
    assert gated.alike is not None
    assert gated.undrawn >= 28
    assert gated.compared == whole.compared == 14 + gated.alike + gated.undrawn
    drawn, former = (
        {c.method.test_method for c in filter_candidates(change, load_profile(name))[0]}
        for change, name in ((gated, 'default'), (whole, 'whole'))
    )
    assert drawn <= former  # the same order as without a gate, so the sample is its beginning


@pytest.mark.parametrize(('others', 'most'), [(0, 0), (5, 0), (6, 1), (17, 3), (1000, 20)])
def test_at_most_the_share_of_all_tests_that_run_is_unchanged(others: int, most: int) -> None:
    assert GATE.compute_unchanged_allowance(others) == most
    assert Gate(share=0.15, limit=None).compute_unchanged_allowance(1000) == 176


def test_context_changed_tests_beyond_their_limit_allow_no_unchanged_ones() -> None:
    gate = Gate(share=0.15, limit=20, context_limit=10)
    assert gate.compute_unchanged_allowance(7, 112) == GATE.compute_unchanged_allowance(17)
    assert gate.compute_unchanged_allowance(7, 4) == GATE.compute_unchanged_allowance(11)
