"""Old bodies behind new signatures, and plain values, in Go."""

from __future__ import annotations

import pytest

from coevo.languages.golang.reading import parse
from coevo.languages.golang.surgery import undo
from tests.languages.located import located

PATH = 'till.go'
NEW = """\
package shop

import (
	"io"
	"math"
	"os"
)

const Max = 5

var (
	rate  = 2.0
	names = map[string]int{"a": 1}
	made  = New("")
)

type Till struct{ sum int }

func (tt *Till) Price(n int, x float64) (float64, error) { return math.Floor(x), nil }
func (t Till) Close()                                    {}
func New(a string, bs ...int) *Till                      { return &Till{} }
func Open(s string) (ok bool)                            { ok = os.DevNull == s; return }
func Same[T any](v T) T                                  { return v }
func Split(v []int) ([]int, io.Reader)                   { return v, nil }
func Chain(n string) string                              { return n + os.DevNull }
"""
OLD = """\
package shop

import "sort"

var rate = 1.0

type Till struct{ sum int }

func (t *Till) Price(m int) float64 { sort.Ints(nil); return float64(m + t.sum) }
func Chain(m string) string         { sort.Ints(nil); return m }
func Open(s string, day int) bool   { return day > 1 }
"""


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('Till.Price', ['{ return 0, nil }', '{ return x, nil }', '{ return 1, nil }']),
        ('Till.Close', ['{ }']),
        ('New', ['{ return new(Till) }']),
        ('Open', ['{ return false }', '{ return true }']),
        ('Same', ['{ return *new(T) }', '{ return v }']),
        ('Split', ['{ return []int{}, *new(io.Reader) }', '{ return v, *new(io.Reader) }']),
        ('Chain', ['{ return "" }', '{ return n }', '{ return "?" }']),
        ('Max', ['= 0', '= 1']),
        ('rate', ['= 0.0', '= 1.0']),
        ('names', ['= map[string]int{}']),
        ('made', []),
    ],
)
def test_plain_values_are_of_the_types_that_are_returned(name: str, expected: list[str]) -> None:
    versions = undo.list_versions_with_plain_values(located('go', PATH, NEW, name))

    assert [version.written.strip() for version in versions] == expected
    assert not any(parse(version.source).has_error for version in versions)


def test_plain_body_leaves_no_unused_import() -> None:
    first = undo.list_versions_with_plain_values(located('go', PATH, NEW, 'Till.Price'))[0]

    assert b'"math"' not in first.source
    assert b'"os"' in first.source


def test_old_body_stands_behind_the_new_signature_with_its_imports() -> None:
    made = undo.restore_body_under_new_signature(
        *(located('go', PATH, text, 'Till.Price') for text in (OLD, NEW))
    )

    assert made is not None
    assert b'"sort"' in made
    assert b'"math"' not in made
    assert (
        b'func (tt *Till) Price(n int, x float64) (float64, error) '
        b'{ t := tt; _ = t; m := n; _ = m; sort.Ints(nil)'
    ) in made


def test_old_body_whose_parameter_is_gone_is_left_out() -> None:
    old, new = (located('go', PATH, text, 'Open') for text in (OLD, NEW))
    assert undo.restore_body_under_new_signature(old, new) is None


def test_variable_gets_its_old_value() -> None:
    made = undo.restore_body_under_new_signature(
        *(located('go', PATH, text, 'rate') for text in (OLD, NEW))
    )
    assert made == NEW.replace('2.0', '1.0').encode()
