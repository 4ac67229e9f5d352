"""One declaration of Go undone, as text."""

from __future__ import annotations

import pytest

from coevo.languages.golang.reading import parse
from coevo.languages.golang.surgery import undo
from coevo.languages.measures import LocatedDeclaration
from coevo.model.dependencies import Revised
from tests.languages import located

PATH = 'shop/till.go'
OLD = """\
package shop

import (
	"math"
	"os"
)

var rate = 1

const (
	small = iota
	large
)

type Till struct {
	sum int
}

func (t *Till) Price() float64 { return math.Floor(2) }

func (t *Till) gone() string { return os.DevNull }

func kept() int { return 2 }
"""
NEW = """\
package shop

import "os"

var (
	rate = 2
	name = os.DevNull
)

const (
	small = iota
	middle
	large
)

type Till struct {
	sum, tax int
}

func (t *Till) Price() float64 { return 5 }

func kept() int { return 2 }

// Since then.
func added() int { return 4 }

type Coin int

func (c Coin) Value() int { return int(c) }
"""


def at(text: str, name: str) -> LocatedDeclaration:
    return located.located('go', PATH, text, name)


def whole(made: bytes | None) -> str:
    assert made is not None
    assert not parse(made).has_error, made.decode()
    return made.decode()


def undone(revised: Revised, name: str, old: str = OLD, new: str = NEW) -> str:
    if revised is Revised.INSERTED:
        return whole(undo.undo_member(revised, None, at(new, name)))
    if revised is Revised.REMOVED:
        known = at(old, name)
        return whole(undo.undo_member(revised, known, located.around(known, PATH, new)))
    return whole(undo.undo_member(revised, at(old, name), at(new, name)))


def test_undone_change_restores_the_old_text_and_its_imports() -> None:
    text = undone(Revised.MODIFIED, 'Till.Price')

    assert text == NEW.replace('{ return 5 }', '{ return math.Floor(2) }').replace(
        'import "os"', 'import "os"\nimport "math"'
    )


def test_undone_change_removes_an_import_that_becomes_unused() -> None:
    text = undone(Revised.MODIFIED, 'Till.Price', new=NEW.replace('os.DevNull', '""'), old=NEW)

    assert 'import' not in text
    assert '"os"' not in undone(Revised.INSERTED, 'name')


def test_undone_variable_regains_its_single_or_grouped_declaration() -> None:
    text = undone(Revised.MODIFIED, 'rate')

    assert text.endswith('\nvar rate = 1\n')
    assert 'rate = 2' not in text
    back = undone(Revised.MODIFIED, 'rate', old=NEW, new=OLD)
    assert 'var rate = 1' not in back
    assert 'var (\n\trate = 2\n)' in back


def test_iota_constants_are_undone_as_one_group() -> None:
    assert undone(Revised.MODIFIED, 'large') == NEW.replace('\tmiddle\n', '')


def test_undone_insertion_removes_the_declaration_and_its_comment() -> None:
    text = undone(Revised.INSERTED, 'added')

    assert text == NEW.replace('// Since then.\nfunc added() int { return 4 }\n\n', '')
    assert 'Value' not in undone(Revised.INSERTED, 'Coin.Value')


def test_undone_removal_puts_the_declaration_at_the_end() -> None:
    text = undone(Revised.REMOVED, 'Till.gone')

    assert text == NEW + '\nfunc (t *Till) gone() string { return os.DevNull }\n'
    text = undone(Revised.REMOVED, 'name', old=NEW, new=OLD)
    assert text.endswith('\nvar (\n\tname = os.DevNull\n)\n')


def test_undone_type_header_gets_its_old_text_and_keeps_its_methods() -> None:
    text = whole(undo.undo_header(at(OLD, 'Till'), at(NEW, 'Till')))

    assert text == NEW.replace('sum, tax int', 'sum int')
    assert undo.undo_header(at(OLD, 'Till'), at(OLD, 'Till')) is None
    assert undo.undo_header(at(OLD, 'shop'), at(NEW, 'shop')) is None


def test_type_is_removed_with_its_methods_and_can_be_put_back() -> None:
    text = whole(undo.remove_type_declaration(at(NEW, 'Coin')))

    assert 'Coin' not in text
    again = whole(undo.put_back_type(at(NEW, 'Coin'), text.encode()))
    assert again.count('Coin') == NEW.count('Coin')
    assert undo.remove_type_declaration(at(NEW, 'shop')) is None


@pytest.mark.parametrize('name', ['Price', 'rate'])
def test_undone_change_uses_the_line_ends_of_the_new_file(name: str) -> None:
    place = f'Till.{name}' if name == 'Price' else name
    text = undone(Revised.MODIFIED, place, new=NEW.replace('\n', '\r\n'))
    assert text.count('\r\n') == text.count('\n')
