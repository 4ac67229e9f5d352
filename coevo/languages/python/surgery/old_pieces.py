"""What reverted tests bring from the files in which they stood at old."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from coevo.languages.python.reading.tests import is_fixture
from coevo.languages.python.surgery.layout import indented
from coevo.languages.python.surgery.layout import long_strings
from coevo.languages.python.surgery.pieces import PythonOutline
from coevo.languages.python.surgery.pieces import PythonPiece
from coevo.languages.python.surgery.pieces import inside
from coevo.languages.python.surgery.pieces import outline
from coevo.languages.python.surgery.pieces import with_outer
from coevo.languages.python.surgery.pieces import within_module
from coevo.languages.surgery import Original
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.text_edits import indentation
from coevo.model.records import TestMethod

# What no name has to be brought for; only a wildcard could explain the others.
_EVERYWHERE = frozenset(dir(builtins)) | {'self', 'cls', '__file__', '__name__'}

Slot = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonBrought:
    """What old files give: texts in the place of new pieces, pieces to be added, names needed."""

    instead: Mapping[PythonPiece, bytes]
    additions: tuple[tuple[OldPythonFile, PythonPiece], ...]
    mentions: frozenset[str]


def bring(
    new: PythonOutline,
    left: Sequence[PythonPiece],
    replaceable: Sequence[PythonPiece],
    reverted: Mapping[PythonPiece, Original],
    inserted: Sequence[Original] = (),
) -> PythonBrought:
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
        own = {piece: one for piece, one in reverted.items() if one.source == source}
        more = [one.method for one in inserted if one.source == source]
        file = OldPythonFile(new, left, outline(source), own, more)
        instead |= {at: file.text_at(was, at) for at, was in file.targets.items()}
        places = {slot: piece for piece in replaceable for slot in piece.slots}
        for piece in file.needed():
            counterpart = next((places[s] for s in file.slots(piece) if s in places), None)
            if counterpart is None or not _is_alike(counterpart, piece):
                additions.append((file, piece))
            elif counterpart not in instead:
                instead[counterpart] = file.text_at(piece, counterpart)
        mentions |= file.mentions
    return PythonBrought(instead=instead, additions=tuple(additions), mentions=frozenset(mentions))


def _is_alike(new: PythonPiece, old: PythonPiece) -> bool:
    """Whether one can stand in the other's place: a name among others that are imported cannot."""
    return new.kind != 'import' and old.kind != 'import'


class OldPythonFile:
    """A file at old, seen from the new file that some of its tests are put into."""

    def __init__(
        self,
        new: PythonOutline,
        left: Sequence[PythonPiece],
        old: PythonOutline,
        reverted: Mapping[PythonPiece, Original],
        inserted: Sequence[TestMethod],
    ) -> None:
        self.new = new
        self.old = old
        self._renamed: dict[str, str] = {'': ''}
        for piece, original in reverted.items():
            self._rename(within_module(original.method.test_class), piece.owner)
        for method in inserted:
            for name in with_outer(old, [within_module(method.test_class)]):
                if name in new.types:
                    self._renamed.setdefault(name, name)
        self._known = {slot for piece in left for slot in piece.slots}
        imports = [p.imported for p in left if p.imported and p.imported.is_package]
        self._loaded = {one.name: one.bound for one in imports}
        self._wildcards = {p.imported.qualified for p in left if p.imported and p.names == ('*',)}
        self.pieces = old.pieces(self._renamed.keys())
        self.targets = {piece: self._find(original.method) for piece, original in reverted.items()}
        self.inserted = [self._find_or_class(method) for method in inserted]
        self.mentions = frozenset[str]()

    def _rename(self, old: str, new: str) -> None:
        while old and new:
            self._renamed[old] = new
            old, new = self.old.types[old].outer, self.new.types[new].outer

    def _find(self, method: TestMethod) -> PythonPiece:
        member = self.old.find(method, 'old')
        span = (member.start_byte, member.end_byte)
        return next(piece for piece in self.pieces if piece.statement == span)

    def _find_or_class(self, method: TestMethod) -> PythonPiece:
        """The method, or the whole class around it that the new file lacks."""
        wanted = within_module(method.test_class)
        for piece in self.pieces:
            if piece.kind == 'type' and wanted in inside(self.old, piece):
                return piece
        return self._find(method)

    def owner(self, piece: PythonPiece) -> str:
        """The type at new in which a piece stands, or would stand."""
        return self._renamed.get(piece.owner, piece.owner)

    def slots(self, piece: PythonPiece) -> list[Slot]:
        return [(self.owner(piece), name) for name in piece.names]

    def text_at(self, piece: PythonPiece, at: PythonPiece) -> bytes:
        """A piece as it is written in the place of one at new."""
        return self.text(piece, indentation(self.new.source, at.start))

    def text(self, piece: PythonPiece, margin: bytes) -> bytes:
        """A piece as it is written behind some white space; an import alone on its line."""
        if piece.kind == 'import':
            return import_line(piece)
        return indented(
            self.old.text(piece),
            indentation(self.old.source, piece.start),
            margin,
            piece.start,
            long_strings(self.old.root),
        )

    def needed(self) -> list[PythonPiece]:
        """The pieces that the targets need and the new file lacks, in their order.

        With classes come those below them: tests of a mixin run there alone.
        """
        brought = {*self.targets.values(), *self.inserted}
        above = {name for piece in self.inserted if piece.kind == 'type' for name in piece.names}
        free = [piece for piece in self.pieces if piece not in brought and self._may_come(piece)]
        while True:
            self.mentions = frozenset().union(*(piece.mentions for piece in brought))
            left = [piece for piece in free if piece not in brought]
            heirs = [piece for piece in left if not above.isdisjoint(self._parents(piece))]
            above.update(name for piece in heirs for name in piece.names)
            more = {*heirs, *(piece for piece in left if self._is_needed(piece))}
            if not more:
                break
            brought.update(more)
        brought.update(self._needed_wildcards(brought))
        found = [p for p in self.pieces if p in brought and p not in self.targets.values()]
        return list(_once(found))

    def _parents(self, piece: PythonPiece) -> set[str]:
        """What a whole class derives from, by simple names."""
        if piece.kind != 'type':
            return set()
        type_ = self.old.types[inside(self.old, piece)[0]]
        return {*type_.interfaces, *filter(None, (type_.superclass,))}

    def _may_come(self, piece: PythonPiece) -> bool:
        return (
            piece.names != ('*',)
            and piece.kind != 'initializer'
            and piece.owner in self._renamed
            and (self._known.isdisjoint(self.slots(piece)) or self._is_more_of_a_package(piece))
        )

    def _is_more_of_a_package(self, piece: PythonPiece) -> bool:
        """Whether it loads a module of a package that the new file knows, and has not loaded itself."""
        one = piece.imported
        if one is None or not one.is_package or one.name == one.bound:
            return False
        return one.name not in self._loaded and one.bound in self._loaded.values()

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

    def _needed_wildcards(self, brought: AbstractSet[PythonPiece]) -> Iterator[PythonPiece]:
        """The wildcards that new lacks, if a name is left that nothing explains."""
        explained = _EVERYWHERE | {name for _, name in self._known}
        explained |= {name for piece in brought for name in piece.names}
        if all(name.startswith('.') or name in explained for name in self.mentions):
            return
        for piece in self.pieces:
            one = piece.imported
            if one is not None and one.name == '*' and one.qualified not in self._wildcards:
                yield piece


def _once(pieces: Sequence[PythonPiece]) -> Iterator[PythonPiece]:
    """Without imports that stand there already."""
    lines: set[bytes] = set()
    for piece in pieces:
        line = import_line(piece) if piece.kind == 'import' else b''
        if line not in lines:
            yield piece
        lines |= {line} - {b''}


def import_line(piece: PythonPiece) -> bytes:
    one = piece.imported
    if one is None:
        raise StartStateInvalid('an import without a name')
    renamed = one.bound not in (one.name, one.name.partition('.')[0] if not one.module else '*')
    name = f'{one.name} as {one.bound}' if renamed else one.name
    return (f'from {one.module} import {name}' if one.module else f'import {name}').encode()
