"""Plans which pieces of a test file to remove along with some tests, to replace, and to add.

A piece that only removed tests use is removed with them. If a test comes from another version of
its file, the pieces that it needs and this file lacks come with it.

Here the file to be changed is the "new" one, and each version from which tests come is an "old"
one, even if a test of the new revision is put into the old file.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Mapping,
    Sequence,
    Set as AbstractSet,
)
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from coevo.languages.core.outlines import (
    Declared,
    Outline,
    P,
    add_outer_types,
    find_pieces_serving_only,
    find_reached_pieces,
    get_enclosing_type_name,
    list_type_names_in_piece,
)
from coevo.languages.declarations import Member, SourceFile
from coevo.languages.spans import Span
from coevo.languages.surgery import OriginalTest, StartTarget
from coevo.languages.text_edits import TextEdits
from coevo.model.records import TestMethod

O = TypeVar('O', bound=Outline[Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class SurgeryRules(Generic[O, P]):
    """The rules of a language for its test files.

    Tests:
    parse               return the outline of a file; StartStateInvalid if there is none
    parse_placed        return the declarations of a file, given its path
    get_type_name       return the name that a test's class has in the outline of a file
    list_lookalikes     return members that may be tests, if the file alone does not show that
                        targets are
    stays_out           return whether a helper runs by itself or cannot be inserted alone

    Removal:
    may_go              return whether a piece that only targets use may be removed with them
    list_followers      return pieces to remove because others are removed, even if they are used
    list_emptied_types        return types that a plan would leave empty
    remove              remove pieces so that the rest is a valid file

    Additions from other versions of the file:
    list_opened         return the types of an old file whose members may come separately
    find_test           return the piece of a test of an old file; StartStateInvalid if there is
                        none
    make_needs          return the object that selects pieces of an old file
    translate_owner     return the name at new of the type in which an old piece stands or would
                        stand
    list_taken_slots          return the slots that a piece takes in a type of some name; each slot holds
                        one piece
    can_replace         return whether an old piece can take the place of a new one
    is_same             return whether an old piece that cannot do so equals the new one, which stays
    render              return the text of an old piece for the place of a new one
    drop_repeated       return pieces without those that would come twice
    add                 insert a piece of an old file beside the existing pieces
    is_last_taken       whether the last of several old pieces takes a slot, and the others are
                        added beside it; otherwise the first takes it, and the others are left out
    is_by_name          whether old pieces replace all pieces with one of their names

    The resulting file:
    finish              return its final text
    list_duplicates     return sortable keys of declarations that occur more than once
    describe_duplicate  return a complaint about one such key
    tolerates_old       whether declarations that are duplicated in the file of an original may stay
                        so
    tolerates_inserted  whether an inserted test may come from a file with errors or duplicates
    """

    parse: Callable[[bytes], O]
    parse_placed: Callable[[bytes, str], SourceFile]
    get_type_name: Callable[[str], str]
    list_lookalikes: Callable[[O, Sequence[Declared]], Iterable[Member]] = lambda file, targets: ()
    stays_out: Callable[[Member], bool]

    may_go: Callable[[CutPlan[O, P], P], bool]
    list_followers: Callable[[O, AbstractSet[P]], Iterable[P]] = lambda file, owned: ()
    list_emptied_types: Callable[[CutPlan[O, P]], Sequence[P]] = lambda plan: ()
    remove: Callable[[TextEdits, CutPlan[O, P], Sequence[P], OldContent[O, P]], None]

    list_opened: Callable[[OldFile[O, P]], AbstractSet[str]]
    find_test: Callable[[OldFile[O, P], TestMethod], P]
    make_needs: Callable[[OldFile[O, P]], NeedsFinder[P]]
    translate_owner: Callable[[OldFile[O, P], P], str]
    list_taken_slots: Callable[[P, str], Sequence[Hashable]]
    can_replace: Callable[[P, P], bool] = lambda new, old: True
    is_same: Callable[[P, P], bool] = lambda new, old: False
    render: Callable[[OldFile[O, P], P, P], bytes]
    drop_repeated: Callable[[Sequence[P]], Iterable[P]] = iter
    add: Callable[[TextEdits, OldFile[O, P], P, Sequence[P]], None]
    is_last_taken: bool = False
    is_by_name: bool = False

    finish: Callable[[bytes, O, Sequence[O]], bytes] = lambda text, file, olds: text
    list_duplicates: Callable[[O], set[Any]]
    describe_duplicate: Callable[[Any], str]
    tolerates_old: bool = True
    tolerates_inserted: bool = False


class CutPlan(Generic[O, P]):
    """A plan of what to remove from the new file, what to replace, and what to add.

    found           the targets, each with its declaration
    emptied         types to be removed as a whole
    used_elsewhere  names by which other files may use declarations of this one
    inserted        tests of another version of the file that this one lacks
    """

    def __init__(
        self,
        rules: SurgeryRules[O, P],
        file: O,
        found: Mapping[StartTarget, Declared],
        used_elsewhere: AbstractSet[str],
        *,
        emptied: Sequence[P] = (),
        inserted: Sequence[OriginalTest] = (),
    ) -> None:
        self.rules = rules
        self.file = file
        self.used_elsewhere = used_elsewhere
        self.inserted = inserted
        opened = add_outer_types(file, {declared.owner for declared in found.values()})
        for test in inserted:
            name = rules.get_type_name(test.method.test_class)
            opened |= add_outer_types(rules.parse(test.source), [name])
        opened -= {name for piece in emptied for name in list_type_names_in_piece(file, piece)}
        self.opened = opened & file.types.keys()
        self.pieces: Sequence[P] = file.list_pieces(self.opened)
        at = {declared.start_byte: target for target, declared in found.items()}
        self.targets: dict[P, StartTarget | None] = {
            piece: at[piece.start_byte] for piece in self.pieces if piece.start_byte in at
        }
        # pieces were listed again, so they are recognized by their spans
        spans = {piece.span for piece in emptied}
        self.targets |= {piece: None for piece in self.pieces if piece.span in spans}

    @cached_property
    def originals_of_reverted_pieces(self) -> dict[P, OriginalTest]:
        """The pieces of the targets that are reverted, not removed, each with its original."""
        return {
            piece: target.original
            for piece, target in self.targets.items()
            if target is not None and target.original is not None
        }

    @cached_property
    def pieces_only_targets_use(self) -> set[P]:
        """The pieces that only targets use, directly or through each other; targets do not count.

        Also the pieces that must go when these go (`list_followers`).
        """
        free = [p for p in self.pieces if p not in self.targets and self.rules.may_go(self, p)]
        covered = [piece.span for piece in (*free, *self.targets)]
        owned = find_pieces_serving_only(self.targets, free, self.file.find_names_outside(covered))
        return owned | set(self.rules.list_followers(self.file, owned))

    def list_emptied_types(self) -> Sequence[P]:
        """Return the types that the plan would leave empty, which are to be removed as a whole.

        None are returned if any test is reverted or inserted.
        """
        if self.originals_of_reverted_pieces or self.inserted:
            return ()
        return self.rules.list_emptied_types(self)

    @cached_property
    def pieces_sure_to_stay(self) -> list[P]:
        """The pieces that stay in any case: neither targets nor owned."""
        return [
            p
            for p in self.pieces
            if p not in self.pieces_only_targets_use and p not in self.targets
        ]

    @property
    def replaceable_spans(self) -> list[Span]:
        """The spans of owned pieces and of reverted targets, which old pieces may replace."""
        return [
            piece.span
            for piece in self.pieces
            if piece in self.pieces_only_targets_use or piece in self.originals_of_reverted_pieces
        ]

    def make_resulting_text(self) -> bytes:
        """Return the text of the resulting file. The plan itself does not change.

        Owned pieces that the old tests use, too, stay unless an old piece replaces them.
        """
        brought = collect_old_content(self)
        standing = {*self.pieces_sure_to_stay, *brought.instead, *self._find_still_needed(brought)}
        edits = TextEdits(self.file.source)
        for piece, text in brought.instead.items():
            edits.replace(*piece.span, text)
        removed = [piece for piece in self.pieces if piece not in standing]
        self.rules.remove(edits, self, removed, brought)
        stand = [piece for piece in self.pieces if piece in standing]
        for file, piece in brought.additions:
            self.rules.add(edits, file, piece, stand)
        olds = [file.old for file in brought.files]
        return self.rules.finish(edits.apply_edits(), self.file, olds)

    def _find_still_needed(self, brought: OldContent[O, P]) -> set[P]:
        """Return the owned pieces that must stay: old tests use them, and no old piece comes."""
        names = brought.mentions
        taken = brought.instead.keys() | brought.displaced
        spare = [piece for piece in self.pieces_only_targets_use if piece not in taken]
        if self.rules.is_by_name:
            names -= brought.names
            spare = [piece for piece in spare if brought.names.isdisjoint(piece.names)]
        return find_reached_pieces(names, spare)


class NeedsFinder(Protocol[P]):
    """The rules by which pieces of an old file come along with its tests."""

    def may_be_added(self, piece: P) -> bool:
        """Return whether a piece can come along at all and the new file lacks it."""

    def list_needed(self, free: Sequence[P], brought: AbstractSet[P]) -> Iterable[P]:
        """Return the pieces in `free` that the pieces in `brought` need directly."""

    def list_wildcard_imports(self, brought: AbstractSet[P]) -> Iterable[P]:
        """Return wildcard imports of the old file that the new file lacks.

        Return none if every name in `brought` can be explained without them.
        """


class OldFile(Generic[O, P]):
    """An old version of the file, from which tests come, and its relation to the new file.

    renamed   types of the old file, each with its name in the new file
    targets   pieces of the new file, each with the old piece to which it is reverted
    inserted  old pieces that the new file lacks: tests, or whole types around them
    mentions  all names that the pieces brought along mention; empty before `list_needed_pieces`
    """

    def __init__(self, plan: CutPlan[O, P], source: bytes) -> None:
        self.plan = plan
        self._rules = rules = plan.rules
        self.new = plan.file
        self.old = rules.parse(source)
        self.renamed = {'': ''}
        reverted = {
            at: test
            for at, test in plan.originals_of_reverted_pieces.items()
            if test.source == source
        }
        inserted = [test.method for test in plan.inserted if test.source == source]
        for at, test in reverted.items():
            self._map_types(rules.get_type_name(test.method.test_class), at.owner)
        for method in inserted:
            around = add_outer_types(self.old, [rules.get_type_name(method.test_class)])
            for name in around & self.new.types.keys():
                self.renamed.setdefault(name, name)
        self.pieces: Sequence[P] = self.old.list_pieces(rules.list_opened(self))
        self.targets = {at: rules.find_test(self, test.method) for at, test in reverted.items()}
        self.inserted = [self._find_test_or_type(method) for method in inserted]
        self.mentions = frozenset[str]()

    def translate_owner(self, piece: P) -> str:
        """Return the type in the new file in which an old piece stands or would stand, by name."""
        return self._rules.translate_owner(self, piece)

    def list_taken_slots(self, piece: P) -> Sequence[Hashable]:
        """Return the slots that an old piece takes in the new file; each slot holds one piece."""
        return self._rules.list_taken_slots(piece, self.translate_owner(piece))

    def list_needed_pieces(self) -> list[P]:
        """Return the old pieces that come along: inserted tests, and all that the old tests need.

        Pieces that the new file has, and those of reverted targets, are left out. In the order of
        the old file. Sets `mentions`.
        """
        needs = self._rules.make_needs(self)
        brought = {*self.targets.values(), *self.inserted}
        free = [p for p in self.pieces if p not in brought and needs.may_be_added(p)]
        while True:
            self.mentions = frozenset().union(*(piece.names_to_bring_along for piece in brought))
            left = [piece for piece in free if piece not in brought]
            more = list(needs.list_needed(left, brought))
            if not more:
                break
            brought.update(more)
        brought.update(list(needs.list_wildcard_imports(brought)))
        come = [p for p in self.pieces if p in brought and p not in self.targets.values()]
        return list(self._rules.drop_repeated(come))

    def _map_types(self, old: str, new: str) -> None:
        while old and new:
            self.renamed[old] = new
            old, new = (
                get_enclosing_type_name(self.old, old),
                get_enclosing_type_name(self.new, new),
            )

    def _find_test_or_type(self, method: TestMethod) -> P:
        """Return the piece of a method, or of its type if the new file lacks that as a whole."""
        wanted = self._rules.get_type_name(method.test_class)
        for piece in self.pieces:
            if piece.kind == 'type' and wanted in list_type_names_in_piece(self.old, piece):
                return piece
        return self._rules.find_test(self, method)


@dataclass(frozen=True, slots=True, kw_only=True)
class OldContent(Generic[O, P]):
    """The pieces that old files contribute to the new file.

    files      all old files
    instead    for pieces of the new file, the texts that replace them
    additions  pieces to be added, each with its old file
    displaced  owned pieces of the new file whose slots additions take
    mentions   names that old pieces need
    names      names that the old pieces declare that come along
    """

    files: tuple[OldFile[O, P], ...]
    instead: Mapping[P, bytes]
    additions: tuple[tuple[OldFile[O, P], P], ...]
    displaced: frozenset[P]
    mentions: frozenset[str]
    names: frozenset[str]


def collect_old_content(plan: CutPlan[O, P]) -> OldContent[O, P]:
    """Return the pieces of old files that the reverted and the inserted tests need.

    An old piece in the slot of an owned piece replaces it if it can, and is left out if it is the
    same; all others are additions.
    """
    rules = plan.rules
    slots = {
        slot: piece
        for piece in plan.pieces
        if piece in plan.pieces_only_targets_use
        for slot in rules.list_taken_slots(piece, piece.owner)
    }
    files: list[OldFile[O, P]] = []
    instead: dict[P, bytes] = {}
    brought: list[tuple[OldFile[O, P], P, P | None]] = []
    takers: dict[P, tuple[OldFile[O, P], P]] = {}
    unchanged, displaced = set[P](), set[P]()
    for source in sorted(
        {test.source for test in (*plan.originals_of_reverted_pieces.values(), *plan.inserted)}
    ):
        file = OldFile(plan, source)
        files.append(file)
        instead |= {at: rules.render(file, was, at) for at, was in file.targets.items()}
        for piece in file.list_needed_pieces():
            at = next((slots[slot] for slot in file.list_taken_slots(piece) if slot in slots), None)
            if at is not None and rules.is_same(at, piece):
                unchanged.add(at)
                continue
            if at is not None and not rules.can_replace(at, piece):
                displaced.add(at)
                at = None
            if at is not None and (rules.is_last_taken or at not in takers):
                takers[at] = file, piece
            brought.append((file, piece, at))
    instead |= {at: rules.render(file, piece, at) for at, (file, piece) in takers.items()}
    additions = (
        (file, piece)
        for file, piece, at in brought
        if at is None or (rules.is_last_taken and takers[at][1] is not piece)
    )
    return OldContent(
        files=tuple(files),
        instead=instead,
        additions=tuple(additions),
        displaced=frozenset(displaced - unchanged),
        mentions=frozenset().union(*(file.mentions for file in files)),
        names=frozenset(name for _, piece, _ in brought for name in piece.names),
    )


def find_new_and_old_neighbour(
    piece: P,
    beside: Sequence[P],
    list_slots: Callable[[P], Collection[Hashable]],
    anchors: Mapping[Hashable, P],
) -> tuple[P, P | None] | None:
    """Return the piece of the new file beside which an old piece is to be inserted; None if none.

    With it comes None if the old piece must follow it. Otherwise the old piece must precede it, and
    with it comes the old neighbour to which it corresponds. Neighbours above are tried first, the
    nearest one first, then those below.

    beside   the old piece and its old neighbours, in order
    anchors  pieces of the new file by their slots
    """

    def find_anchor(other: P) -> P | None:
        """Return the piece of the new file in a slot of an old piece; None if there is none."""
        return next((anchors[slot] for slot in list_slots(other) if slot in anchors), None)

    at = beside.index(piece)
    for other in reversed(beside[:at]):
        if (anchor := find_anchor(other)) is not None:
            return anchor, None
    for other in beside[at + 1 :]:
        if (anchor := find_anchor(other)) is not None:
            return anchor, other
    return None
