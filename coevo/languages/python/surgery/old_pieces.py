"""What tests bring from another version of their Python file."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.core.old_files import BringingRules, OldFile
from coevo.languages.core.outlines import list_inner_types
from coevo.languages.core.reach import list_parents
from coevo.languages.python.reading.tests import is_fixture
from coevo.languages.python.surgery.layout import find_long_strings, reindent
from coevo.languages.python.surgery.pieces import (
    PythonOutline,
    PythonPiece,
    make_outline,
    strip_module_name,
)
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.text_edits import find_indentation
from coevo.model.records import TestMethod

# What no name has to be brought for; only a wildcard could explain the others.
_EVERYWHERE = frozenset(dir(builtins)) | {'self', 'cls', '__file__', '__name__'}

Slot = tuple[str, str]

OldPythonFile = OldFile[PythonOutline, PythonPiece]


class PythonNeeds:
    """Fulfils `coevo.languages.core.old_files.Needs`.

    With classes come those below them: tests of a mixin run there alone.
    """

    def __init__(self, file: OldPythonFile) -> None:
        self._file = file
        left = file.into.left
        self._known = {slot for piece in left for slot in list_slots(piece, piece.owner)}
        imports = [p.imported for p in left if p.imported and p.imported.is_package]
        self._loaded = {imported_name.name: imported_name.bound for imported_name in imports}
        self._wildcards = {p.imported.qualified for p in left if p.imported and p.names == ('*',)}
        self._above = {n for piece in file.inserted if piece.kind == 'type' for n in piece.names}

    def may_be_added(self, piece: PythonPiece) -> bool:
        return (
            piece.names != ('*',)
            and piece.kind != 'initializer'
            and piece.owner in self._file.renamed
            and (
                self._known.isdisjoint(self._file.list_slots(piece))
                or self._is_more_of_a_package(piece)
            )
        )

    def list_needed(
        self, free: Sequence[PythonPiece], brought: AbstractSet[PythonPiece]
    ) -> list[PythonPiece]:
        heirs = [piece for piece in free if not self._above.isdisjoint(self._list_parents(piece))]
        self._above.update(name for piece in heirs for name in piece.names)
        return [*heirs, *(piece for piece in free if self._is_needed(piece))]

    def _list_parents(self, piece: PythonPiece) -> set[str]:
        """What a whole class derives from, by simple names."""
        if piece.kind != 'type':
            return set()
        old = self._file.old
        type_ = old.types[list_inner_types(old, piece)[0]]
        return list_parents(type_)

    def _is_more_of_a_package(self, piece: PythonPiece) -> bool:
        """Whether it loads a module of a package that the new file knows, and has not loaded itself."""
        imported = piece.imported
        if imported is None or not imported.is_package or imported.name == imported.bound:
            return False
        return imported.name not in self._loaded and imported.bound in self._loaded.values()

    def _is_needed(self, piece: PythonPiece) -> bool:
        """Whether one is named, or sets up, as `setUp` does, what is."""
        mentions = self._file.mentions
        if not piece.owner:
            return not mentions.isdisjoint(piece.names)
        if not mentions.isdisjoint(f'.{name}' for name in piece.names):
            return True
        own = {name for name in piece.mentions if name.startswith('.')}
        if any(is_fixture(member) for member in piece.members):
            return not mentions.isdisjoint(own)
        return not mentions.isdisjoint(piece.names)  # a fixture by its name

    def list_wildcards(self, brought: AbstractSet[PythonPiece]) -> Iterator[PythonPiece]:
        """The wildcards that new lacks, if a name is left that nothing explains."""
        explained = _EVERYWHERE | {name for _, name in self._known}
        explained |= {name for piece in brought for name in piece.names}
        if all(name.startswith('.') or name in explained for name in self._file.mentions):
            return
        for piece in self._file.pieces:
            imported = piece.imported
            if (
                imported is not None
                and imported.name == '*'
                and imported.qualified not in self._wildcards
            ):
                yield piece


def list_slots(piece: PythonPiece, owner: str) -> list[Slot]:
    """Places in namespaces that a piece takes: a function, a class, a variable may take the same."""
    return [(owner, name) for name in piece.names]


def _find_test(file: OldPythonFile, method: TestMethod) -> PythonPiece:
    member = file.old.find_declaration(method, 'old')
    span = (member.start_byte, member.end_byte)
    return next(piece for piece in file.pieces if piece.statement == span)


def _can_replace(new: PythonPiece, old: PythonPiece) -> bool:
    """Whether one can stand in the other's place: a name among others that are imported cannot."""
    return new.kind != 'import' and old.kind != 'import'


def render(file: OldPythonFile, piece: PythonPiece, margin: bytes) -> bytes:
    """A piece as it is written behind some white space; an import alone on its line."""
    if piece.kind == 'import':
        return format_import_line(piece)
    return reindent(
        file.old.get_text(piece),
        find_indentation(file.old.source, piece.start),
        margin,
        piece.start,
        find_long_strings(file.old.root),
    )


def _drop_repeated_imports(pieces: Sequence[PythonPiece]) -> Iterator[PythonPiece]:
    """Without imports that stand there already."""
    lines: set[bytes] = set()
    for piece in pieces:
        line = format_import_line(piece) if piece.kind == 'import' else b''
        if line not in lines:
            yield piece
        lines |= {line} - {b''}


def format_import_line(piece: PythonPiece) -> bytes:
    imported = piece.imported
    if imported is None:
        raise StartStateInvalid('an import without a name')
    renamed = imported.bound not in (
        imported.name,
        imported.name.partition('.')[0] if not imported.module else '*',
    )
    name = f'{imported.name} as {imported.bound}' if renamed else imported.name
    return (
        f'from {imported.module} import {name}' if imported.module else f'import {name}'
    ).encode()


BRINGING: BringingRules[PythonOutline, PythonPiece] = BringingRules(
    parse=make_outline,
    get_type_name=strip_module_name,
    list_opened=lambda file: file.renamed.keys(),
    find_test=_find_test,
    make_needs=PythonNeeds,
    translate_owner=lambda file, piece: file.renamed.get(piece.owner, piece.owner),
    list_slots=list_slots,
    can_replace=_can_replace,
    render=lambda file, piece, at: render(file, piece, find_indentation(file.new.source, at.start)),
    drop_repeated=_drop_repeated_imports,
)
