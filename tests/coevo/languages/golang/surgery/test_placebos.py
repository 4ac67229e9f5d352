"""Edits of no effect in Go: another text and other code, the same program."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.golang.reading import parse
from coevo.languages.golang.surgery.placebos import choose_insertion
from coevo.languages.golang.toolchains import find_toolchains
from coevo.languages.measures import LocatedDeclaration, PlaceboKind
from coevo.languages.text_edits import TextEdits

SOURCE = b"""\
package till

import "errors"

const (
	Rate = 3 // of all
	Least = 1
)

// Till has coins.
type Till struct {
	coins []int
}

// Sum is of all coins.
func (t *Till) Sum() (sum int) {
	if t == nil { return 0 }
	defer func() { sum *= Rate }()
outer:
	for i := range t.coins {
		switch t.coins[i] {
		case 0:
			break outer
		case 1:
			fallthrough
		default:
			sum += t.coins[i]
		}
	}
	select {
	default:
	}
	return
}

func Silent() {}

func Fails() error { return errors.New("no") }
"""
FILE = parse(SOURCE, 'till.go')
DECLARED = [(type_, one) for type_ in FILE.types for one in (None, *type_.members)]


def drawn(kind: PlaceboKind, draw: Random) -> Iterator[tuple[int, bytes]]:
    for type_, member in DECLARED:
        yield choose_insertion(_located(type_, member), kind, draw)


def _located(type_: DeclaredType, member: Member | None) -> LocatedDeclaration:
    return LocatedDeclaration(path='till.go', source=SOURCE, file=FILE, type=type_, member=member)


def made(kind: PlaceboKind, seed: int) -> bytes:
    """All declarations written otherwise."""
    edits = TextEdits(SOURCE)
    for at, text in drawn(kind, Random(seed)):
        edits.insert(at, text)
    return edits.apply_edits()


def test_placebo_adds_a_statement_to_a_function_and_a_comment_elsewhere() -> None:
    for kind in PlaceboKind:
        for (_, member), (_, text) in zip(DECLARED, drawn(kind, Random(1)), strict=True):
            is_function = member is not None and member.kind == 'method'
            assert text.startswith(b'_ = map' if is_function else b'/* ')
            assert (b'\n' in text) == (kind is PlaceboKind.MOVED)


@pytest.mark.slow
@pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')
def test_every_drawn_placebo_compiles(tmp_path: Path) -> None:
    (tmp_path / 'go.mod').write_text('module example.com/till\n\ngo 1.21\n')
    for seed in range(20):
        for kind in PlaceboKind:
            file = tmp_path / f'{kind}{seed}/till.go'
            file.parent.mkdir()
            file.write_bytes(made(kind, seed))
    go = find_toolchains()[-1].program
    subprocess.run([go, 'build', './...'], cwd=tmp_path, check=True, timeout=300)
