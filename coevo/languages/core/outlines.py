"""Describes a file as pieces that can be removed from it or put into another version of it.

The outline of a language parses a file and lists its pieces. A piece is a declaration with the
comments above it and at its end. Everything that cuts and composes files relies on these Protocols
alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from typing import Protocol, TypeVar

from coevo.languages.declarations import MODULE, DeclaredType, Member, SourceFile
from coevo.languages.spans import Span
from coevo.model.records import TestMethod


class Declared(Protocol):
    """The position of a declaration."""

    @property
    def owner(self) -> str:
        """The name of the enclosing type."""

    @property
    def start_byte(self) -> int:
        """The first byte of the declaration, without comments."""


class Piece(Protocol):
    """A declaration of one file; each piece equals only itself."""

    @property
    def kind(self) -> str:
        """The kind of the declaration, such as `type`."""

    @property
    def owner(self) -> str:
        """The name of the enclosing type; '' if there is none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the piece declares."""

    @property
    def uses(self) -> frozenset[str]:
        """Every name in the piece that may refer to another piece."""

    @property
    def names_to_bring_along(self) -> frozenset[str]:
        """The names in `uses` whose pieces must come along when this piece goes to another file."""

    @property
    def span(self) -> Span:
        """Start and end of the bytes that another piece would replace, comments included."""

    @property
    def start_byte(self) -> int | None:
        """The first byte of a member without comments; None if the piece is not a member."""

    def __hash__(self) -> int:
        """Return a hash by identity."""

    def may_be_named_by(self, names: AbstractSet[str]) -> bool:
        """Return whether one of some names may refer to the piece."""


P_co = TypeVar('P_co', bound=Piece, covariant=True)
P = TypeVar('P', bound=Piece)


class Outline(Protocol[P_co]):
    """A parsed file that can be cut into pieces."""

    @property
    def source(self) -> bytes:
        """The text of the file."""

    @property
    def file(self) -> SourceFile:
        """The declarations of the file."""

    @property
    def types(self) -> Mapping[str, DeclaredType]:
        """The types by name whose members can be pieces of their own, see `list_pieces`."""

    @property
    def tests(self) -> Sequence[Member]:
        """The test methods of the file, without tests that only other files show to be tests."""

    def list_pieces(self, opened: AbstractSet[str]) -> Sequence[P_co]:
        """Return all pieces in order. A type is one piece, unless `opened` has its name.

        Of a type in `opened`, the members are pieces instead.
        """

    def iterate_removable_types(self) -> Iterator[tuple[DeclaredType, P_co]]:
        """Yield the types, with their pieces, that may be removed as a whole if without tests."""

    def find_names_outside(self, spans: Collection[Span]) -> frozenset[str]:
        """Return the names used outside `spans`, except in imports."""

    def find_declaration(self, method: TestMethod, when: str) -> Declared:
        """Return the declaration of a test.

        when  the revision (`old` or `new`), for the message

        Raises:
            StartStateInvalid: the file does not declare it.
        """

    def find_replaceable_namesake(self, method: TestMethod) -> TestMethod | None:
        """Return a method with the name of a test that is itself no test; None if there is none."""

    def is_well_formed(self) -> bool:
        """Return whether the file parses without errors."""


def add_outer_types(outline: Outline[Piece], names: Iterable[str]) -> set[str]:
    """Return the names, and those of all types around these types, as far as this file has them."""
    all_names = set()
    for name in names:
        while name:
            all_names.add(name)
            name = get_enclosing_type_name(outline, name)
    return all_names


def get_enclosing_type_name(outline: Outline[Piece], name: str) -> str:
    """Return the name of the type directly around a type; '' if there is none in this file."""
    type_ = outline.types.get(name)
    return type_.enclosing_name if type_ is not None else ''


def list_type_names_in_piece(outline: Outline[Piece], piece: Piece) -> list[str]:
    """Return the names of the types that begin in the span of a piece, including its own."""
    start, end = piece.span
    return [
        type_.name
        for type_ in outline.file.types
        if type_.kind != MODULE and start <= type_.start_byte < end
    ]


def find_reached_pieces(names: Iterable[str], pieces: Collection[P]) -> set[P]:
    """Return the pieces to which names may refer, and the pieces that those use, at any distance.

    names   names with which the search begins
    pieces  the only pieces that are searched
    """
    reached_pieces: set[P] = set()
    queue = set(names)
    while queue:
        more = [
            piece
            for piece in pieces
            if piece not in reached_pieces and piece.may_be_named_by(queue)
        ]
        reached_pieces.update(more)
        queue = list_used_names(more)
    return reached_pieces


def find_pieces_serving_only(
    targets: Iterable[P], free: Collection[P], outside: AbstractSet[str]
) -> set[P]:
    """Return the pieces in `free` that only targets use, directly or through other such pieces.

    free     the pieces that may be removed
    outside  the names used in everything that is neither free nor a target
    """
    used = find_reached_pieces(list_used_names(targets), free)
    unused = list_used_names(piece for piece in free if piece not in used)
    return used - find_reached_pieces(outside | unused, free)


def list_used_names(pieces: Iterable[Piece]) -> set[str]:
    """Return all names that some pieces use."""
    return {name for piece in pieces for name in piece.uses}
