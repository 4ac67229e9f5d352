"""The start file of a task: the test file at new with the target tests reverted or removed.

With a target goes what only targets use: imports, helpers, fixtures, variables, classes. What a
reverted target needs of its old file, and new no longer has, comes with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from coevo.languages.declarations import Member
from coevo.languages.python.reading.tests import is_fixture
from coevo.languages.python.surgery.cuts import remove_pieces
from coevo.languages.python.surgery.old_pieces import collect_old_pieces
from coevo.languages.python.surgery.old_places import add_piece
from coevo.languages.python.surgery.pieces import (
    PythonOutline,
    PythonPiece,
    add_outer_types,
    list_inner_types,
    make_outline,
    strip_module_name,
)
from coevo.languages.python.surgery.suites import find_emptied_suites as emptied_by
from coevo.languages.reached import find_pieces_serving_only, find_reached_pieces
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
    member_by_target = {target: file.find_method(target.method, 'new') for target in targets}
    removed = [member for target, member in member_by_target.items() if target.original is None]
    if old is None and len(removed) == len(targets):
        return None
    emptied = _find_emptied_classes(file, old, removed, used_elsewhere)
    plan = PythonCutPlan(file, emptied, member_by_target, used_elsewhere)
    while more := plan.find_emptied_classes():
        emptied = [*emptied, *more]
        plan = PythonCutPlan(file, emptied, member_by_target, used_elsewhere)
    start = plan.apply()
    check_start_file(file, PythonOutline(start), member_by_target)
    return start


def find_other_tests(file: PythonOutline, targets: Sequence[Member]) -> list[Member]:
    """The tests of a file that are no targets; where this file alone tells none, what looks alike."""
    tests = {member.start_byte: member for member in file.tests}
    chosen = {member.start_byte for member in targets}
    if not chosen <= tests.keys():
        owners = {member.owner for member in targets}
        for type_ in (t for t in file.file.types if t.name in owners):
            for member in type_.members:
                if member.kind == 'method' and member.name.startswith('test'):
                    tests[member.start_byte] = member
    return [member for start, member in sorted(tests.items()) if start not in chosen]


def _find_emptied_classes(
    file: PythonOutline,
    old: bytes | None,
    removed: Sequence[Member],
    used_elsewhere: AbstractSet[str],
) -> list[PythonPiece]:
    """The classes, new in a file, of which removing the targets would leave no test."""
    before = make_outline(old).types if old is not None else {}
    others = [member.start_byte for member in find_other_tests(file, removed)]
    emptied_classes: list[PythonPiece] = []
    for type_ in file.file.types:
        piece = file.make_whole_piece(type_)
        if (
            type_.name in add_outer_types(file, {member.owner for member in removed})
            and type_.name not in before
            and not any(type_.start_byte <= start < type_.end_byte for start in others)
            and type_.simple not in used_elsewhere | file.find_names_outside([piece.span])
            and not any(done.start <= piece.start < done.end for done in emptied_classes)
        ):
            emptied_classes.append(piece)
    return emptied_classes


class PythonCutPlan:
    """What is removed from a file, what is put in its place, and what is added.

    inserted  tests of another version of the file that this one lacks
    """

    def __init__(
        self,
        file: PythonOutline,
        emptied: list[PythonPiece],
        found: dict[StartTarget, Member],
        used_elsewhere: AbstractSet[str],
        inserted: Sequence[OriginalTest] = (),
    ) -> None:
        self.file = file
        self.inserted = inserted
        opened = add_outer_types(file, {member.owner for member in found.values()})
        for original in inserted:
            opened |= add_outer_types(
                make_outline(original.source), [strip_module_name(original.method.test_class)]
            )
        opened -= {name for piece in emptied for name in list_inner_types(file, piece)}
        self.opened = opened & file.types.keys()
        self.pieces = file.list_pieces(self.opened)
        at = {member.start_byte: target for target, member in found.items()}
        self.targets: dict[PythonPiece, StartTarget | None] = {
            piece: at[piece.members[0].start_byte]
            for piece in self.pieces
            if piece.members and piece.members[0].start_byte in at
        }
        emptied_statements = {piece.statement for piece in emptied}
        self.targets |= {
            piece: None for piece in self.pieces if piece.statement in emptied_statements
        }
        self.used_elsewhere = used_elsewhere
        self._tests = {member.start_byte for member in file.tests}

    def find_emptied_classes(self) -> list[PythonPiece]:
        """The classes of which nothing would be left; what they alone use goes with them."""
        if self._list_reverted() or self.inserted:
            return []
        removed_pieces = [
            piece for piece in self.pieces if piece in self._owned_pieces or piece in self.targets
        ]
        emptied_suites = emptied_by(
            self.file.root,
            [piece.statement for piece in removed_pieces if piece.kind != 'import'],
            lambda simple: self._may_be_empty(simple, removed_pieces, frozenset()),
        )
        opened = [self.file.make_whole_piece(self.file.types[name]) for name in sorted(self.opened)]
        return [piece for piece in opened if piece.statement in emptied_suites.statements]

    def apply(self) -> bytes:
        owned = self._owned_pieces
        left = [piece for piece in self.pieces if piece not in owned and piece not in self.targets]
        mine = [piece for piece in self.pieces if piece in owned]
        brought = collect_old_pieces(self.file, left, mine, self._list_reverted(), self.inserted)
        rest = [piece for piece in mine if piece not in brought.instead]
        remaining = find_reached_pieces(brought.mentions, rest)
        edits = TextEdits(self.file.source)
        standing = [p for p in self.pieces if p in left or p in remaining or p in brought.instead]
        for piece, text in brought.instead.items():
            edits.replace(piece.start, piece.end, text)
        removed_pieces = [piece for piece in self.pieces if piece not in standing]
        opened = {file.get_new_owner(piece) for file, piece in brought.additions}
        remove_pieces(
            edits,
            self.file,
            removed_pieces,
            lambda simple: self._may_be_empty(simple, removed_pieces, opened),
        )
        for file, piece in brought.additions:
            add_piece(edits, file, piece, standing)
        return edits.apply_edits()

    def _list_reverted(self) -> dict[PythonPiece, OriginalTest]:
        return {
            piece: target.original
            for piece, target in self.targets.items()
            if target is not None and target.original is not None
        }

    @cached_property
    def _owned_pieces(self) -> set[PythonPiece]:
        """What targets use, one through the other, and nothing that stays does."""
        free = [p for p in self.pieces if p not in self.targets and self._may_go(p)]
        covered = [p.span for p in (*free, *self.targets)]
        return find_pieces_serving_only(self.targets, free, self.file.find_names_outside(covered))

    def _may_go(self, piece: PythonPiece) -> bool:
        if piece.kind == 'import':
            assert piece.imported is not None
            return piece.names != ('*',) and piece.imported.module != '__future__'
        if not self.used_elsewhere.isdisjoint(piece.names) or piece.kind == 'initializer':
            return False
        if piece.kind == 'type':
            types = list_inner_types(self.file, piece)
            return not any(member.owner in types for member in self.file.tests)
        return not any(
            is_fixture(member) or member.start_byte in self._tests for member in piece.members
        )

    def _may_be_empty(
        self, simple: str, gone: Sequence[PythonPiece], filled: AbstractSet[str]
    ) -> bool:
        """Whether a class may go once it is empty: nothing that stays names it or comes into it."""
        named = [type_ for name in self.opened if (type_ := self.file.types[name]).simple == simple]
        if not named or any(type_.name in filled for type_ in named):
            return False
        spans = [piece.span for piece in gone]
        spans += [(type_.start_byte, type_.end_byte) for type_ in named]
        return simple not in self.used_elsewhere | self.file.find_names_outside(spans)


def check_start_file(
    file: PythonOutline, start: PythonOutline, found: Iterable[StartTarget]
) -> None:
    """StartStateInvalid where a file made of another one is none, or is the same."""
    originals = [make_outline(t.original.source) for t in found if t.original is not None]
    faulty = any(not each.is_well_formed() for each in (file, *originals))
    if not start.is_well_formed() and not faulty:
        raise StartStateInvalid('the start file does not parse')
    twice = _find_duplicates(start) - _find_duplicates(file).union(
        *map(_find_duplicates, originals)
    )
    if twice:
        owner, name = min(twice)
        raise StartStateInvalid(f'{owner.lstrip("$") or "the module"} would declare {name} twice')
    if start.source == file.source:
        raise StartStateInvalid('the start file is the file at new')


def _find_duplicates(file: PythonOutline) -> set[tuple[str, str]]:
    """Functions and classes that stand more than once in one place."""
    keys = Counter(
        (type_.name, member.name)
        for type_ in file.file.types
        for member in type_.members
        if member.kind == 'method'
    )
    keys.update((type_.outer, type_.simple) for type_ in file.file.types if type_.around)
    return {key for key, count in keys.items() if count > 1}
