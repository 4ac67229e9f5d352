"""What reverted tests bring from the files in which they stood at old."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from coevo.languages.python.reading.tests import is_fixture
from coevo.languages.python.surgery.layout import find_long_strings, reindent
from coevo.languages.python.surgery.pieces import (
    PythonOutline,
    PythonPiece,
    add_outer_types,
    list_inner_types,
    make_outline,
    strip_module_name,
)
from coevo.languages.surgery import OriginalTest, StartStateInvalid
from coevo.languages.text_edits import find_indentation
from coevo.model.records import TestMethod

# What no name has to be brought for; only a wildcard could explain the others.
_EVERYWHERE = frozenset(dir(builtins)) | {'self', 'cls', '__file__', '__name__'}

Slot = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonOldPieces:
    """What old files give: texts in the place of new pieces, pieces to be added, names needed."""

    instead: Mapping[PythonPiece, bytes]
    additions: tuple[tuple[OldPythonFile, PythonPiece], ...]
    mentions: frozenset[str]


def collect_old_pieces(
    new: PythonOutline,
    left: Sequence[PythonPiece],
    replaceable: Sequence[PythonPiece],
    reverted: Mapping[PythonPiece, OriginalTest],
    inserted: Sequence[OriginalTest] = (),
) -> PythonOldPieces:
    """What the reverted targets need of their old files.

    left         the pieces of the new file that stay whatever happens
    replaceable  those that only targets use: a piece of the same name takes their place
    reverted     the targets at new, each with what it is reverted to
    inserted     targets that the new file lacks; they come with what they need
    """
    instead: dict[PythonPiece, bytes] = {}
    additions: list[tuple[OldPythonFile, PythonPiece]] = []
    mentions: set[str] = set()
    for source in sorted({original.source for original in (*reverted.values(), *inserted)}):
        own = {piece: origin for piece, origin in reverted.items() if origin.source == source}
        more = [origin.method for origin in inserted if origin.source == source]
        file = OldPythonFile(new, left, make_outline(source), own, more)
        instead |= {at: file.render_at(was, at) for at, was in file.targets.items()}
        places = {slot: piece for piece in replaceable for slot in piece.slots}
        for piece in file.find_needed_pieces():
            counterpart = next((places[s] for s in file.get_slots(piece) if s in places), None)
            if counterpart is None or not _can_replace(counterpart, piece):
                additions.append((file, piece))
            elif counterpart not in instead:
                instead[counterpart] = file.render_at(piece, counterpart)
        mentions |= file.mentions
    return PythonOldPieces(
        instead=instead, additions=tuple(additions), mentions=frozenset(mentions)
    )


def _can_replace(new: PythonPiece, old: PythonPiece) -> bool:
    """Whether one can stand in the other's place: a name among others that are imported cannot."""
    return new.kind != 'import' and old.kind != 'import'


class OldPythonFile:
    """A file at old, seen from the new file that some of its tests are put into."""

    def __init__(
        self,
        new: PythonOutline,
        left: Sequence[PythonPiece],
        old: PythonOutline,
        reverted: Mapping[PythonPiece, OriginalTest],
        inserted: Sequence[TestMethod],
    ) -> None:
        self.new = new
        self.old = old
        self._renamed: dict[str, str] = {'': ''}
        for piece, original in reverted.items():
            self._map_type(strip_module_name(original.method.test_class), piece.owner)
        for method in inserted:
            for name in add_outer_types(old, [strip_module_name(method.test_class)]):
                if name in new.types:
                    self._renamed.setdefault(name, name)
        self._known = {slot for piece in left for slot in piece.slots}
        imports = [p.imported for p in left if p.imported and p.imported.is_package]
        self._loaded = {imported_name.name: imported_name.bound for imported_name in imports}
        self._wildcards = {p.imported.qualified for p in left if p.imported and p.names == ('*',)}
        self.pieces = old.list_pieces(self._renamed.keys())
        self.targets = {
            piece: self._find_piece(original.method) for piece, original in reverted.items()
        }
        self.inserted = [self._find_or_class(method) for method in inserted]
        self.mentions = frozenset[str]()

    def _map_type(self, old: str, new: str) -> None:
        while old and new:
            self._renamed[old] = new
            old, new = self.old.types[old].outer, self.new.types[new].outer

    def _find_piece(self, method: TestMethod) -> PythonPiece:
        member = self.old.find_method(method, 'old')
        span = (member.start_byte, member.end_byte)
        return next(piece for piece in self.pieces if piece.statement == span)

    def _find_or_class(self, method: TestMethod) -> PythonPiece:
        """The method, or the whole class around it that the new file lacks."""
        wanted = strip_module_name(method.test_class)
        for piece in self.pieces:
            if piece.kind == 'type' and wanted in list_inner_types(self.old, piece):
                return piece
        return self._find_piece(method)

    def get_new_owner(self, piece: PythonPiece) -> str:
        """The type at new in which a piece stands, or would stand."""
        return self._renamed.get(piece.owner, piece.owner)

    def get_slots(self, piece: PythonPiece) -> list[Slot]:
        return [(self.get_new_owner(piece), name) for name in piece.names]

    def render_at(self, piece: PythonPiece, at: PythonPiece) -> bytes:
        """A piece as it is written in the place of one at new."""
        return self.render(piece, find_indentation(self.new.source, at.start))

    def render(self, piece: PythonPiece, margin: bytes) -> bytes:
        """A piece as it is written behind some white space; an import alone on its line."""
        if piece.kind == 'import':
            return format_import_line(piece)
        return reindent(
            self.old.get_text(piece),
            find_indentation(self.old.source, piece.start),
            margin,
            piece.start,
            find_long_strings(self.old.root),
        )

    def find_needed_pieces(self) -> list[PythonPiece]:
        """The pieces that the targets need and the new file lacks, in their order.

        With classes come those below them: tests of a mixin run there alone.
        """
        brought = {*self.targets.values(), *self.inserted}
        above = {name for piece in self.inserted if piece.kind == 'type' for name in piece.names}
        free = [
            piece for piece in self.pieces if piece not in brought and self._may_be_added(piece)
        ]
        while True:
            self.mentions = frozenset().union(*(piece.mentions for piece in brought))
            left = [piece for piece in free if piece not in brought]
            heirs = [piece for piece in left if not above.isdisjoint(self._list_parents(piece))]
            above.update(name for piece in heirs for name in piece.names)
            more = {*heirs, *(piece for piece in left if self._is_needed(piece))}
            if not more:
                break
            brought.update(more)
        brought.update(self._find_needed_wildcards(brought))
        needed_pieces = [p for p in self.pieces if p in brought and p not in self.targets.values()]
        return list(_drop_repeated_imports(needed_pieces))

    def _list_parents(self, piece: PythonPiece) -> set[str]:
        """What a whole class derives from, by simple names."""
        if piece.kind != 'type':
            return set()
        type_ = self.old.types[list_inner_types(self.old, piece)[0]]
        return {*type_.interfaces, *filter(None, (type_.superclass,))}

    def _may_be_added(self, piece: PythonPiece) -> bool:
        return (
            piece.names != ('*',)
            and piece.kind != 'initializer'
            and piece.owner in self._renamed
            and (self._known.isdisjoint(self.get_slots(piece)) or self._is_more_of_a_package(piece))
        )

    def _is_more_of_a_package(self, piece: PythonPiece) -> bool:
        """Whether it loads a module of a package that the new file knows, and has not loaded itself."""
        imported = piece.imported
        if imported is None or not imported.is_package or imported.name == imported.bound:
            return False
        return imported.name not in self._loaded and imported.bound in self._loaded.values()

    def _is_needed(self, piece: PythonPiece) -> bool:
        """Whether one is named, or sets up, as `setUp` does, what is."""
        if not piece.owner:
            return not self.mentions.isdisjoint(piece.names)
        if not self.mentions.isdisjoint(f'.{name}' for name in piece.names):
            return True
        own = {name for name in piece.mentions if name.startswith('.')}
        if any(is_fixture(member) for member in piece.members):
            return not self.mentions.isdisjoint(own)
        return not self.mentions.isdisjoint(piece.names)  # a fixture by its name

    def _find_needed_wildcards(self, brought: AbstractSet[PythonPiece]) -> Iterator[PythonPiece]:
        """The wildcards that new lacks, if a name is left that nothing explains."""
        explained = _EVERYWHERE | {name for _, name in self._known}
        explained |= {name for piece in brought for name in piece.names}
        if all(name.startswith('.') or name in explained for name in self.mentions):
            return
        for piece in self.pieces:
            imported = piece.imported
            if (
                imported is not None
                and imported.name == '*'
                and imported.qualified not in self._wildcards
            ):
                yield piece


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
