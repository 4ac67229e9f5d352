"""A Go repository with a change of each kind, one after the other."""

from __future__ import annotations

from tests.coevo.languages.golang.place import GO_MOD

LICENCE = 'Licensed under the Apache License, Version 2.0\n'


def till(price: int, more: str = '') -> dict[str, str]:
    return {
        'till.go': f'package shop\n\n// Price is that of one.\nfunc Price() int {{\n\treturn {price}\n}}\n{more}'
    }


def suite(*bodies: str) -> dict[str, str]:
    parts = [
        f'\nfunc Test{name}(t *testing.T) {{\n\t{body}\n}}\n' for name, body in map(_split, bodies)
    ]
    return {'till_test.go': f'package shop\n\nimport "testing"\n{"".join(parts)}'}


def _split(text: str) -> tuple[str, str]:
    name, _, body = text.partition(': ')
    return name, body


def selling(price: int) -> str:
    return f'Sells: if Price() != {price} {{\n\t\tt.Fatal(Price())\n\t}}'


TWICE = '\n// Twice is the price of two.\nfunc Twice() int {\n\treturn 2 * Price()\n}\n'
BUYING = 'BuysTwo: if Twice() != 4 {\n\t\tt.Fatal(Twice())\n\t}'
COUNTS = 'Counts: if Price() == 0 {\n\t\tt.Fatal("nothing")\n\t}'
WRONG = 'Sums: if Price()+1 != 4 {\n\t\tt.Fatal("no")\n\t}'
RIGHT = 'Sums: if Price()+1 != 3 {\n\t\tt.Fatal("no")\n\t}'

STEPS = (
    {**GO_MOD, 'LICENSE': LICENCE, **till(1), **suite(COUNTS, selling(1))},
    {**till(2), **suite(COUNTS, selling(2))},  # an update
    {**till(2, TWICE), **suite(COUNTS, selling(2), BUYING)},  # a new test
    suite(COUNTS, selling(2), BUYING, WRONG),
    suite(COUNTS, selling(2), BUYING, RIGHT),  # a repair
)
