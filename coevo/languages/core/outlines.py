"""A file as pieces that can be taken out of it or put into another version of it.

A language's outline parses a file and lists its pieces: what is declared in one go, with the comments
above it and behind it. All that cuts and puts together asks for no more than this.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from typing import Protocol, TypeVar

from coevo.languages.declarations import MODULE, DeclaredType, Member, SourceFile
from coevo.languages.spans import Span
from coevo.model.records import TestMethod


class Declared(Protocol):
    """Where a declaration stands: the type around it, and its first byte without comments."""

    @property
    def owner(self) -> str: ...

    @property
    def start_byte(self) -> int: ...


class Piece(Protocol):
    """A declaration of one file, equal to itself alone."""

    @property
    def kind(self) -> str: ...

    @property
    def owner(self) -> str:
        """The type around it; '' if there is none."""

    @property
    def names(self) -> tuple[str, ...]:
        """What it declares."""

    @property
    def uses(self) -> frozenset[str]:
        """Every name in it that may mean another piece."""

    @property
    def mentions(self) -> frozenset[str]:
        """Those of its uses for which it brings other pieces of its file along."""

    @property
    def span(self) -> Span:
        """What is replaced where another piece takes its place, comments included."""

    @property
    def start_byte(self) -> int | None:
        """Where the declaration of a member begins without comments; None of what is no member."""

    def __hash__(self) -> int: ...

    def may_be_meant_by(self, names: AbstractSet[str]) -> bool:
        """Whether some names may mean it."""


P_co = TypeVar('P_co', bound=Piece, covariant=True)
P = TypeVar('P', bound=Piece)


class Outline(Protocol[P_co]):
    """A parsed file, and what it takes to cut it into pieces."""

    @property
    def source(self) -> bytes: ...

    @property
    def file(self) -> SourceFile: ...

    @property
    def types(self) -> Mapping[str, DeclaredType]:
        """By their names, those that can be opened: listed by their members."""

    @property
    def tests(self) -> Sequence[Member]:
        """The test methods as far as this file alone tells."""

    def list_pieces(self, opened: AbstractSet[str]) -> Sequence[P_co]:
        """All pieces in order: the types named in `opened` by their members, the others whole."""

    def iterate_removable_types(self) -> Iterator[tuple[DeclaredType, P_co]]:
        """The types that may go as a whole once no test is left in them."""

    def find_names_outside(self, spans: Collection[Span]) -> frozenset[str]:
        """What `spans` leave uses, imports aside."""

    def find_declaration(self, method: TestMethod, when: str) -> Declared:
        """The declaration of a test; StartStateInvalid, whose message says at which revision."""

    def find_namesake(self, method: TestMethod) -> TestMethod | None:
        """A method of the same name that was no test, or was not seen to be one."""

    def is_well_formed(self) -> bool: ...


def list_outer_types(outline: Outline[Piece], names: Iterable[str]) -> set[str]:
    """Types and those around them, as far as they have a name."""
    all_names = set()
    for name in names:
        while name:
            all_names.add(name)
            name = find_outer_type(outline, name)
    return all_names


def find_outer_type(outline: Outline[Piece], name: str) -> str:
    """The name of the type around a nested one; '' where this file has none."""
    type_ = outline.types.get(name)
    return type_.outer if type_ is not None else ''


def list_inner_types(outline: Outline[Piece], piece: Piece) -> list[str]:
    """The names of the types that a piece takes in, its own included."""
    start, end = piece.span
    return [
        type_.name
        for type_ in outline.file.types
        if type_.kind != MODULE and start <= type_.start_byte < end
    ]


# Which declarations of a file names lead to, one through the other, and which serve some others alone.


def find_reached_pieces(names: Iterable[str], pieces: Collection[P]) -> set[P]:
    """The pieces that names mean, and those that these use in turn."""
    reached_pieces: set[P] = set()
    queue = set(names)
    while queue:
        more = [
            piece
            for piece in pieces
            if piece not in reached_pieces and piece.may_be_meant_by(queue)
        ]
        reached_pieces.update(more)
        queue = list_used_names(more)
    return reached_pieces


def find_pieces_serving_only(
    targets: Iterable[P], free: Collection[P], outside: AbstractSet[str]
) -> set[P]:
    """What targets use, one through the other, and nothing that stays does.

    free     what may go; outside  the names in all that is neither free nor a target
    """
    used = find_reached_pieces(list_used_names(targets), free)
    unused = list_used_names(piece for piece in free if piece not in used)
    return used - find_reached_pieces(outside | unused, free)


def list_used_names(pieces: Iterable[Piece]) -> set[str]:
    return {name for piece in pieces for name in piece.uses}
