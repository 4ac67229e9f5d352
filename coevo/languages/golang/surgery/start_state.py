"""The start file of a task: the test file at new with the target tests reverted or removed.

With a target goes what only targets use: helpers, variables, types with their methods, and imports. What
a reverted target needs of its old file, and new no longer has, comes with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from coevo.languages.declarations import Member
from coevo.languages.golang.surgery.cuts import remove_pieces
from coevo.languages.golang.surgery.import_repair import repair_imports
from coevo.languages.golang.surgery.old_pieces import OldGoFile
from coevo.languages.golang.surgery.old_places import add_piece
from coevo.languages.golang.surgery.pieces import GoOutline, GoPiece, make_outline
from coevo.languages.reached import find_reached_pieces, list_used_names
from coevo.languages.surgery import OriginalTest, StartStateInvalid, StartTarget
from coevo.languages.text_edits import TextEdits


def make_start_file(
    new: bytes,
    old: bytes | None,
    targets: Sequence[StartTarget],
    *,
    used_elsewhere: AbstractSet[str] = frozenset(),
) -> bytes | None:
    """The start file; None if the file is absent at the start, as one that is new always is.

    new, old        the test file at both revisions, old None where it does not exist
    used_elsewhere  names by which other files may use what this one declares; that stays
    """
    file = make_outline(new)
    targets_by_piece = {file.find_piece(target.method, 'new'): target for target in targets}
    if old is None and all(target.original is None for target in targets):
        return None
    start = GoCutPlan(file, targets_by_piece, used_elsewhere).carry_out()
    check_start_file(file, start, [target.original for target in targets])
    return start


def list_other_tests(source: bytes, targets: Sequence[Member]) -> list[Member]:
    """The tests of a file that are no targets, in order."""
    chosen = {member.start_byte for member in targets}
    return [member for member in make_outline(source).tests if member.start_byte not in chosen]


@dataclass(frozen=True, slots=True)
class GoCutPlan:
    """What is removed from a file, what is put in its place, and what is added.

    inserted  tests of another version of the file that this one lacks
    """

    file: GoOutline
    targets: Mapping[GoPiece, StartTarget]
    used_elsewhere: AbstractSet[str]
    inserted: Sequence[OriginalTest] = ()

    def carry_out(self) -> bytes:
        owned = self._find_owned_pieces()
        stay = [each for each in self.file.pieces if each not in owned and each not in self.targets]
        olds = self._make_old_files(stay, owned)
        brought = [(old, piece) for old in olds for piece in old.list_needed_pieces()]
        instead = {at: (old, piece) for old in olds for at, piece in old.targets.items()}
        instead |= {
            at: addition
            for addition in brought
            if (at := _find_replaced_piece(addition[1], owned)) is not None
        }
        still_needed = self._find_still_needed(owned, olds, brought)
        edits = TextEdits(self.file.source)
        for at, (old, piece) in instead.items():
            edits.replace(*at.first_part.text, old.old.load_part(piece.first_part))
        standing = [p for p in self.file.pieces if p in stay or p in still_needed or p in instead]
        remove_pieces(
            edits, self.file, [piece for piece in self.file.pieces if piece not in standing]
        )
        for old, piece in brought:
            if (old, piece) not in instead.values():
                add_piece(edits, old, piece, standing)
        return repair_imports(edits.apply_edits(), self.file, [old.old for old in olds])

    def _make_old_files(
        self, stay: Iterable[GoPiece], owned: AbstractSet[GoPiece]
    ) -> list[OldGoFile]:
        reverted = {at: test.original for at, test in self.targets.items() if test.original}
        originals = [*reverted.values(), *self.inserted]
        known = frozenset(name for piece in stay for name in piece.names)
        elsewhere = frozenset(name[1:] for name in self.used_elsewhere if name.startswith('='))
        return [
            OldGoFile(
                new=self.file,
                old=make_outline(source),
                reverted={at: test for at, test in reverted.items() if test.source == source},
                inserted=[test for test in self.inserted if test.source == source],
                known=known | elsewhere,
                replaceable=owned,
            )
            for source in sorted({test.source for test in originals})
        ]

    def _find_owned_pieces(self) -> set[GoPiece]:
        """What targets use, one through the other, and nothing that stays does."""
        pieces = self.file.pieces
        nameless = {each for each in pieces if not each.names}
        free = {each for each in pieces if each not in self.targets and self._may_go(each)}
        used = find_reached_pieces(list_used_names(self.targets), free)
        others = [each for each in pieces if each not in used and each not in self.targets]
        left = list_used_names(each for each in others if each not in nameless)
        owned = used - find_reached_pieces(left | self.used_elsewhere, free)
        removed_names = {name for each in owned for name in each.names}
        # `var _ I = T{}` says something of a type, and is no use of it.
        return owned | {each for each in nameless if not removed_names.isdisjoint(each.uses)}

    def _may_go(self, piece: GoPiece) -> bool:
        if piece.stays or piece.kind == 'method' or not piece.names:
            return False
        return self.used_elsewhere.isdisjoint(piece.names)

    def _find_still_needed(
        self,
        owned: AbstractSet[GoPiece],
        olds: Iterable[OldGoFile],
        brought: Iterable[tuple[OldGoFile, GoPiece]],
    ) -> set[GoPiece]:
        """What old tests use of what only their new selves did, and do not bring."""
        comes = {name for _, piece in brought for name in piece.names}
        uses = frozenset().union(*(old.uses for old in olds))
        return find_reached_pieces(
            uses - comes, {each for each in owned if comes.isdisjoint(each.names)}
        )


def _find_replaced_piece(piece: GoPiece, owned: Iterable[GoPiece]) -> GoPiece | None:
    """What gives way to a piece of the same name and form, in whose place that is written."""
    for each in owned:
        plain = len(each.parts) == len(piece.parts) == 1
        lines = each.first_part.is_line or piece.first_part.is_line
        if plain and not lines and (each.kind, each.names) == (piece.kind, piece.names):
            return each
    return None


def check_start_file(
    file: GoOutline, start: bytes, originals: Iterable[OriginalTest | None]
) -> None:
    """StartStateInvalid where a file made of another one is none, or is the same."""
    made_outline = make_outline(start)
    known = [
        file,
        *(make_outline(original.source) for original in originals if original is not None),
    ]
    if made_outline.file.has_error and not any(each.file.has_error for each in known):
        raise StartStateInvalid('the start file does not parse')
    twice = _find_doubles(made_outline).difference(*map(_find_doubles, known))
    if twice:
        raise StartStateInvalid(f'the package would declare {min(twice)} twice')
    if start == file.source:
        raise StartStateInvalid('the start file is the file at new')


def _find_doubles(file: GoOutline) -> set[str]:
    """What a file declares more than once."""
    counts = Counter(name for piece in file.pieces for name in piece.names if name != 'init')
    return {name for name, count in counts.items() if count > 1}
