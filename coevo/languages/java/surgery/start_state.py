"""Which pieces of a Java file go with tests, and where those of another version of it are put."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

from coevo.languages.core.cut_plans import CutPlan, CuttingRules
from coevo.languages.core.old_files import OldContent, find_neighbour
from coevo.languages.core.outlines import Declared, list_inner_types
from coevo.languages.core.start_files import StartFileMaker, TestRules
from coevo.languages.declarations import Member
from coevo.languages.java.reading.tests import is_fixture
from coevo.languages.java.surgery.old_pieces import BRINGING, OldJavaFile, list_slots
from coevo.languages.java.surgery.pieces import JavaOutline, JavaPiece, Key
from coevo.languages.text_edits import TextEdits, find_indentation

# A field with one of these is a helper of the tests that name it, no fixture of all of them.
_HELPER_ANNOTATIONS = frozenset({'Rule', 'TempDir', 'Captor', 'SuppressWarnings', 'Deprecated'})

JavaCutPlan = CutPlan[JavaOutline, JavaPiece]


def _list_lookalikes(file: JavaOutline, targets: Sequence[Declared]) -> Iterator[Member]:
    """Methods that are annotated as a target is, or named as tests were."""
    members = [member for type_ in file.file.types for member in type_.members]
    chosen = {declared.start_byte for declared in targets}
    marks = {name for m in members if m.start_byte in chosen for name in m.annotations}
    for member in members:
        is_named = member.name.startswith('test') and not member.parameters
        is_marked = not (marks - {'Override'}).isdisjoint(member.annotations)
        if member.kind == 'method' and (is_marked or is_named):
            yield member


def _may_go(plan: JavaCutPlan, piece: JavaPiece) -> bool:
    if piece.kind == 'import':
        return piece.names != ('*',)
    is_hidden = piece.private or plan.used_elsewhere.isdisjoint(piece.names)
    if piece.kind == 'type':
        types = list_inner_types(plan.file, piece)
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
        and not any(is_fixture(m) or m.start_byte in tests for m in piece.members)
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
    return {key for key, count in Counter(_list_keys(file)).items() if count > 1}


def _list_keys(file: JavaOutline) -> Iterator[Key]:
    for type_ in file.file.types:
        yield ('type', type_.outer, (type_.simple,), ())
        for member in type_.members:
            if member.kind != 'initializer':
                parameters = () if member.kind == 'field' else member.parameters
                yield member.kind, member.owner, (member.name,), parameters


def _describe_duplicate(key: Key) -> str:
    kind, owner, names, _ = key
    return f'{owner} would declare the {kind} {names[0]} twice'


# Where a piece that a start file brings from its old file is put: where it stood among others.


def _add_piece(
    edits: TextEdits, file: OldJavaFile, piece: JavaPiece, standing: Sequence[JavaPiece]
) -> None:
    """Insert a piece behind or before the nearest of its neighbours at old that stands at new."""
    anchors: dict[Hashable, JavaPiece] = {
        slot: other for other in standing for slot in list_slots(other, other.owner)
    }
    anchors |= {
        slot: at
        for at, was in file.targets.items()
        if at in standing
        for slot in file.list_slots(was)
    }
    beside = [other for other in file.pieces if _get_level(other) == _get_level(piece)]
    body = find_indentation(file.old.source, piece.start) + file.old.get_text(piece)
    neighbour = find_neighbour(piece, beside, file.list_slots, anchors)
    if neighbour is None:
        _insert_alone(edits, file, piece, body)
    elif neighbour.before is None:
        gap = b'\n' * (1 + _has_empty_line_above(file, piece))
        edits.insert(neighbour.anchor.end, gap + body)
    else:
        gap = b'\n' * (1 + _has_empty_line_above(file, neighbour.before))
        margin = len(find_indentation(file.new.source, neighbour.anchor.start))
        edits.insert(neighbour.anchor.start - margin, body + gap)


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
        brace = file.new.types[file.translate_owner(piece)].end_byte - 1
        margin = find_indentation(source, brace)
        alone = source[: brace - len(margin)].endswith(b'\n')
        edits.insert(brace - len(margin) if alone else brace, body + b'\n')


MAKER: StartFileMaker[JavaOutline, JavaPiece] = StartFileMaker(
    tests=TestRules(
        list_lookalikes=_list_lookalikes,
        stays_out=is_fixture,
        list_duplicates=_list_duplicates,
        describe_duplicate=_describe_duplicate,
        tolerates_old=False,
    ),
    cutting=CuttingRules(may_go=_may_go, remove=_remove_pieces, add=_add_piece),
    bringing=BRINGING,
)
