"""Defects in tests of Java: what each kind makes of a file, and that a file without a place for it has none."""

from __future__ import annotations

import pytest

from coevo.languages.declarations import Member
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.surgery.defects import insert_defects
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
    text = next(insert_defects(kind, SOURCE, members(SOURCE))).decode()
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
def test_inserted_defect_changes_only_its_own_lines(
    kind: Defect, gone: set[str], put: set[str]
) -> None:
    assert lines(kind) == (gone, put)


def test_duplicate_entity_defect_declares_a_test_twice() -> None:
    (first, second) = insert_defects(Defect.DUPLICATE_ENTITY, SOURCE, members(SOURCE))
    assert [text.count(b'void pays()') for text in (first, second)] == [2, 1]
    assert [text.count(b'void closes()') for text in (first, second)] == [1, 2]


def test_test_without_a_suitable_place_gets_no_defect() -> None:
    closes = members(SOURCE)[1:]
    for kind in (Defect.MISSED_ASSERTS, Defect.INVALID_CONSTRUCTOR, Defect.NO_NEW_COVERED_LOGIC):
        assert list(insert_defects(kind, SOURCE, closes)) == []
