"""The rules of Python by which tests are cut out of a file for a start state.

They choose the pieces that go with the tests, and handle the classes left empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set as AbstractSet

from coevo.languages.core.cut_plans import CutPlan, OldContent, SurgeryRules
from coevo.languages.core.outlines import Declared, list_type_names_in_piece
from coevo.languages.core.start_files import StartFileMaker
from coevo.languages.declarations import Member
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.reading.tests import is_run_by_framework
from coevo.languages.python.surgery.cuts import find_emptied_suites, remove_pieces
from coevo.languages.python.surgery.old_pieces import (
    PythonNeeds,
    Slot,
    add_piece,
    can_old_replace_new,
    drop_repeated_imports,
    find_test,
    is_same_import,
    list_taken_slots,
    render_at,
)
from coevo.languages.python.surgery.pieces import (
    PythonOutline,
    PythonPiece,
    make_outline,
    strip_module_name,
)
from coevo.languages.text_edits import TextEdits

PythonCutPlan = CutPlan[PythonOutline, PythonPiece]


def _list_methods_named_like_tests(
    file: PythonOutline, targets: Sequence[Declared]
) -> Iterator[Member]:
    """Yield the methods whose names begin with `test` in the classes of the targets."""
    owners = {declared.owner for declared in targets}
    for type_ in (type_ for type_ in file.file.types if type_.name in owners):
        for member in type_.members:
            if member.kind == 'method' and member.name.startswith('test'):
                yield member


def _may_be_removed(plan: PythonCutPlan, piece: PythonPiece) -> bool:
    if piece.kind == 'import':
        assert piece.imported is not None
        return piece.names != ('*',) and piece.imported.module != '__future__'
    if not plan.used_elsewhere.isdisjoint(piece.names) or piece.kind == 'initializer':
        return False
    if piece.kind == 'type':
        types = list_type_names_in_piece(plan.file, piece)
        return not any(member.owner in types for member in plan.file.tests)
    tests = {member.start_byte for member in plan.file.tests}
    return not any(
        is_run_by_framework(member) or member.start_byte in tests for member in piece.members
    )


def _list_emptied_classes(plan: PythonCutPlan) -> list[PythonPiece]:
    removed_pieces = [
        piece
        for piece in plan.pieces
        if piece in plan.pieces_only_targets_use or piece in plan.targets
    ]
    suites = find_emptied_suites(
        plan.file.root,
        [piece.statement for piece in removed_pieces if piece.kind != 'import'],
        lambda simple: _may_remove_emptied_class(plan, simple, removed_pieces, frozenset()),
    )
    opened = [plan.file.make_whole_piece(plan.file.types[name]) for name in sorted(plan.opened)]
    return [piece for piece in opened if piece.statement in suites.statements]


def _remove_pieces(
    edits: TextEdits,
    plan: PythonCutPlan,
    gone: Sequence[PythonPiece],
    brought: OldContent[PythonOutline, PythonPiece],
) -> None:
    filled = {file.translate_owner(piece) for file, piece in brought.additions}
    remove_pieces(
        edits, plan.file, gone, lambda simple: _may_remove_emptied_class(plan, simple, gone, filled)
    )


def _may_remove_emptied_class(
    plan: PythonCutPlan, simple: str, gone: Sequence[PythonPiece], filled: AbstractSet[str]
) -> bool:
    """Return whether a class may be removed once it is empty.

    It may if no remaining code names it and nothing is added to it.
    """
    opened = [plan.file.types[name] for name in plan.opened]
    named = [type_ for type_ in opened if type_.simple == simple]
    if not named or any(type_.name in filled for type_ in named):
        return False
    spans = [piece.span for piece in gone]
    spans += [(type_.start_byte, type_.end_byte) for type_ in named]
    return simple not in plan.used_elsewhere | plan.file.find_names_outside(spans)


def _list_duplicates(file: PythonOutline) -> set[Slot]:
    """Return the owner and name of each function or class that is declared more than once."""
    keys = Counter(
        (type_.name, member.name)
        for type_ in file.file.types
        for member in type_.members
        if member.kind == 'method'
    )
    keys.update((type_.enclosing_name, type_.simple) for type_ in file.file.types if type_.around)
    return {key for key, count in keys.items() if count > 1}


def _describe_duplicate(slot: Slot) -> str:
    owner, name = slot
    return f'{owner.lstrip("$") or "the module"} would declare {name} twice'


SURGERY: StartFileMaker[PythonOutline, PythonPiece] = StartFileMaker(
    SurgeryRules(
        parse=make_outline,
        parse_placed=parse,
        get_type_name=strip_module_name,
        list_lookalikes=_list_methods_named_like_tests,
        # Variables come along if an added function or class names them.
        stays_out=lambda member: member.kind == 'field' or is_run_by_framework(member),
        may_go=_may_be_removed,
        list_emptied_types=_list_emptied_classes,
        remove=_remove_pieces,
        list_opened=lambda file: file.renamed.keys(),
        find_test=find_test,
        make_needs=PythonNeeds,
        translate_owner=lambda file, piece: file.renamed.get(piece.owner, piece.owner),
        list_taken_slots=list_taken_slots,
        can_replace=can_old_replace_new,
        is_same=is_same_import,
        render=render_at,
        drop_repeated=drop_repeated_imports,
        add=add_piece,
        list_duplicates=_list_duplicates,
        describe_duplicate=_describe_duplicate,
    )
)
