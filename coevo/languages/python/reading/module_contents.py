"""The names that a Python module has, as its own text tells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from coevo.languages.python.reading.places import make_absolute, module_name
from coevo.languages.python.reading.syntax import parse


@dataclass(frozen=True, slots=True)
class ModuleImport:
    """What a file imports: the text in full, the name that it gets, '*' for all."""

    text: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleContents:
    """The names that a module has: its own, and what it imports, in its order.

    shown  what `*` takes from it
    """

    classes: frozenset[str]
    functions: frozenset[str]
    shown: frozenset[str]
    imports: tuple[ModuleImport, ...]
    imported: frozenset[str]


@lru_cache(maxsize=2048)
def parse_module_contents(source: bytes, path: str) -> ModuleContents:
    """One object for all texts of a file that have the same names, as neighbours mostly do."""
    return _share_equal(_read_contents(source, path))


@lru_cache(maxsize=2048)
def _share_equal(contents: ModuleContents) -> ModuleContents:
    return contents


def _read_contents(source: bytes, path: str) -> ModuleContents:
    file, module, is_package = parse(source, path), module_name(path), _is_package(path)
    own = next((t for t in file.types if t.kind == 'module'), None)
    members = () if own is None else own.members
    first = (m.name for t in file.types[:1] for m in t.members)
    return ModuleContents(
        classes=frozenset(t.simple for t in file.types if len(t.around) == 1),
        functions=frozenset(m.name for m in members if m.kind == 'method'),
        shown=frozenset((*first, *(t.simple for t in file.types))),
        imports=tuple(
            ModuleImport(
                make_absolute(statement.text, module, is_package=is_package), statement.name
            )
            for statement in file.imports
        ),
        imported=frozenset(statement.name for statement in file.imports),
    )


def _is_package(path: str) -> bool:
    return path.rpartition('/')[2] == '__init__.py'
