"""Files of which it is not known what is in them, and names that stand twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.model.profiles import load_profile
from coevo.model.reasons import DiffReason
from filters import filter_candidates
from tests.miners.pairs_of import diffed

DEEP = 'class A {' * 1000 + '}' * 1000
TEST = 'package p; public class BTest {{ @org.junit.Test public void a() {{ new B().b({}); }} }}'


@pytest.mark.parametrize(
    ('old', 'new'),
    [
        ({'A': 'class A {}'}, {'A': DEEP}),
        ({'A': DEEP}, {'A': 'class A {}'}),
        ({'ATest': DEEP}, {'ATest': f'{DEEP} '}),
    ],
)
def test_pair_that_changes_an_unreadable_file_is_dropped(
    tmp_path: Path, old: dict[str, str], new: dict[str, str]
) -> None:
    change = diffed(tmp_path, old, new)
    kept, (drop,) = filter_candidates(change, load_profile('default'))
    assert (kept, drop.reason, drop.key) == ((), DiffReason.UNREADABLE_SOURCE, change.pair.pair_id)


def test_unreadable_test_file_leaves_the_other_tests_of_its_pair(tmp_path: Path) -> None:
    old, new = (
        {
            'ATest': DEEP + ' ' * n,
            'B': f'package p; class B {{ void b(int n) {{ n += {n}; }} }}',
            'BTest': TEST.format(n),
        }
        for n in (1, 2)
    )
    change = diffed(tmp_path, old, new)
    assert change.reason is None
    assert [one.method.test_method for one in change.candidates] == ['a']


def test_pair_with_an_unchanged_unreadable_file_is_kept(tmp_path: Path) -> None:
    old, new = (
        {
            'A': DEEP,
            'B': f'package p; class B {{ void b(int n) {{ n += {n}; }} }}',
            'BTest': TEST.format(n),
        }
        for n in (1, 2)
    )
    change = diffed(tmp_path, old, new)
    assert change.reason is None
    assert [one.method.test_method for one in change.candidates] == ['a']


def test_duplicate_binary_class_name_is_taken_once(tmp_path: Path) -> None:
    """`A.B` and a class `A$B` beside it have the same one, which no compiler takes."""
    text = (
        'package p; class ATest {{ static class B {{ @org.junit.Test public void a() {{ {0}; }} }} }}'
        ' class ATest$B {{ @org.junit.Test public void a() {{ {0} + 1; }} }}'
    )
    change = diffed(tmp_path, {'ATest': text.format(1)}, {'ATest': text.format(2)})
    assert [one.method.test_class for one in change.candidates] == ['p.ATest$B']
