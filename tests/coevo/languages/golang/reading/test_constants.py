"""Constants that count or repeat: each is what its line says, whatever stands above it."""

from __future__ import annotations

import pytest

from coevo.languages.golang.reading.syntax import parse


def hashes(*lines: str) -> dict[str, tuple[str, str]]:
    source = 'package a\n\nconst (\n' + ''.join(f'\t{line}\n' for line in lines) + ')\n'
    return {m.name: (m.hash, m.bare_hash) for m in parse(source.encode()).types[0].members}


def modified(before: tuple[str, ...], after: tuple[str, ...]) -> set[str]:
    old, new = hashes(*before), hashes(*after)
    return {name for name in old.keys() & new.keys() if old[name] != new[name]}


@pytest.mark.parametrize('place', [1, 2, 3])
def test_inserted_iota_line_modifies_no_other_constant(place: int) -> None:
    before = ('A Kind = iota', 'B', 'C')
    after = (*before[:place], 'New', *before[place:])
    assert modified(before, after) == set()
    assert 'New' in hashes(*after)


@pytest.mark.parametrize(
    ('before', 'after', 'expected'),
    [
        (('A = iota', 'B', 'C'), ('A = iota + 1', 'B', 'C'), {'A', 'B', 'C'}),
        (('A = 1', 'B', 'C = 2', 'D'), ('A = 1', 'B', 'C = 3', 'D'), {'C', 'D'}),
        (('A = iota', 'B'), ('B = iota', 'A'), {'A', 'B'}),
        (('A int = iota', 'B'), ('A Kind = iota', 'B'), {'A', 'B'}),
        (('A, B = iota, 2 * iota', 'C, D'), ('A, B = iota, 3 * iota', 'C, D'), {*'ABCD'}),
    ],
)
def test_changed_value_modifies_its_constant_and_those_that_repeat_it(
    before: tuple[str, ...], after: tuple[str, ...], expected: set[str]
) -> None:
    assert modified(before, after) == expected


def test_inserted_line_changes_the_header_of_the_package() -> None:
    one, other = (
        parse(f'package a\n\nconst (\n\tA = iota\n{more}\tB\n)\n'.encode())
        for more in ('', '\tX\n')
    )
    assert one.types[0].header_hash != other.types[0].header_hash
