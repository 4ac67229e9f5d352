"""Choose the pieces of a Java file to remove with tests, and the old pieces to add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence, Set as AbstractSet

from coevo.languages.core.cut_plans import (
    CutPlan,
    OldContent,
    OldFile,
    SurgeryRules,
    find_new_and_old_neighbour,
)
from coevo.languages.core.outlines import (
    Declared,
    get_enclosing_type_name,
    list_type_names_in_piece,
)
from coevo.languages.core.start_files import StartFileMaker
from coevo.languages.declarations import Member
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.tests import is_run_by_framework
from coevo.languages.java.surgery.pieces import JavaOutline, JavaPiece, Key, make_outline
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.text_edits import TextEdits, find_indentation
from coevo.model.records import TestMethod

# Names that need no import; no wildcard import is added because of them.
_EVERYWHERE = frozenset(
    [
        'Object',
        'String',
        'Integer',
        'Long',
        'Double',
        'Boolean',
        'Character',
        'Exception',
        'RuntimeException',
        'Throwable',
        'Error',
        'IllegalArgumentException',
        'IllegalStateException',
        'NullPointerException',
        'Override',
        'System',
        'Math',
        'Class',
        'Thread',
        'Iterable',
        'StringBuilder',
        'SuppressWarnings',
        'Number',
    ]
)

JavaCutPlan = CutPlan[JavaOutline, JavaPiece]
OldJavaFile = OldFile[JavaOutline, JavaPiece]


class JavaNeeds:
    """Decides which pieces of the old file a start file needs beside the added tests.

    Implements `coevo.languages.core.cut_plans.NeedsFinder`.
    """

    def __init__(self, file: OldJavaFile) -> None:
        self._file = file
        self._left = file.plan.pieces_sure_to_stay
        self._known = {
            *(_get_slot(piece) for piece in self._left),
            *self._list_slots_inside_types(),
        }

    def may_be_added(self, piece: JavaPiece) -> bool:
        """Return whether a piece of the old file may be added to the new file.

        Wildcard imports, initialisers and constructors of the test classes may not, nor a piece
        that the new file has already, itself or by a wildcard import.
        """
        return (
            piece.names != ('*',)
            and piece.kind != 'initializer'
            and not (piece.kind == 'constructor' and piece.owner in self._file.renamed)
            and self._known.isdisjoint(self._file.list_taken_slots(piece))
            and not self._is_covered_by_wildcard(piece)
        )

    def list_needed(
        self, free: Sequence[JavaPiece], brought: AbstractSet[JavaPiece]
    ) -> Iterator[JavaPiece]:
        """Yield those pieces in `free` that the pieces in `brought`, which are added, refer to.

        Set-up methods that use an added field are needed, too.
        """
        uses = frozenset().union(*(piece.uses for piece in brought))
        fields = {name for p in brought if p.kind == 'field' for name in p.names}
        for piece in free:
            names = uses if self._is_outside_test_classes(piece) else self._file.mentions
            is_named = not names.isdisjoint(piece.names)
            if is_named or (_is_set_up_method(piece) and not fields.isdisjoint(piece.uses)):
                yield piece

    def list_wildcard_imports(self, brought: AbstractSet[JavaPiece]) -> list[JavaPiece]:
        """Return the old file's wildcard imports that may provide a name of unknown origin.

        Imports that the new file has already are left out. An import of types needs a name with a
        capital letter.
        """
        file = self._file
        explained = _EVERYWHERE | file.new.find_names_outside(file.plan.replaceable_spans)
        explained |= {name for piece in (*self._left, *brought) for name in piece.names}
        names = file.mentions - explained
        lacking = {piece.key for piece in self._left}
        return [
            piece
            for piece in file.pieces
            if piece.names == ('*',)
            and piece.key not in lacking
            and any(piece.owner == 'static' or name[:1].isupper() for name in names)
        ]

    def _is_outside_test_classes(self, piece: JavaPiece) -> bool:
        """Return whether a piece is a member of a type other than the test classes.

        Such a member is used by a qualified name.
        """
        return piece.kind not in ('import', 'type') and piece.owner not in self._file.renamed

    def _list_slots_inside_types(self) -> Iterator[Key]:
        """Yield the slots of all declarations inside types that the new file keeps as a whole."""
        new = self._file.new
        whole = (piece for piece in self._left if piece.kind == 'type')
        for name in sorted(
            {name for piece in whole for name in list_type_names_in_piece(new, piece)}
        ):
            type_ = new.types[name]
            yield 'type', type_.enclosing_name, (type_.simple,), ()
            yield from (_get_slot(piece) for piece in new.list_members(type_))

    def _is_covered_by_wildcard(self, piece: JavaPiece) -> bool:
        """Return whether a wildcard import kept in the new file covers an old file's import."""
        if piece.imported is None:
            return False
        package = piece.imported.text.rpartition('.')[0]
        return any(
            other.imported is not None
            and other.names == ('*',)
            and other.owner == piece.owner
            and other.imported.text == package
            for other in self._left
        )


def _list_types_in_both_files(file: OldJavaFile) -> set[str]:
    """Return the types of the old file that the new file still has after the cut."""
    left = file.plan.pieces_sure_to_stay
    standing = {piece.owner for piece in left if piece.kind != 'import'}
    standing |= set(file.renamed.values())
    for piece in left:
        if piece.kind == 'type':
            standing.update(list_type_names_in_piece(file.new, piece))
    return {name for name in file.old.types if translate_name(file, name) in standing}


def translate_name(file: OldJavaFile, name: str) -> str:
    """Return the binary name in the new file of a type of the old one, which may be missing there.

    It differs if a test class was renamed or the file has another package.
    """
    if name in file.renamed:
        return file.renamed[name]
    simple = file.old.types[name].simple
    if around := get_enclosing_type_name(file.old, name):
        return f'{translate_name(file, around)}${simple}'
    package = file.new.file.package
    return f'{package}.{simple}' if package else simple


def _translate_owner(file: OldJavaFile, piece: JavaPiece) -> str:
    return piece.owner if piece.kind == 'import' else translate_name(file, piece.owner)


def _find_test(file: OldJavaFile, method: TestMethod) -> JavaPiece:
    """Return the piece of a test or helper.

    Raises: StartStateInvalid if the old file does not declare it.
    """
    for piece in file.pieces:
        if (
            piece.kind in ('method', 'field')
            and piece.owner == method.test_class
            and method.test_method in piece.names
            and piece.parameters == method.parameters
        ):
            return piece
    raise StartStateInvalid(f'{method.test_class}#{method.test_method} is not in the file at old')


def list_taken_slots(piece: JavaPiece, owner: str) -> list[Key]:
    """Return the slots that a piece would take in a type `owner`; a slot can be taken only once.

    Two imports of one simple name take the same slot.
    """
    is_named_import = piece.kind == 'import' and piece.names != ('*',)
    return [(piece.kind, owner, piece.names, () if is_named_import else piece.parameters)]


def _get_slot(piece: JavaPiece) -> Key:
    (slot,) = list_taken_slots(piece, piece.owner)
    return slot


def _is_set_up_method(piece: JavaPiece) -> bool:
    return piece.kind == 'method' and any(is_run_by_framework(member) for member in piece.members)


# A field with only these annotations is a helper of the tests that use it, not a fixture of all
# tests.
_HELPER_ANNOTATIONS = frozenset({'Rule', 'TempDir', 'Captor', 'SuppressWarnings', 'Deprecated'})


def _list_possible_tests(file: JavaOutline, targets: Sequence[Declared]) -> Iterator[Member]:
    """Yield the methods that may be tests: named `test…`, or with an annotation of a target."""
    members = [member for type_ in file.file.types for member in type_.members]
    chosen = {declared.start_byte for declared in targets}
    marks = {name for m in members if m.start_byte in chosen for name in m.annotations}
    for member in members:
        is_named = member.name.startswith('test') and not member.parameters
        is_marked = not (marks - {'Override'}).isdisjoint(member.annotations)
        if member.kind == 'method' and (is_marked or is_named):
            yield member


def _may_be_removed(plan: JavaCutPlan, piece: JavaPiece) -> bool:
    if piece.kind == 'import':
        return piece.names != ('*',)
    is_hidden = piece.private or plan.used_elsewhere.isdisjoint(piece.names)
    if piece.kind == 'type':
        types = list_type_names_in_piece(plan.file, piece)
        is_tested = any(member.owner in types for member in plan.file.tests)
        return not is_tested and bool(piece.owner) and is_hidden
    if piece.kind not in ('method', 'field') or piece.owner not in plan.opened:
        return False
    annotations = {name for member in piece.members for name in member.annotations}
    if piece.kind == 'field':
        return annotations <= _HELPER_ANNOTATIONS and is_hidden
    tests = {member.start_byte for member in plan.file.tests}
    return (
        is_hidden
        and 'Override' not in annotations
        and not any(is_run_by_framework(m) or m.start_byte in tests for m in piece.members)
    )


def _remove_pieces(
    edits: TextEdits,
    plan: JavaCutPlan,
    gone: Iterable[JavaPiece],
    brought: OldContent[JavaOutline, JavaPiece],
) -> None:
    for piece in gone:
        edits.cut_span(piece.start, piece.end)


def _list_duplicates(file: JavaOutline) -> set[Key]:
    return {key for key, count in Counter(_list_declaration_keys(file)).items() if count > 1}


def _list_declaration_keys(file: JavaOutline) -> Iterator[Key]:
    for type_ in file.file.types:
        yield ('type', type_.enclosing_name, (type_.simple,), ())
        for member in type_.members:
            if member.kind != 'initializer':
                parameters = () if member.kind == 'field' else member.parameters
                yield member.kind, member.owner, (member.name,), parameters


def _describe_duplicate(key: Key) -> str:
    kind, owner, names, _ = key
    return f'{owner} would declare the {kind} {names[0]} twice'


# Insert a piece of the old file at the corresponding position of the start file.


def _add_piece(
    edits: TextEdits, file: OldJavaFile, piece: JavaPiece, standing: Sequence[JavaPiece]
) -> None:
    """Insert a piece of the old file into the new one, beside a neighbour that both files have.

    The neighbour is the nearest one in the old file. Without one, see `_insert_without_neighbour`.
    """
    anchors: dict[Hashable, JavaPiece] = {
        slot: other for other in standing for slot in list_taken_slots(other, other.owner)
    }
    anchors |= {
        slot: at
        for at, was in file.targets.items()
        if at in standing
        for slot in file.list_taken_slots(was)
    }
    beside = [other for other in file.pieces if _get_container(other) == _get_container(piece)]
    body = find_indentation(file.old.source, piece.start) + file.old.get_text(piece)
    neighbour = find_new_and_old_neighbour(piece, beside, file.list_taken_slots, anchors)
    if neighbour is None:
        _insert_without_neighbour(edits, file, piece, body)
        return
    anchor, before = neighbour
    if before is None:
        gap = b'\n' * (1 + _has_empty_line_above(file, piece))
        edits.insert(anchor.end, gap + body)
    else:
        gap = b'\n' * (1 + _has_empty_line_above(file, before))
        margin = len(find_indentation(file.new.source, anchor.start))
        edits.insert(anchor.start - margin, body + gap)


def _get_container(piece: JavaPiece) -> tuple[bool, str]:
    return piece.kind == 'import', '' if piece.kind == 'import' else piece.owner


def _has_empty_line_above(file: OldJavaFile, piece: JavaPiece) -> bool:
    """Return whether the old file has an empty line above a piece."""
    above = file.old.source[: piece.start].rstrip(b' \t').replace(b'\r', b'')
    return above.endswith(b'\n\n')


def _insert_without_neighbour(
    edits: TextEdits, file: OldJavaFile, piece: JavaPiece, body: bytes
) -> None:
    """Insert a piece without a neighbour after the imports or at the end of its type or file."""
    source = file.new.source
    if piece.kind == 'import':
        at = max((i.end_byte for i in file.new.file.imports), default=file.new.package_end)
        edits.insert(at, b'\n' + body if at else body + b'\n')
    elif not piece.owner:
        edits.insert(len(source.rstrip()), b'\n\n' + body)
    else:
        brace = file.new.types[file.translate_owner(piece)].end_byte - 1
        margin = find_indentation(source, brace)
        alone = source[: brace - len(margin)].endswith(b'\n')
        edits.insert(brace - len(margin) if alone else brace, body + b'\n')


SURGERY: StartFileMaker[JavaOutline, JavaPiece] = StartFileMaker(
    SurgeryRules(
        parse=make_outline,
        parse_placed=lambda source, path: parse(source),
        get_type_name=lambda name: name,
        list_lookalikes=_list_possible_tests,
        stays_out=is_run_by_framework,
        may_go=_may_be_removed,
        remove=_remove_pieces,
        list_opened=_list_types_in_both_files,
        find_test=_find_test,
        make_needs=JavaNeeds,
        translate_owner=_translate_owner,
        list_taken_slots=list_taken_slots,
        render=lambda file, piece, at: file.old.get_text(piece),
        add=_add_piece,
        list_duplicates=_list_duplicates,
        describe_duplicate=_describe_duplicate,
        tolerates_old=False,
    )
)
