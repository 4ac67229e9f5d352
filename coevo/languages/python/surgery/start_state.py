"""The start file of a task: the test file at new with the target tests reverted or removed.

With a target goes what only targets use: imports, helpers, fixtures, variables, classes. What a
reverted target needs of its old file, and new no longer has, comes with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from coevo.languages.declarations import Member
from coevo.languages.python.reading.tests import is_fixture
from coevo.languages.python.surgery.cuts import cut
from coevo.languages.python.surgery.old_pieces import bring
from coevo.languages.python.surgery.old_places import add
from coevo.languages.python.surgery.pieces import PythonOutline
from coevo.languages.python.surgery.pieces import PythonPiece
from coevo.languages.python.surgery.pieces import inside
from coevo.languages.python.surgery.pieces import outline
from coevo.languages.python.surgery.pieces import with_outer
from coevo.languages.python.surgery.pieces import within_module
from coevo.languages.python.surgery.suites import emptied as emptied_by
from coevo.languages.reached import reached
from coevo.languages.reached import serving
from coevo.languages.surgery import Original
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.surgery import StartTarget
from coevo.languages.text_edits import TextEdits


def start_file(
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
    file = outline(new)
    found = {target: file.find(target.method, 'new') for target in targets}
    removed = [member for target, member in found.items() if target.original is None]
    if old is None and len(removed) == len(targets):
        return None
    emptied = _emptied(file, old, removed, used_elsewhere)
    plan = PythonCutPlan(file, emptied, found, used_elsewhere)
    while more := plan.left_empty():
        emptied = [*emptied, *more]
        plan = PythonCutPlan(file, emptied, found, used_elsewhere)
    start = plan.carry_out()
    check(file, PythonOutline(start), found)
    return start


def other_tests(file: PythonOutline, targets: Sequence[Member]) -> list[Member]:
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


def _emptied(
    file: PythonOutline,
    old: bytes | None,
    removed: Sequence[Member],
    used_elsewhere: AbstractSet[str],
) -> list[PythonPiece]:
    """The classes, new in a file, of which removing the targets would leave no test."""
    before = outline(old).types if old is not None else {}
    others = [member.start_byte for member in other_tests(file, removed)]
    found: list[PythonPiece] = []
    for type_ in file.file.types:
        piece = file.whole(type_)
        if (
            type_.name in with_outer(file, {member.owner for member in removed})
            and type_.name not in before
            and not any(type_.start_byte <= start < type_.end_byte for start in others)
            and type_.simple not in used_elsewhere | file.names_outside([piece.span])
            and not any(done.start <= piece.start < done.end for done in found)
        ):
            found.append(piece)
    return found


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
        inserted: Sequence[Original] = (),
    ) -> None:
        self.file = file
        self.inserted = inserted
        opened = with_outer(file, {member.owner for member in found.values()})
        for one in inserted:
            opened |= with_outer(outline(one.source), [within_module(one.method.test_class)])
        opened -= {name for piece in emptied for name in inside(file, piece)}
        self.opened = opened & file.types.keys()
        self.pieces = file.pieces(self.opened)
        at = {member.start_byte: target for target, member in found.items()}
        self.targets: dict[PythonPiece, StartTarget | None] = {
            piece: at[piece.members[0].start_byte]
            for piece in self.pieces
            if piece.members and piece.members[0].start_byte in at
        }
        gone = {piece.statement for piece in emptied}
        self.targets |= {piece: None for piece in self.pieces if piece.statement in gone}
        self.used_elsewhere = used_elsewhere
        self._tests = {member.start_byte for member in file.tests}

    def left_empty(self) -> list[PythonPiece]:
        """The classes of which nothing would be left; what they alone use goes with them."""
        if self._reverted() or self.inserted:
            return []
        gone = [piece for piece in self.pieces if piece in self._owned or piece in self.targets]
        found = emptied_by(
            self.file.root,
            [piece.statement for piece in gone if piece.kind != 'import'],
            lambda simple: self._may_be_empty(simple, gone, frozenset()),
        )
        opened = [self.file.whole(self.file.types[name]) for name in sorted(self.opened)]
        return [piece for piece in opened if piece.statement in found.statements]

    def carry_out(self) -> bytes:
        owned = self._owned
        left = [piece for piece in self.pieces if piece not in owned and piece not in self.targets]
        mine = [piece for piece in self.pieces if piece in owned]
        brought = bring(self.file, left, mine, self._reverted(), self.inserted)
        rest = [piece for piece in mine if piece not in brought.instead]
        kept = reached(brought.mentions, rest)
        edits = TextEdits(self.file.source)
        standing = [p for p in self.pieces if p in left or p in kept or p in brought.instead]
        for piece, text in brought.instead.items():
            edits.replace(piece.start, piece.end, text)
        gone = [piece for piece in self.pieces if piece not in standing]
        opened = {file.owner(piece) for file, piece in brought.additions}
        cut(edits, self.file, gone, lambda simple: self._may_be_empty(simple, gone, opened))
        for file, piece in brought.additions:
            add(edits, file, piece, standing)
        return edits.result()

    def _reverted(self) -> dict[PythonPiece, Original]:
        return {
            piece: target.original
            for piece, target in self.targets.items()
            if target is not None and target.original is not None
        }

    @cached_property
    def _owned(self) -> set[PythonPiece]:
        """What targets use, one through the other, and nothing that stays does."""
        free = [p for p in self.pieces if p not in self.targets and self._may_go(p)]
        covered = [p.span for p in (*free, *self.targets)]
        return serving(self.targets, free, self.file.names_outside(covered))

    def _may_go(self, piece: PythonPiece) -> bool:
        if piece.kind == 'import':
            assert piece.imported is not None
            return piece.names != ('*',) and piece.imported.module != '__future__'
        if not self.used_elsewhere.isdisjoint(piece.names) or piece.kind == 'initializer':
            return False
        if piece.kind == 'type':
            types = inside(self.file, piece)
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
        return simple not in self.used_elsewhere | self.file.names_outside(spans)


def check(file: PythonOutline, start: PythonOutline, found: Iterable[StartTarget]) -> None:
    """StartStateInvalid where a file made of another one is none, or is the same."""
    originals = [outline(t.original.source) for t in found if t.original is not None]
    faulty = any(not each.is_whole() for each in (file, *originals))
    if not start.is_whole() and not faulty:
        raise StartStateInvalid('the start file does not parse')
    twice = _doubles(start) - _doubles(file).union(*map(_doubles, originals))
    if twice:
        owner, name = min(twice)
        raise StartStateInvalid(f'{owner.lstrip("$") or "the module"} would declare {name} twice')
    if start.source == file.source:
        raise StartStateInvalid('the start file is the file at new')


def _doubles(file: PythonOutline) -> set[tuple[str, str]]:
    """Functions and classes that stand more than once in one place."""
    keys = Counter(
        (type_.name, member.name)
        for type_ in file.file.types
        for member in type_.members
        if member.kind == 'method'
    )
    keys.update((type_.outer, type_.simple) for type_ in file.file.types if type_.around)
    return {key for key, count in keys.items() if count > 1}
