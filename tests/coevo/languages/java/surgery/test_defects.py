"""Defects in tests of Java: what each kind makes of a file, and that a file without a place for it has none."""

from __future__ import annotations

import pytest

from coevo.languages.declarations import Member
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.surgery.defects import defective
from coevo.model.families import Defect

SOURCE = b"""\
package shop;

import static org.junit.Assert.assertEquals;
import org.junit.Test;

public class TillTest {
    @Test
    public void pays() {
        Till till = new Till(2);
        int sum = till.price(3);
        assertEquals(6, sum);
    }

    @Test
    public void closes() {
        Till.close();
    }
}
"""


def members(source: bytes) -> list[Member]:
    return [member for type_ in parse(source).types for member in type_.members]


def lines(kind: Defect) -> tuple[set[str], set[str]]:
    """What the first defect of a kind takes out of the file, and puts into it."""
    text = next(defective(kind, SOURCE, members(SOURCE))).decode()
    old, new = (set(map(str.strip, one.splitlines())) for one in (SOURCE.decode(), text))
    return old - new, new - old


@pytest.mark.parametrize(
    ('kind', 'gone', 'put'),
    [
        (Defect.MISSED_ASSERTS, {'assertEquals(6, sum);'}, set()),
        (
            Defect.NO_NEW_COVERED_LOGIC,
            {'Till till = new Till(2);', 'int sum = till.price(3);', 'assertEquals(6, sum);'},
            set(),
        ),
        (
            Defect.UNDEFINED_ENTITY,
            {'int sum = till.price(3);'},
            {'int sum = tillUndefined.price(3);'},
        ),
        (Defect.INVALID_CALL, {'int sum = till.price(3);'}, {'int sum = till.price(3, null);'}),
        (
            Defect.INVALID_CONSTRUCTOR,
            {'Till till = new Till(2);'},
            {'Till till = new Till(2, null);'},
        ),
        (Defect.MISSED_DEPENDENCIES, {'import static org.junit.Assert.assertEquals;'}, set()),
        (
            Defect.RUNTIME_ERRORS,
            {'public void pays() {'},
            {'public void pays() { ((Object) null).hashCode();'},
        ),
        (Defect.SYNTAX_ERROR, {'assertEquals(6, sum);'}, {'assertEquals(6, sum)'}),
    ],
)
def test_a_defect_is_where_it_belongs_and_nowhere_else(
    kind: Defect, gone: set[str], put: set[str]
) -> None:
    assert lines(kind) == (gone, put)


def test_a_test_that_is_declared_twice() -> None:
    (first, second) = defective(Defect.DUPLICATE_ENTITY, SOURCE, members(SOURCE))
    assert [text.count(b'void pays()') for text in (first, second)] == [2, 1]
    assert [text.count(b'void closes()') for text in (first, second)] == [1, 2]


def test_a_test_without_a_place_for_a_defect_has_none() -> None:
    closes = members(SOURCE)[1:]
    for kind in (Defect.MISSED_ASSERTS, Defect.INVALID_CONSTRUCTOR, Defect.NO_NEW_COVERED_LOGIC):
        assert list(defective(kind, SOURCE, closes)) == []
