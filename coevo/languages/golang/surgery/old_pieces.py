"""What tests bring from another version of their Go file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.core.old_files import BringingRules, OldFile
from coevo.languages.golang.surgery.pieces import GoOutline, GoPiece, make_outline

OldGoFile = OldFile[GoOutline, GoPiece]


class GoNeeds:
    """Fulfils `coevo.languages.core.old_files.Needs`. Imports are no pieces, so there are no wildcards."""

    def __init__(self, file: OldGoFile) -> None:
        self._file = file
        # What another file of the package declares, no file can bring a second time.
        elsewhere = {name[1:] for name in file.into.used_elsewhere if name.startswith('=')}
        self._known = elsewhere.union(*(piece.names for piece in file.into.left))

    def may_be_added(self, piece: GoPiece) -> bool:
        return bool(piece.names) and not piece.stays and self._known.isdisjoint(piece.names)

    def list_needed(
        self, free: Sequence[GoPiece], brought: AbstractSet[GoPiece]
    ) -> Iterator[GoPiece]:
        """What is named; a method of a type that stands elsewhere, behind a dot."""
        for piece in free:
            names = piece.names
            if piece.kind == 'method':
                names = tuple(f'.{name.partition(".")[2]}' for name in names)
            if not self._file.mentions.isdisjoint(names):
                yield piece

    def list_wildcards(self, brought: AbstractSet[GoPiece]) -> tuple[GoPiece, ...]:
        return ()


def _can_replace(new: GoPiece, old: GoPiece) -> bool:
    """Whether both are of one name and form."""
    is_plain = len(new.parts) == len(old.parts) == 1
    is_line = new.first_part.is_line or old.first_part.is_line
    return is_plain and not is_line and (new.kind, new.names) == (old.kind, old.names)


BRINGING: BringingRules[GoOutline, GoPiece] = BringingRules(
    parse=make_outline,
    get_type_name=lambda name: '',
    list_opened=lambda file: frozenset(),
    find_test=lambda file, method: file.old.find_declaration(method, 'old'),
    make_needs=GoNeeds,
    translate_owner=lambda file, piece: '',
    list_slots=lambda piece, owner: piece.names,
    can_replace=_can_replace,
    render=lambda file, piece, at: file.old.load_part(piece.first_part),
    is_last_taken=True,
)
