"""What is removed from a test file with some of its tests, put in their place, and added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Generic

from coevo.languages.core.old_files import (
    BringingRules,
    NewFile,
    O,
    OldContent,
    OldFile,
    P,
    collect_old_content,
)
from coevo.languages.core.outlines import Declared, list_inner_types, list_outer_types
from coevo.languages.reached import find_pieces_serving_only, find_reached_pieces
from coevo.languages.surgery import OriginalTest, StartTarget
from coevo.languages.text_edits import TextEdits


@dataclass(frozen=True, slots=True, kw_only=True)
class CuttingRules(Generic[O, P]):
    """How a language takes pieces out of a file.

    may_go          whether a piece that only targets use may go with them
    list_followers  pieces that go since others do, whoever uses them
    list_emptied    types of which a plan would leave nothing
    remove          take pieces out so that what is left is a file
    add             put a piece of an old file beside what stands
    finish          the text of an edited file as it has to be
    is_by_name      whether old pieces take the place of all that have a name of theirs
    """

    may_go: Callable[[CutPlan[O, P], P], bool]
    list_followers: Callable[[O, AbstractSet[P]], Iterable[P]] = lambda file, owned: ()
    list_emptied: Callable[[CutPlan[O, P]], Sequence[P]] = lambda plan: ()
    remove: Callable[[TextEdits, CutPlan[O, P], Sequence[P], OldContent[O, P]], None]
    add: Callable[[TextEdits, OldFile[O, P], P, Sequence[P]], None]
    finish: Callable[[bytes, O, Sequence[O]], bytes] = lambda text, file, olds: text
    is_by_name: bool = False


class CutPlan(Generic[O, P]):
    """What is removed from a file, what is put in its place, and what is added.

    found           the targets, each with where it stands
    emptied         types that go as a whole
    used_elsewhere  names by which other files may use what this one declares
    inserted        tests of another version of the file that this one lacks
    """

    def __init__(
        self,
        cutting: CuttingRules[O, P],
        bringing: BringingRules[O, P],
        file: O,
        found: Mapping[StartTarget, Declared],
        used_elsewhere: AbstractSet[str],
        *,
        emptied: Sequence[P] = (),
        inserted: Sequence[OriginalTest] = (),
    ) -> None:
        self._cutting, self._bringing = cutting, bringing
        self.file = file
        self.used_elsewhere = used_elsewhere
        self.inserted = inserted
        opened = list_outer_types(file, {declared.owner for declared in found.values()})
        for test in inserted:
            name = bringing.get_type_name(test.method.test_class)
            opened |= list_outer_types(bringing.parse(test.source), [name])
        opened -= {name for piece in emptied for name in list_inner_types(file, piece)}
        self.opened = opened & file.types.keys()
        self.pieces: Sequence[P] = file.list_pieces(self.opened)
        at = {declared.start_byte: target for target, declared in found.items()}
        self.targets: dict[P, StartTarget | None] = {
            piece: at[piece.declared_at] for piece in self.pieces if piece.declared_at in at
        }
        identities = {piece.identity for piece in emptied}
        self.targets |= {piece: None for piece in self.pieces if piece.identity in identities}

    @cached_property
    def reverted(self) -> dict[P, OriginalTest]:
        """The targets that do not go, each with what it is reverted to."""
        return {
            piece: target.original
            for piece, target in self.targets.items()
            if target is not None and target.original is not None
        }

    @cached_property
    def owned(self) -> set[P]:
        """What targets use, one through the other, and nothing that stays does."""
        free = [p for p in self.pieces if p not in self.targets and self._cutting.may_go(self, p)]
        covered = [piece.span for piece in (*free, *self.targets)]
        owned = find_pieces_serving_only(self.targets, free, self.file.find_names_outside(covered))
        return owned | set(self._cutting.list_followers(self.file, owned))

    def list_emptied(self) -> Sequence[P]:
        """The types of which nothing would be left; what they alone use goes with them."""
        if self.reverted or self.inserted:
            return ()
        return self._cutting.list_emptied(self)

    def carry_out(self) -> bytes:
        """The text of the file that comes of it."""
        left = [p for p in self.pieces if p not in self.owned and p not in self.targets]
        brought = collect_old_content(
            self._bringing,
            NewFile(
                outline=self.file,
                left=left,
                replaceable=[piece for piece in self.pieces if piece in self.owned],
                reverted=self.reverted,
                inserted=self.inserted,
                used_elsewhere=self.used_elsewhere,
            ),
        )
        standing = {*left, *brought.instead, *self._find_still_needed(brought)}
        edits = TextEdits(self.file.source)
        for piece, text in brought.instead.items():
            edits.replace(*piece.span, text)
        gone = [piece for piece in self.pieces if piece not in standing]
        self._cutting.remove(edits, self, gone, brought)
        stand = [piece for piece in self.pieces if piece in standing]
        for file, piece in brought.additions:
            self._cutting.add(edits, file, piece, stand)
        olds = [file.old for file in brought.files]
        return self._cutting.finish(edits.apply_edits(), self.file, olds)

    def _find_still_needed(self, brought: OldContent[O, P]) -> set[P]:
        """What old tests use of what only their new selves did, and do not bring."""
        names = brought.mentions
        spare = [piece for piece in self.owned if piece not in brought.instead]
        if self._cutting.is_by_name:
            names -= brought.names
            spare = [piece for piece in spare if brought.names.isdisjoint(piece.names)]
        return find_reached_pieces(names, spare)
