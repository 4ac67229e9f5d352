from __future__ import annotations

import pytest

from coevo.languages.java import assertions as java
from flows.study.texts import AssertionChange, AssertionKind, classify_change, compare_assertions


def test_the_same_assertion_on_other_values_counts_as_changed() -> None:
    old = 'void m() { assertEquals(1, x); assertNull(a); assertNull(a); }'
    new = 'void m() { assertEquals(2, x); assertNull(a); assertTrue(b); }'
    assert compare_assertions(java, old, new) == AssertionChange(
        lost=('assertNull(a)',),
        gained=('assertTrue(b)',),
        changed=(('assertEquals(1,x)', 'assertEquals(2,x)'),),
    )


OLD = 'void m() { assertNull(a); }'


@pytest.mark.parametrize(
    ('new', 'coverage', 'expected'),
    [
        (OLD, (0.5, 0.5), ()),
        ('void m() { /* a */ assertNull( a, "m"); }', (None, None), ()),
        ('void m() { }', (None, 0.9), (AssertionKind.ASSERTIONS_LOST,)),
        ('void m() { assertNull(b); }', (0.5, 0.54), (AssertionKind.ASSERTIONS_CHANGED,)),
        (OLD, (0.30, 0.35), (AssertionKind.COVERAGE_GAINED,)),
        (OLD, (0.35, 0.30), (AssertionKind.COVERAGE_LOST,)),
        (
            'void m() { assertNull(a); assertTrue(b); }',
            (0.0, 1.0),
            (AssertionKind.ASSERTIONS_GAINED, AssertionKind.COVERAGE_GAINED),
        ),
    ],
)
def test_a_change_is_classified_by_assertions_and_coverage(
    new: str, coverage: tuple[float | None, float | None], expected: tuple[AssertionKind, ...]
) -> None:
    assert classify_change(compare_assertions(java, OLD, new), *coverage) == expected


def test_a_change_is_classified_by_coverage_alone_without_assertion_support() -> None:
    assert classify_change(None, 0.30, 0.35) == (AssertionKind.COVERAGE_GAINED,)
    assert classify_change(None, 0.30, 0.30) == ()
