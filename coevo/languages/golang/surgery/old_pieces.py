"""What reverted tests bring from the files in which they stood at old."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.golang.surgery.pieces import GoOutline, GoPiece
from coevo.languages.surgery import OriginalTest


class OldGoFile:
    """A file at old, seen from the new file that some of its tests are put into.

    reverted     the pieces of the new file that are, each with what it is reverted to
    inserted     tests that the new file lacks
    known        names that the new file, or another one of its package, declares whatever happens
    replaceable  what only targets use at new: an old piece of the same name takes its place
    """

    def __init__(
        self,
        *,
        new: GoOutline,
        old: GoOutline,
        reverted: Mapping[GoPiece, OriginalTest],
        inserted: Sequence[OriginalTest],
        known: AbstractSet[str],
        replaceable: AbstractSet[GoPiece],
    ) -> None:
        self.new = new
        self.old = old
        self.targets = {
            at: old.find_piece(original.method, 'old') for at, original in reverted.items()
        }
        self.inserted = [old.find_piece(original.method, 'old') for original in inserted]
        self._known = known
        self._replaced = {name for piece in replaceable for name in piece.names}
        self.uses = frozenset[str]()

    def list_needed_pieces(self) -> list[GoPiece]:
        """The pieces that the targets need and the new file lacks, in their order."""
        brought = {*self.targets.values(), *self.inserted}
        free = [
            piece for piece in self.old.pieces if piece not in brought and self._may_be_added(piece)
        ]
        while True:
            self.uses = frozenset().union(*(piece.uses for piece in brought))
            more = {piece for piece in free if piece not in brought and self._is_needed(piece)}
            if not more:
                break
            brought |= more
        excluded = set(self.targets.values())
        return [piece for piece in self.old.pieces if piece in brought and piece not in excluded]

    def _may_be_added(self, piece: GoPiece) -> bool:
        return bool(piece.names) and not piece.stays and self._known.isdisjoint(piece.names)

    def _is_needed(self, piece: GoPiece) -> bool:
        """Whether it is named; a method of a type that stands elsewhere, behind a dot."""
        names = piece.names
        if piece.kind == 'method':
            names = tuple(f'.{name.partition(".")[2]}' for name in names)
        return not self.uses.isdisjoint(names)
