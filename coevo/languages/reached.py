"""Which declarations of a file names lead to, one through the other, and which serve some others alone."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Protocol
from typing import TypeVar


class UsingPiece(Protocol):
    """A declaration by what it names. Equal to itself alone."""

    @property
    def uses(self) -> frozenset[str]: ...

    def __hash__(self) -> int: ...

    def is_meant(self, names: AbstractSet[str]) -> bool:
        """Whether some names may mean it."""


_Piece = TypeVar('_Piece', bound=UsingPiece)


def reached(names: Iterable[str], pieces: Collection[_Piece]) -> set[_Piece]:
    """The pieces that names mean, and those that these use in turn."""
    found: set[_Piece] = set()
    queue = set(names)
    while queue:
        more = [piece for piece in pieces if piece not in found and piece.is_meant(queue)]
        found.update(more)
        queue = names_used(more)
    return found


def serving(
    targets: Iterable[_Piece], free: Collection[_Piece], outside: AbstractSet[str]
) -> set[_Piece]:
    """What targets use, one through the other, and nothing that stays does.

    free     what may go; outside  the names in all that is neither free nor a target
    """
    used = reached(names_used(targets), free)
    unused = names_used(piece for piece in free if piece not in used)
    return used - reached(outside | unused, free)


def names_used(pieces: Iterable[UsingPiece]) -> set[str]:
    return {name for piece in pieces for name in piece.uses}
