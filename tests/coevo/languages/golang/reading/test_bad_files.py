"""Files that are no Go, or hardly: all that is asked of them has an answer."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from coevo.languages.golang import reading, surgery
from coevo.languages.golang.assertions import find_oracle_lines, list_assertions
from coevo.languages.surgery import Graft, StartStateInvalid, StartTarget
from coevo.model.records import TestMethod

WHOLE = b"""//go:build linux

// Package a is.
package a_test

import (
	"testing"
	. "a.b/c"
)

const (
	one = iota
	two
)

type T[K any] struct {
	*other
	K K `json:"k"`
}

func (t *T[K]) Run(f func(int) error) (n int, err error) { return }

func TestA(t *testing.T) {
	for i, c := range []struct{ n string }{{"a"}, {`b`}} {
		if got := Run(c.n); got != i {
			t.Errorf("%d", got)
		}
	}
}

func ExampleT() {
	/* Output: a */
}
"""
STRANGE = [
    b'',
    b'\x00',
    b'\xef\xbb\xbfpackage a\nfunc TestA(t *testing.T) {}\n',
    b'package',
    b'package a;func TestA(t *testing.T) {};var x = 1',
    b'func TestA(t *testing.T) {}\npackage a\n',
    b'package a\n' + b'func f() {' * 3000,
    b'package a\nvar x = ' + b'(' * 5000 + b'1' + b')' * 5000,
    b'package a\nconst x = ' + b'(' * 5000 + b'1' + b')' * 5000,
    b'package a\ntype T = ' + b'*' * 5000 + b'S\nfunc (t ' + b'*' * 5000 + b'T) f() {}\n',
    b'package a\nimport ()\nvar ()\nconst ()\ntype ()\nfunc () f() {}\n',
    b'package a\nfunc (T) TestA(t *testing.T) {}\nfunc (*) f() {}\n',
    b'package a\nimport "\n',
    'package ä\nfunc TestÄ(t *testing.T) { "€" }\n'.encode(),
    '\ufeffpackage a\n'.encode('utf-16'),
]


def garbled(number: int) -> bytes:
    seed = random.Random(number)
    text = bytearray(WHOLE)
    for _ in range(seed.randint(1, 6)):
        at, length = seed.randrange(len(text)), seed.randint(0, 20)
        piece = seed.choice((b'', b'{', b'}', b'(', b'`', b'"', b'/*', b'\n', b'\xff', b'func '))
        text[at : at + length] = piece
    return bytes(text)


@pytest.mark.sampled(25)
@pytest.mark.parametrize('text', [*STRANGE, *(garbled(number) for number in range(60))])
def test_malformed_go_file_can_be_parsed_and_cut(text: bytes) -> None:
    file = reading.parse_uncached(text)
    assert file == reading.parse_uncached(text)
    for type_ in file.types:
        for member in type_.members:
            assert (
                text[member.start_byte : member.end_byte]
                == member.source.encode(errors='surrogateescape')
                or '\ufffd' in member.source
            )
            assert member.full_start_byte <= member.start_byte <= member.end_byte <= len(text)
            assert reading.list_words(member.source) is not None
            assert list_assertions(member.source) is not None
    lines = text.count(b'\n') + 1
    assert all(1 <= line <= lines for line in find_oracle_lines(text))
    with suppress(StartStateInvalid):
        tests = surgery.list_other_tests(text, [])
        for member in tests:
            method = TestMethod(
                module='.', test_file='a_test.go', test_class='a', test_method=member.name
            )
            surgery.make_start_file(text, WHOLE, [StartTarget(method=method)])
            surgery.transplant_tests_into_old(WHOLE, text, [Graft(new=method)])
