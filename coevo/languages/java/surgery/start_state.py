"""The start file of a task: the test file at new with the target methods reverted or removed.

With a target goes what only targets use: imports, helper methods, fields, nested types. What a
reverted target needs of its old file, and new no longer has, comes with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.declarations import Member
from coevo.languages.java.reading.tests import is_fixture
from coevo.languages.java.surgery.old_pieces import OldJavaFile, collect_old_content, parse_outline
from coevo.languages.java.surgery.pieces import JavaOutline, JavaPiece, Key, list_inner_types
from coevo.languages.reached import find_pieces_serving_only, find_reached_pieces
from coevo.languages.surgery import OriginalTest, StartStateInvalid, StartTarget
from coevo.languages.text_edits import TextEdits, find_indentation
from coevo.model.records import TestMethod

# A field with one of these is a helper of the tests that name it, no fixture of all of them.
_HELPER_ANNOTATIONS = frozenset({'Rule', 'TempDir', 'Captor', 'SuppressWarnings', 'Deprecated'})


def make_start_file(
    new: bytes,
    old: bytes | None,
    targets: Sequence[StartTarget],
    *,
    used_elsewhere: AbstractSet[str] = frozenset(),
) -> bytes | None:
    """The start file; None if the file is absent at the start, as one that is new always is.

    new, old        the test file at both revisions, old None where it does not exist
    used_elsewhere  names by which other files may use members and types of this one that are not
                    private; those stay
    """
    file = JavaOutline(new)
    members_by_target = {target: find_declaration(file, target.method) for target in targets}
    removed = [member for target, member in members_by_target.items() if target.original is None]
    if old is None and len(removed) == len(targets):
        return None
    plan = JavaCutPlan(
        file,
        _find_emptied_types(file, old, removed, used_elsewhere),
        members_by_target,
        used_elsewhere,
    )
    start = plan.apply_cuts()
    check_start_file(file, JavaOutline(start), members_by_target)
    return start


def find_declaration(file: JavaOutline, method: TestMethod) -> Member:
    """The declaration of a test method."""
    type_ = file.types.get(method.test_class)
    for member in type_.members if type_ else ():
        if member.kind == 'method' and _get_identity(member) == _get_wanted_identity(method):
            return member
    raise StartStateInvalid(f'{method.test_class}#{method.test_method} is not in the file at new')


def _get_identity(member: Member) -> tuple[str, tuple[str, ...]]:
    return member.name, member.parameters


def _get_wanted_identity(method: TestMethod) -> tuple[str, tuple[str, ...]]:
    return method.test_method, method.parameters


def find_other_tests(file: JavaOutline, targets: Sequence[Member]) -> list[Member]:
    """The tests of a file that are no targets; where this file alone tells none, what looks alike."""
    tests = {member.start_byte: member for member in file.list_tests()}
    chosen = {member.start_byte for member in targets}
    if not chosen <= tests.keys():
        marks = {name for member in targets for name in member.annotations} - {'Override'}
        for member in (m for type_ in file.file.types for m in type_.members if m.kind == 'method'):
            if marks & set(member.annotations) or (
                member.name.startswith('test') and not member.parameters
            ):
                tests[member.start_byte] = member
    return [member for start, member in sorted(tests.items()) if start not in chosen]


def _find_emptied_types(
    file: JavaOutline,
    old: bytes | None,
    removed: Sequence[Member],
    used_elsewhere: AbstractSet[str],
) -> list[JavaPiece]:
    """The types, new in a file, of which removing the targets would leave no test."""
    before = parse_outline(old).types if old is not None else {}
    others = [member.start_byte for member in find_other_tests(file, removed)]
    owners = {member.owner for member in removed}
    emptied_types: list[JavaPiece] = []
    for type_ in file.file.types:
        piece = file.make_whole_type(type_)
        if (
            type_.name in _add_outer_types(file, owners)
            and type_.name not in before
            and len([t for t in file.types.values() if not t.outer]) > (not type_.outer)
            and not any(type_.start_byte <= start < type_.end_byte for start in others)
            and type_.simple not in used_elsewhere | file.find_names_outside([piece.span])
            and not any(done.start <= piece.start < done.end for done in emptied_types)
        ):
            emptied_types.append(piece)
    return emptied_types


class JavaCutPlan:
    """What is removed from a file, what is put in its place, and what is added.

    inserted  tests of another version of the file that this one lacks
    """

    def __init__(
        self,
        file: JavaOutline,
        emptied: list[JavaPiece],
        found: dict[StartTarget, Member],
        used_elsewhere: AbstractSet[str],
        inserted: Sequence[OriginalTest] = (),
    ) -> None:
        self.file = file
        self.inserted = inserted
        opened = _add_outer_types(file, {member.owner for member in found.values()})
        opened |= {
            t
            for i in inserted
            for t in _add_outer_types(parse_outline(i.source), [i.method.test_class])
        }
        opened -= {t for piece in emptied for t in list_inner_types(file, piece)}
        self.pieces = file.list_pieces(opened)
        at = {member.start_byte: target for target, member in found.items()}
        self.targets: dict[JavaPiece, StartTarget | None] = {
            piece: at[piece.members[0].start_byte]
            for piece in self.pieces
            if piece.members and piece.members[0].start_byte in at
        }
        emptied_keys = {piece.key for piece in emptied}
        self.targets |= {piece: None for piece in self.pieces if piece.key in emptied_keys}
        self.opened = opened
        self.used_elsewhere = used_elsewhere

    def apply_cuts(self) -> bytes:
        owned = self._find_owned_pieces()
        left = [piece for piece in self.pieces if piece not in owned and piece not in self.targets]
        mine = [p for p in self.pieces if p in owned]
        brought = collect_old_content(
            self.file, left, mine, self._map_reverted_pieces(), self.inserted
        )
        rest = [piece for piece in self.pieces if piece in owned and piece not in brought.instead]
        reached_pieces = find_reached_pieces(brought.mentions, rest)
        edits, standing = TextEdits(self.file.source), []
        for piece in self.pieces:
            text = brought.instead.get(piece)
            if text is not None:
                edits.replace(piece.start, piece.end, text)
            elif piece not in left and piece not in reached_pieces:
                edits.cut_span(piece.start, piece.end)
                continue
            standing.append(piece)
        for file, piece in brought.additions:
            insert_beside_neighbour(edits, file, piece, standing)
        return edits.apply_edits()

    def _map_reverted_pieces(self) -> dict[JavaPiece, OriginalTest]:
        return {
            piece: target.original
            for piece, target in self.targets.items()
            if target is not None and target.original is not None
        }

    def _find_owned_pieces(self) -> set[JavaPiece]:
        """What targets use, one through the other, and nothing that stays does."""
        free = [p for p in self.pieces if p not in self.targets and self._can_be_removed(p)]
        covered = [p.span for p in (*free, *self.targets)]
        return find_pieces_serving_only(self.targets, free, self.file.find_names_outside(covered))

    def _can_be_removed(self, piece: JavaPiece) -> bool:
        if piece.kind == 'import':
            return piece.names != ('*',)
        if piece.kind == 'type':
            types = list_inner_types(self.file, piece)
            tested = any(member.owner in types for member in self.file.list_tests())
            return not tested and bool(piece.owner) and self._is_hidden(piece)
        if piece.kind not in ('method', 'field') or piece.owner not in self.opened:
            return False
        annotations = {name for member in piece.members for name in member.annotations}
        if piece.kind == 'field':
            return annotations <= _HELPER_ANNOTATIONS and self._is_hidden(piece)
        tests = {member.start_byte for member in self.file.list_tests()}
        return (
            self._is_hidden(piece)
            and 'Override' not in annotations
            and not any(is_fixture(m) or m.start_byte in tests for m in piece.members)
        )

    def _is_hidden(self, piece: JavaPiece) -> bool:
        return piece.private or self.used_elsewhere.isdisjoint(piece.names)


def _add_outer_types(file: JavaOutline, names: Iterable[str]) -> set[str]:
    all_names = set()
    for name in names:
        while name:
            all_names.add(name)
            name = file.find_outer(name)
    return all_names


def check_start_file(file: JavaOutline, start: JavaOutline, found: Iterable[StartTarget]) -> None:
    """StartStateInvalid where a file made of another one is none, or is the same."""
    faulty = file.file.has_error or any(
        target.original is not None and parse_outline(target.original.source).file.has_error
        for target in found
    )
    if start.file.has_error and not faulty:
        raise StartStateInvalid('the start file does not parse')
    twice = _find_duplicate_keys(start) - _find_duplicate_keys(file)
    if twice:
        kind, owner, names, _ = min(twice)
        raise StartStateInvalid(f'{owner} would declare the {kind} {names[0]} twice')
    if start.source == file.source:
        raise StartStateInvalid('the start file is the file at new')


def _find_duplicate_keys(file: JavaOutline) -> set[Key]:
    keys = Counter(_list_keys(file))
    return {key for key, count in keys.items() if count > 1}


def _list_keys(file: JavaOutline) -> Iterator[Key]:
    for type_ in file.file.types:
        yield ('type', type_.outer, (type_.simple,), ())
        for member in type_.members:
            if member.kind != 'initializer':
                parameters = () if member.kind == 'field' else member.parameters
                yield member.kind, member.owner, (member.name,), parameters


# Where a piece that a start file brings from its old file is put: where it stood among others.


def insert_beside_neighbour(
    edits: TextEdits, file: OldJavaFile, piece: JavaPiece, standing: Sequence[JavaPiece]
) -> None:
    """Insert a piece behind or before the nearest of its neighbours at old that stands at new."""
    slots = {file.get_slot(other): other for other in standing}
    slots |= {file.get_slot_at_new(was): at for at, was in file.targets.items() if at in standing}
    beside = [p for p in file.pieces if _get_level(p) == _get_level(piece)]
    at = beside.index(piece)
    body = find_indentation(file.old.source, piece.start) + file.old.get_text(piece)
    for other in reversed(beside[:at]):
        if anchor := slots.get(file.get_slot_at_new(other)):
            edits.insert(anchor.end, b'\n' * (1 + _has_empty_line_above(file, piece)) + body)
            return
    for other in beside[at + 1 :]:
        if anchor := slots.get(file.get_slot_at_new(other)):
            margin = len(find_indentation(file.new.source, anchor.start))
            edits.insert(
                anchor.start - margin, body + b'\n' * (1 + _has_empty_line_above(file, other))
            )
            return
    _insert_alone(edits, file, piece, body)


def _get_level(piece: JavaPiece) -> tuple[bool, str]:
    return piece.kind == 'import', '' if piece.kind == 'import' else piece.owner


def _has_empty_line_above(file: OldJavaFile, piece: JavaPiece) -> bool:
    """Whether an empty line stands above a piece at old."""
    above = file.old.source[: piece.start].rstrip(b' \t').replace(b'\r', b'')
    return above.endswith(b'\n\n')


def _insert_alone(edits: TextEdits, file: OldJavaFile, piece: JavaPiece, body: bytes) -> None:
    """Without a neighbour: behind the imports, at the end of the file, or of the type around it."""
    source = file.new.source
    if piece.kind == 'import':
        at = max((i.end_byte for i in file.new.file.imports), default=file.new.package_end)
        edits.insert(at, b'\n' + body if at else body + b'\n')
    elif not piece.owner:
        edits.insert(len(source.rstrip()), b'\n\n' + body)
    else:
        brace = file.new.types[file.translate_name(piece.owner)].end_byte - 1
        margin = find_indentation(source, brace)
        alone = source[: brace - len(margin)].endswith(b'\n')
        edits.insert(brace - len(margin) if alone else brace, body + b'\n')
