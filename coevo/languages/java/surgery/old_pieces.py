"""What reverted test methods bring from the files in which they stood at old."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from coevo.languages.java.reading.tests import is_fixture
from coevo.languages.java.surgery.pieces import JavaOutline, JavaPiece, list_inner_types
from coevo.languages.surgery import OriginalTest, StartStateInvalid
from coevo.model.records import TestMethod

# Seen without any import; a wildcard is not brought for their sake.
_EVERYWHERE = frozenset(
    [
        'Object',
        'String',
        'Integer',
        'Long',
        'Double',
        'Boolean',
        'Character',
        'Exception',
        'RuntimeException',
        'Throwable',
        'Error',
        'IllegalArgumentException',
        'IllegalStateException',
        'NullPointerException',
        'Override',
        'System',
        'Math',
        'Class',
        'Thread',
        'Iterable',
        'StringBuilder',
        'SuppressWarnings',
        'Number',
    ]
)

Place = tuple[str, str, tuple[str, ...], tuple[str, ...]]
"""A piece's key in terms of the types at new."""


@lru_cache(maxsize=16)
def parse_outline(source: bytes) -> JavaOutline:
    return JavaOutline(source)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaOldContent:
    """What old files give: texts in the place of new pieces, pieces to be added, names needed."""

    instead: dict[JavaPiece, bytes]
    additions: tuple[tuple[OldJavaFile, JavaPiece], ...]
    mentions: frozenset[str]


def collect_old_content(
    new: JavaOutline,
    left: Sequence[JavaPiece],
    replaceable: Sequence[JavaPiece],
    reverted: Mapping[JavaPiece, OriginalTest],
    inserted: Sequence[OriginalTest] = (),
) -> JavaOldContent:
    """What the reverted targets need of their old files.

    left         the pieces of the new file that stay whatever happens
    replaceable  those that only targets use: a piece of the same key takes their place
    reverted     the targets at new, each with what it is reverted to
    inserted     targets that the new file lacks; they come with what they need
    """
    instead: dict[JavaPiece, bytes] = {}
    additions: list[tuple[OldJavaFile, JavaPiece]] = []
    mentions: set[str] = set()
    for source in sorted({original.source for original in (*reverted.values(), *inserted)}):
        own = {piece: origin for piece, origin in reverted.items() if origin.source == source}
        more = [origin.method for origin in inserted if origin.source == source]
        removed_spans = [piece.span for piece in (*replaceable, *reverted)]
        file = OldJavaFile(
            new, left, parse_outline(source), own, more, new.find_names_outside(removed_spans)
        )
        instead |= {piece: file.old.get_text(was) for piece, was in file.targets.items()}
        needed_pieces = file.find_needed_pieces()
        places = {file.get_slot(p): p for p in replaceable}
        for piece in needed_pieces:
            counterpart = places.get(file.get_slot_at_new(piece))
            if counterpart is not None and counterpart not in instead:
                instead[counterpart] = file.old.get_text(piece)
            elif counterpart is None:
                additions.append((file, piece))
        mentions |= file.mentions
    return JavaOldContent(instead=instead, additions=tuple(additions), mentions=frozenset(mentions))


class OldJavaFile:
    """A file at old, seen from the new file that some of its test methods are put into."""

    def __init__(
        self,
        new: JavaOutline,
        left: Sequence[JavaPiece],
        old: JavaOutline,
        reverted: Mapping[JavaPiece, OriginalTest],
        inserted: Sequence[TestMethod],
        explained: AbstractSet[str],
    ) -> None:
        self.new = new
        self._explained = explained
        self.left = left
        self.old = old
        self._renamed: dict[str, str] = {}
        for piece, original in reverted.items():
            self._map_name(original.method.test_class, piece.owner)
        for method in inserted:
            self._keep_type_names(method.test_class)
        standing = self._list_remaining_types()
        self.opened = {name for name in self.old.types if self.translate_name(name) in standing}
        self.pieces = self.old.list_pieces(self.opened)
        self.targets = {
            piece: self._find_piece(original.method) for piece, original in reverted.items()
        }
        self.inserted = [self._find_piece_or_type(method) for method in inserted]
        self.mentions = frozenset[str]()

    def _map_name(self, old: str, new: str) -> None:
        while old and new:
            self._renamed[old] = new
            old, new = self.old.find_outer(old), self.new.find_outer(new)

    def _keep_type_names(self, name: str) -> None:
        """The types around a method that is inserted, as far as the new file has them."""
        while name:
            if name in self.new.types:
                self._renamed.setdefault(name, name)
            name = self.old.find_outer(name)

    def translate_name(self, name: str) -> str:
        """The name that a type of the old file has, or would have, in the new one."""
        if name in self._renamed:
            return self._renamed[name]
        simple = self.old.types[name].simple
        if around := self.old.find_outer(name):
            return f'{self.translate_name(around)}${simple}'
        return f'{self.new.file.package}.{simple}' if self.new.file.package else simple

    def _list_remaining_types(self) -> set[str]:
        whole = [piece for piece in self.left if piece.kind == 'type']
        opened = {piece.owner for piece in (*self.left,) if piece.kind != 'import'}
        opened |= set(self._renamed.values())
        return opened | {name for piece in whole for name in list_inner_types(self.new, piece)}

    def _find_piece(self, method: TestMethod) -> JavaPiece:
        for piece in self.pieces:
            if (
                piece.kind in ('method', 'field')
                and piece.owner == method.test_class
                and method.test_method in piece.names
                and piece.parameters == method.parameters
            ):
                return piece
        raise StartStateInvalid(
            f'{method.test_class}#{method.test_method} is not in the file at old'
        )

    def _find_piece_or_type(self, method: TestMethod) -> JavaPiece:
        """The method, or the whole type around it that the new file lacks."""
        for piece in self.pieces:
            if piece.kind == 'type' and method.test_class in list_inner_types(self.old, piece):
                return piece
        return self._find_piece(method)

    def get_slot(self, piece: JavaPiece) -> Place:
        """What a piece is known by: of two imports for one simple name there is place for one."""
        if piece.kind == 'import' and piece.names != ('*',):
            return piece.kind, piece.owner, piece.names, ()
        return piece.key

    def get_slot_at_new(self, piece: JavaPiece) -> Place:
        kind, owner, names, parameters = self.get_slot(piece)
        if kind != 'import' and owner:
            owner = self.translate_name(owner)
        return kind, owner, names, parameters

    def find_needed_pieces(self) -> list[JavaPiece]:
        """The pieces that the targets need and the new file lacks, in their order."""
        chain = set(self._renamed)
        known = {*map(self.get_slot, self.left), *self._list_inner_slots()}
        free = [
            piece
            for piece in self.pieces
            if piece not in self.targets.values()
            and piece.names != ('*',)
            and piece.kind != 'initializer'
            and not (piece.kind == 'constructor' and piece.owner in chain)
            and self.get_slot_at_new(piece) not in known
            and not self._is_covered_by_wildcard(piece)
        ]
        brought = {*self.targets.values(), *self.inserted}
        while True:
            self.mentions = frozenset().union(*(piece.mentions for piece in brought))
            uses = frozenset().union(*(piece.uses for piece in brought))
            fields = {name for p in brought if p.kind == 'field' for name in p.names}
            more = [
                piece
                for piece in free
                if piece not in brought
                and (
                    not (uses if self._is_foreign(piece) else self.mentions).isdisjoint(piece.names)
                    or (_is_set_up(piece) and not fields.isdisjoint(piece.uses))
                )
            ]
            if not more:
                break
            brought.update(more)
        brought.update(self._find_missing_wildcards(brought))
        return [p for p in self.pieces if p in brought and p not in self.targets.values()]

    def _is_foreign(self, piece: JavaPiece) -> bool:
        """Whether a piece is a member of a type beside the test classes: used by a qualified name."""
        return piece.kind not in ('import', 'type') and piece.owner not in self._renamed

    def _list_inner_slots(self) -> Iterator[Place]:
        """The slots of what stands inside of types that are left whole."""
        names = {n for p in self.left if p.kind == 'type' for n in list_inner_types(self.new, p)}
        for name in sorted(names):
            type_ = self.new.types[name]
            yield 'type', type_.outer, (type_.simple,), ()
            yield from (self.get_slot(piece) for piece in self.new.list_members(type_))

    def _is_covered_by_wildcard(self, piece: JavaPiece) -> bool:
        """Whether the new file imports a name by a wildcard."""
        if piece.imported is None:
            return False
        package = piece.imported.text.rpartition('.')[0]
        return any(
            other.imported is not None
            and other.names == ('*',)
            and other.owner == piece.owner
            and other.imported.text == package
            for other in self.left
        )

    def _find_missing_wildcards(self, brought: set[JavaPiece]) -> list[JavaPiece]:
        """The wildcards that new lacks, if a name is left that nothing explains."""
        explained = self._explained | _EVERYWHERE
        explained |= {name for piece in (*self.left, *brought) for name in piece.names}
        names = self.mentions - explained
        lacking = {piece.key for piece in self.left}
        return [
            piece
            for piece in self.pieces
            if piece.names == ('*',)
            and piece.key not in lacking
            and any(piece.owner == 'static' or name[:1].isupper() for name in names)
        ]


def _is_set_up(piece: JavaPiece) -> bool:
    return piece.kind == 'method' and any(is_fixture(member) for member in piece.members)
