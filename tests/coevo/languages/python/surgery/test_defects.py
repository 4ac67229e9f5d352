"""Defects in tests of Python: what each kind makes of a file, and that a file without a place for it has none."""

from __future__ import annotations

import pytest

from coevo.languages.declarations import Member
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.surgery.defects import insert_defects
from coevo.model.families import Defect

SOURCE = b'''\
"""Of tills."""

from __future__ import annotations

import pytest
from shop import Till, close


@pytest.mark.parametrize('count', [3])
def test_pays(count):
    """It pays."""
    till = Till(rate=2)
    total = till.price(count, rounded=True)
    if total:
        # By hand.
        assert total == 6
    assert till.open


class TestEnd:
    def test_closes(self):
        close()

    def test_raises(self):
        with pytest.raises(ValueError):
            close()
'''


def members(source: bytes) -> list[Member]:
    found = [member for type_ in parse(source).types for member in type_.members]
    return [one for one in found if one.name.startswith('test_')]


def changed(kind: Defect, tests: list[Member]) -> tuple[list[str], list[str]]:
    """The lines that the first defect of a kind takes out of the file, and puts into it."""
    text = next(insert_defects(kind, SOURCE, tests)).decode()
    old, new = SOURCE.decode().splitlines(), text.splitlines()
    gone = [line.strip() for line in old if line not in new]
    return gone, [line.strip() for line in new if line not in old]


@pytest.mark.parametrize(
    ('kind', 'gone', 'put'),
    [
        (Defect.UNDEFINED_ENTITY, 'till.price(count', 'till_undefined.price(count'),
        (Defect.INVALID_CALL, '(count, rounded', '(count, None, rounded'),
        (Defect.INVALID_CONSTRUCTOR, 'Till(rate', 'Till(None, rate'),
        (Defect.SYNTAX_ERROR, 'assert till.open', 'assert till.'),
    ],
)
def test_defect_changes_exactly_one_line(kind: Defect, gone: str, put: str) -> None:
    (before,), (after,) = changed(kind, members(SOURCE))
    assert before.replace(gone, put) == after != before


def test_missed_dependency_removes_one_import_but_no_future_import() -> None:
    texts = list(insert_defects(Defect.MISSED_DEPENDENCIES, SOURCE, members(SOURCE)))
    assert [b'import pytest\n' in text for text in texts] == [False, True]
    assert [b'from shop' in text for text in texts] == [True, False]
    assert all(b'__future__' in text for text in texts)


def test_block_emptied_of_assertions_gets_a_pass_statement() -> None:
    text = next(insert_defects(Defect.MISSED_ASSERTS, SOURCE, members(SOURCE)))
    compile(text, 'test', 'exec')
    assert text.count(b'assert') == 0
    assert text.count(b'pass\n') == 1


def test_runtime_error_is_inserted_after_the_docstring() -> None:
    assert changed(Defect.RUNTIME_ERRORS, members(SOURCE)) == ([], ['None.strip()'])
    text = next(insert_defects(Defect.RUNTIME_ERRORS, SOURCE, members(SOURCE)))
    assert text.index(b'It pays') < text.index(b'None.strip()') < text.index(b'till = ')
    one_line = b'def test_closes(): close()\n'
    (found,) = insert_defects(Defect.RUNTIME_ERRORS, one_line, members(one_line))
    assert found == b'def test_closes(): None.strip(); close()\n'


def test_no_new_covered_logic_copies_the_body_of_a_test_with_equal_parameters() -> None:
    texts = list(insert_defects(Defect.NO_NEW_COVERED_LOGIC, SOURCE, members(SOURCE)))
    assert [(text.count(b'close()'), text.count(b'pytest.raises(')) for text in texts] == [
        (2, 2),
        (2, 0),
    ]


def test_no_defect_is_inserted_in_a_test_without_a_place_for_it() -> None:
    closes = members(SOURCE)[1:2]
    kinds = (Defect.MISSED_ASSERTS, Defect.INVALID_CONSTRUCTOR, Defect.NO_NEW_COVERED_LOGIC)
    for kind in (*kinds, Defect.UNDEFINED_ENTITY, Defect.DUPLICATE_ENTITY):
        assert list(insert_defects(kind, SOURCE, closes)) == []
