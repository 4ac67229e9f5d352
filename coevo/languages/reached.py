"""Which declarations of a file names lead to, one through the other, and which serve some others alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from typing import Protocol, TypeVar


class UsingPiece(Protocol):
    """A declaration by what it names. Equal to itself alone."""

    @property
    def uses(self) -> frozenset[str]: ...

    def __hash__(self) -> int: ...

    def may_be_meant_by(self, names: AbstractSet[str]) -> bool:
        """Whether some names may mean it."""


_Piece = TypeVar('_Piece', bound=UsingPiece)


def find_reached_pieces(names: Iterable[str], pieces: Collection[_Piece]) -> set[_Piece]:
    """The pieces that names mean, and those that these use in turn."""
    reached_pieces: set[_Piece] = set()
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
    targets: Iterable[_Piece], free: Collection[_Piece], outside: AbstractSet[str]
) -> set[_Piece]:
    """What targets use, one through the other, and nothing that stays does.

    free     what may go; outside  the names in all that is neither free nor a target
    """
    used = find_reached_pieces(list_used_names(targets), free)
    unused = list_used_names(piece for piece in free if piece not in used)
    return used - find_reached_pieces(outside | unused, free)


def list_used_names(pieces: Iterable[UsingPiece]) -> set[str]:
    return {name for piece in pieces for name in piece.uses}
