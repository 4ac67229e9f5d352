"""One declaration of Go undone, as text."""

from __future__ import annotations

import pytest

from coevo.languages.golang.reading import parse
from coevo.languages.golang.surgery import undo
from coevo.languages.undoing import LocatedDeclaration
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
        return whole(undo.undone(revised, None, at(new, name)))
    if revised is Revised.REMOVED:
        known = at(old, name)
        return whole(undo.undone(revised, known, located.around(known, PATH, new)))
    return whole(undo.undone(revised, at(old, name), at(new, name)))


def test_what_was_changed_gets_its_old_text_and_the_file_its_imports() -> None:
    text = undone(Revised.MODIFIED, 'Till.Price')

    assert text == NEW.replace('{ return 5 }', '{ return math.Floor(2) }').replace(
        'import "os"', 'import "os"\nimport "math"'
    )


def test_an_import_that_nothing_uses_any_more_goes() -> None:
    text = undone(Revised.MODIFIED, 'Till.Price', new=NEW.replace('os.DevNull', '""'), old=NEW)

    assert 'import' not in text
    assert '"os"' not in undone(Revised.INSERTED, 'name')


def test_a_variable_that_stood_alone_does_so_again() -> None:
    text = undone(Revised.MODIFIED, 'rate')

    assert text.endswith('\nvar rate = 1\n')
    assert 'rate = 2' not in text
    back = undone(Revised.MODIFIED, 'rate', old=NEW, new=OLD)
    assert 'var rate = 1' not in back
    assert 'var (\n\trate = 2\n)' in back


def test_constants_that_are_counted_together_are_one() -> None:
    assert undone(Revised.MODIFIED, 'large') == NEW.replace('\tmiddle\n', '')


def test_what_was_inserted_goes_with_its_comment() -> None:
    text = undone(Revised.INSERTED, 'added')

    assert text == NEW.replace('// Since then.\nfunc added() int { return 4 }\n\n', '')
    assert 'Value' not in undone(Revised.INSERTED, 'Coin.Value')


def test_what_was_removed_stands_at_the_end() -> None:
    text = undone(Revised.REMOVED, 'Till.gone')

    assert text == NEW + '\nfunc (t *Till) gone() string { return os.DevNull }\n'
    text = undone(Revised.REMOVED, 'name', old=NEW, new=OLD)
    assert text.endswith('\nvar (\n\tname = os.DevNull\n)\n')


def test_a_type_gets_its_old_text_and_keeps_its_methods() -> None:
    text = whole(undo.header_undone(at(OLD, 'Till'), at(NEW, 'Till')))

    assert text == NEW.replace('sum, tax int', 'sum int')
    assert undo.header_undone(at(OLD, 'Till'), at(OLD, 'Till')) is None
    assert undo.header_undone(at(OLD, 'shop'), at(NEW, 'shop')) is None


def test_a_type_goes_with_its_methods_and_stands_again() -> None:
    text = whole(undo.type_removed(at(NEW, 'Coin')))

    assert 'Coin' not in text
    again = whole(undo.type_put_back(at(NEW, 'Coin'), text.encode()))
    assert again.count('Coin') == NEW.count('Coin')
    assert undo.type_removed(at(NEW, 'shop')) is None


@pytest.mark.parametrize('name', ['Price', 'rate'])
def test_line_ends_are_those_of_the_new_file(name: str) -> None:
    place = f'Till.{name}' if name == 'Price' else name
    text = undone(Revised.MODIFIED, place, new=NEW.replace('\n', '\r\n'))
    assert text.count('\r\n') == text.count('\n')
