"""What reverted tests bring from the files in which they stood at old."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from coevo.languages.core.outlines import (
    Outline,
    Piece,
    find_outer_type,
    list_inner_types,
    list_outer_types,
)
from coevo.languages.spans import Span
from coevo.languages.surgery import OriginalTest
from coevo.model.records import TestMethod

O = TypeVar('O', bound=Outline[Any])
P = TypeVar('P', bound=Piece)


class Needs(Protocol[P]):
    """What a language says of the pieces of one old file that tests bring from it."""

    def may_be_added(self, piece: P) -> bool:
        """Whether it can come along at all, and the new file lacks it."""

    def list_needed(self, free: Sequence[P], brought: AbstractSet[P]) -> Iterable[P]:
        """Those of some pieces that what is brought so far needs."""

    def list_wildcards(self, brought: AbstractSet[P]) -> Iterable[P]:
        """The imports of everything that new lacks, if a name is left that nothing explains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BringingRules(Generic[O, P]):
    """How a language brings pieces of an old file into a new one.

    parse            a file's outline; StartStateInvalid
    get_type_name    of a test's class: the name of the type in a file's outline
    list_opened      the types of an old file whose members may come one by one
    find_test        the piece of a test of an old file; StartStateInvalid
    make_needs       what decides on the pieces of an old file
    translate_owner  the name at new of the type in which an old piece stands, or would stand
    list_slots       places that a piece takes in a type of some name: of a place there is one
    can_replace      whether an old piece can stand in the place of a new one
    render           an old piece as it is written in the place of a new one
    drop_repeated    without what would come twice
    is_last_taken    whether of several old pieces the last takes a place, and the others stand beside
                     it; otherwise the first does, and the others are left out
    """

    parse: Callable[[bytes], O]
    get_type_name: Callable[[str], str]
    list_opened: Callable[[OldFile[O, P]], AbstractSet[str]]
    find_test: Callable[[OldFile[O, P], TestMethod], P]
    make_needs: Callable[[OldFile[O, P]], Needs[P]]
    translate_owner: Callable[[OldFile[O, P], P], str]
    list_slots: Callable[[P, str], Sequence[Hashable]]
    can_replace: Callable[[P, P], bool] = lambda new, old: True
    render: Callable[[OldFile[O, P], P, P], bytes]
    drop_repeated: Callable[[Sequence[P]], Iterable[P]] = iter
    is_last_taken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile(Generic[O, P]):
    """The file that old pieces come into.

    left            the pieces that stay whatever happens
    replaceable     those that only targets use: an old piece of the same place takes theirs
    reverted        the targets, each with what it is reverted to
    inserted        targets that the file lacks; they come with what they need
    used_elsewhere  names by which other files may use what this one declares
    """

    outline: O
    left: Sequence[P]
    replaceable: Sequence[P]
    reverted: Mapping[P, OriginalTest]
    inserted: Sequence[OriginalTest]
    used_elsewhere: AbstractSet[str]

    @property
    def removed_spans(self) -> list[Span]:
        return [piece.span for piece in (*self.replaceable, *self.reverted)]


class OldFile(Generic[O, P]):
    """A file at old, seen from the new file that some of its tests are put into.

    renamed   types of the old file, each with its name at new
    targets   pieces of the new file, each with the one that it is reverted to
    inserted  pieces that the new file lacks: tests, or whole types around them
    mentions  what all that is brought names
    """

    def __init__(self, rules: BringingRules[O, P], source: bytes, into: NewFile[O, P]) -> None:
        self._rules = rules
        self.into = into
        self.new = into.outline
        self.old = rules.parse(source)
        self.renamed = {'': ''}
        reverted = {at: test for at, test in into.reverted.items() if test.source == source}
        inserted = [test.method for test in into.inserted if test.source == source]
        for at, test in reverted.items():
            self._map_types(rules.get_type_name(test.method.test_class), at.owner)
        for method in inserted:
            around = list_outer_types(self.old, [rules.get_type_name(method.test_class)])
            for name in around & self.new.types.keys():
                self.renamed.setdefault(name, name)
        self.pieces: Sequence[P] = self.old.list_pieces(rules.list_opened(self))
        self.targets = {at: rules.find_test(self, test.method) for at, test in reverted.items()}
        self.inserted = [self._find_test_or_type(method) for method in inserted]
        self.mentions = frozenset[str]()

    def translate_owner(self, piece: P) -> str:
        """The type at new in which a piece stands, or would stand."""
        return self._rules.translate_owner(self, piece)

    def list_slots(self, piece: P) -> Sequence[Hashable]:
        """The places that a piece takes at new."""
        return self._rules.list_slots(piece, self.translate_owner(piece))

    def list_needed_pieces(self) -> list[P]:
        """The pieces that the targets need and the new file lacks, in their order."""
        needs = self._rules.make_needs(self)
        brought = {*self.targets.values(), *self.inserted}
        free = [p for p in self.pieces if p not in brought and needs.may_be_added(p)]
        while True:
            self.mentions = frozenset().union(*(piece.mentions for piece in brought))
            left = [piece for piece in free if piece not in brought]
            more = list(needs.list_needed(left, brought))
            if not more:
                break
            brought.update(more)
        brought.update(list(needs.list_wildcards(brought)))
        come = [p for p in self.pieces if p in brought and p not in self.targets.values()]
        return list(self._rules.drop_repeated(come))

    def _map_types(self, old: str, new: str) -> None:
        while old and new:
            self.renamed[old] = new
            old, new = find_outer_type(self.old, old), find_outer_type(self.new, new)

    def _find_test_or_type(self, method: TestMethod) -> P:
        """The method, or the whole type around it that the new file lacks."""
        wanted = self._rules.get_type_name(method.test_class)
        for piece in self.pieces:
            if piece.kind == 'type' and wanted in list_inner_types(self.old, piece):
                return piece
        return self._rules.find_test(self, method)


@dataclass(frozen=True, slots=True, kw_only=True)
class OldContent(Generic[O, P]):
    """What old files give.

    files      all of them
    instead    texts in the place of new pieces
    additions  pieces to be added
    mentions   names that old pieces need
    names      what old pieces declare
    """

    files: tuple[OldFile[O, P], ...]
    instead: Mapping[P, bytes]
    additions: tuple[tuple[OldFile[O, P], P], ...]
    mentions: frozenset[str]
    names: frozenset[str]


def collect_old_content(rules: BringingRules[O, P], into: NewFile[O, P]) -> OldContent[O, P]:
    """What the reverted and the inserted targets need of their old files."""
    slots = {
        slot: piece for piece in into.replaceable for slot in rules.list_slots(piece, piece.owner)
    }
    files: list[OldFile[O, P]] = []
    instead: dict[P, bytes] = {}
    brought: list[tuple[OldFile[O, P], P, P | None]] = []
    takers: dict[P, tuple[OldFile[O, P], P]] = {}
    for source in sorted({test.source for test in (*into.reverted.values(), *into.inserted)}):
        file = OldFile(rules, source, into)
        files.append(file)
        instead |= {at: rules.render(file, was, at) for at, was in file.targets.items()}
        for piece in file.list_needed_pieces():
            at = next((slots[slot] for slot in file.list_slots(piece) if slot in slots), None)
            if at is not None and not rules.can_replace(at, piece):
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
        mentions=frozenset().union(*(file.mentions for file in files)),
        names=frozenset(name for _, piece, _ in brought for name in piece.names),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour(Generic[P]):
    """A piece of the new file beside which an old one is put.

    before  None to put it behind; otherwise the old piece before which it stood
    """

    anchor: P
    before: P | None = None


def find_neighbour(
    piece: P,
    beside: Sequence[P],
    list_slots: Callable[[P], Collection[Hashable]],
    anchors: Mapping[Hashable, P],
) -> Neighbour[P] | None:
    """The nearest of the pieces around an old one that stands at new: first those above it.

    beside   the old piece and those among which it stood, in their order
    anchors  pieces of the new file by the places that they take
    """

    def find_anchor(other: P) -> P | None:
        return next((anchors[slot] for slot in list_slots(other) if slot in anchors), None)

    at = beside.index(piece)
    for other in reversed(beside[:at]):
        if (anchor := find_anchor(other)) is not None:
            return Neighbour(anchor=anchor)
    for other in beside[at + 1 :]:
        if (anchor := find_anchor(other)) is not None:
            return Neighbour(anchor=anchor, before=other)
    return None
