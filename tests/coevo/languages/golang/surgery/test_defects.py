"""Defects in tests of Go: the text that each kind makes, and that a file without a place for it has none."""

from __future__ import annotations

import pytest

from coevo.languages.declarations import Member
from coevo.languages.golang.reading.syntax import parse
from coevo.languages.golang.surgery.defects import insert_defects
from coevo.model.families import Defect

SOURCE = b"""\
package shop

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPays(t *testing.T) {
	till := NewTill(2)
	total, err := till.Price(3)
	assert.NoError(t, err)
	if total != 6 {
		t.Errorf("%d", total)
	}
}

func TestName(t *testing.T) {
	name := strings.ToUpper("till")
	assert.Equal(t, "TILL", name)
}
"""


def members(source: bytes) -> list[Member]:
    found = [member for type_ in parse(source).types for member in type_.members]
    return [one for one in found if one.name.startswith('Test')]


def changed(kind: Defect) -> tuple[list[str], list[str]]:
    """The lines that the first defect of a kind takes out of the file, and puts into it."""
    text = next(insert_defects(kind, SOURCE, members(SOURCE))).decode()
    old, new = SOURCE.decode().splitlines(), text.splitlines()
    gone = [line.strip() for line in old if line not in new]
    return gone, [line.strip() for line in new if line not in old]


@pytest.mark.parametrize(
    ('kind', 'gone', 'put'),
    [
        (Defect.UNDEFINED_ENTITY, 'NewTill(2)', 'NewTillUndefined(2)'),
        (Defect.INVALID_CALL, 'Price(3)', 'Price(3, nil)'),
        (Defect.INVALID_CONSTRUCTOR, 'NewTill(2)', 'NewTill(2, nil)'),
        (Defect.RUNTIME_ERRORS, '{', '{ _ = []int{}[0];'),
    ],
)
def test_defect_changes_exactly_one_line(kind: Defect, gone: str, put: str) -> None:
    (before,), (after,) = changed(kind)
    assert before.replace(gone, put) == after != before


def test_removed_assertions_leave_their_operands_and_used_imports() -> None:
    first, second = insert_defects(Defect.MISSED_ASSERTS, SOURCE, members(SOURCE))
    assert b'\t_ = err\n\tif total != 6 {\n\t}\n' in first
    assert b'\t_ = name\n' in second
    assert b'testify' in first
    only = SOURCE.replace(b'\tassert.NoError(t, err)\n', b'\t_ = err\n')
    _, without = insert_defects(Defect.MISSED_ASSERTS, only, members(only))
    assert b'testify' not in without
    assert b'"strings"' in without


def test_assertion_within_another_one_stays_in_its_operand() -> None:
    source = b"""\
package shop

func TestPays(t *testing.T) {
	require.NotPanics(t, func() { assert.NoError(t, pay()) })
	close()
}
"""
    (text,) = insert_defects(Defect.MISSED_ASSERTS, source, members(source))
    assert b'\t_ = func() { assert.NoError(t, pay()) }\n\tclose()\n}\n' in text


def test_missed_dependency_removes_one_import() -> None:
    texts = [*insert_defects(Defect.MISSED_DEPENDENCIES, SOURCE, members(SOURCE))]
    assert [text.count(b'"') - SOURCE.count(b'"') for text in texts] == [-2, -2, -2]
    single = b'package shop\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n'
    (text,) = insert_defects(Defect.MISSED_DEPENDENCIES, single, members(single))
    assert b'import' not in text


def test_copied_body_drops_imports_that_only_the_replaced_body_used() -> None:
    first, second = insert_defects(Defect.NO_NEW_COVERED_LOGIC, SOURCE, members(SOURCE))
    assert (first.count(b'ToUpper'), first.count(b'Price')) == (2, 0)
    assert (second.count(b'ToUpper'), second.count(b'Price')) == (0, 2)
    assert b'"strings"' not in second


def test_duplicate_entity_declares_a_test_twice() -> None:
    text = next(insert_defects(Defect.DUPLICATE_ENTITY, SOURCE, members(SOURCE)))
    assert text.count(b'func TestPays(') == 2


def test_syntax_error_removes_the_last_token_of_a_test() -> None:
    _, text = insert_defects(Defect.SYNTAX_ERROR, SOURCE, members(SOURCE))
    assert b'assert.Equal(t, "TILL", name\n' in text


@pytest.mark.parametrize('kind', [*Defect])
def test_an_empty_test_offers_a_place_for_few_kinds(kind: Defect) -> None:
    source = b'package shop\n\nfunc TestNothing(t T) {}\n'
    texts = [*insert_defects(kind, source, members(source))]
    assert len(texts) == (kind in {Defect.RUNTIME_ERRORS, Defect.DUPLICATE_ENTITY})
