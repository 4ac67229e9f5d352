"""Edits of no effect in Python: another text and other code, the same program."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from coevo.languages.measures import LocatedDeclaration, PlaceboKind
from coevo.languages.python.reading import parse
from coevo.languages.python.surgery.placebos import choose_insertion

SOURCE = b'''\
"""What a till does."""

from __future__ import annotations

RATE = 3; LEAST = 1


class Till:
    """Of a shop."""

    sums: list[int] = []

    def __init__(self, rate=RATE): self.rate = rate

    @property
    def all(self):
        """All of it."""
        if not self.sums: return 0
        return sum(self.sums) * self.rate

    async def later(self):
        match self.rate:
            case 1:
                pass
            case _:
                yield (
                    self.all
                )


class Drawer(Till):
    """Of nothing."""


def silent():
    """Says nothing."""
'''
FILE = parse(SOURCE, 'till.py')
DECLARED = {
    one.declaration if one else type_.name: (type_, one)
    for type_ in FILE.types
    for one in (None, *type_.members)
}


def made(name: str, kind: PlaceboKind, seed: int) -> bytes:
    type_, member = DECLARED[name]
    where = LocatedDeclaration(path='till.py', source=SOURCE, file=FILE, type=type_, member=member)
    at, text = choose_insertion(where, kind, Random(seed))
    return SOURCE[:at] + text + SOURCE[at:]


def documentation(source: bytes) -> list[str | None]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [ast.get_docstring(one) for one in ast.walk(ast.parse(source)) if isinstance(one, kinds)]


@pytest.mark.parametrize('name', DECLARED)
def test_placebos_compile_and_keep_the_docstrings(name: str) -> None:
    for seed in range(40):
        for kind in PlaceboKind:
            text = made(name, kind, seed)
            compile(text, 'till.py', 'exec', dont_inherit=True)
            assert documentation(text) == documentation(SOURCE)
            is_moved = text.count(b'\n') > SOURCE.count(b'\n')
            assert is_moved == (kind is PlaceboKind.MOVED)


def test_placebos_differ_and_change_the_code_of_one_function_only(
    tmp_path: Path,
) -> None:
    texts = {made('def all(self)', PlaceboKind.IN_PLACE, seed) for seed in range(20)}
    assert len(texts) == 20
    for text in texts:
        before, after = _run(tmp_path, SOURCE), _run(tmp_path, text)
        functions = ('all', '__init__')
        found = [_code(before, name) == _code(after, name) for name in functions]
        assert found == [False, True]
        till = after['Till'](2)
        till.sums = [3]
        assert till.all == 6


def _run(folder: Path, source: bytes) -> dict[str, Any]:
    (folder / 'till.py').write_bytes(source)
    return runpy.run_path(str(folder / 'till.py'))


def _code(names: dict[str, Any], name: str) -> object:
    one = vars(names['Till'])[name]
    return getattr(one, 'fget', one).__code__.co_code


def test_placebo_is_a_comment_where_no_statement_can_be_inserted() -> None:
    for name in ('till$Drawer', 'def silent()'):
        text = made(name, PlaceboKind.IN_PLACE, 1)
        assert b'  # ' in text
        assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(SOURCE))
