"""Whether changed declarations are only refactored (TestEvo-Bench, 3.2: "non-refactoring changes").

One that stands at both ends is if it is equal after renaming, with what was extracted from it or
inlined into it in place of the calls. One that stands at one end is if a refactoring says where it came
from or went to, and that is the same. That a refactoring is listed proves nothing: 'Rename Method'
is also said of a method that was edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from coevo.languages.refactorings import (
    Refactoring,
    RefactoringLocation,
    Refactorings,
    RefactoringStatus,
)
from coevo.languages.table import get_reading_of_file
from miners.diffs.declarations import Declaration, have_same_tokens, make_type_rest
from miners.diffs.renaming import CLASSES, find_ends, is_renamed_only
from miners.diffs.transfers import Transfer, is_same_after_undoing, list_transfers, make_declaration

__all__ = [
    'Declaration',
    'Ends',
    'are_all_only_refactored',
    'is_only_refactored',
    'have_same_tokens',
]

Ends = tuple[Declaration | None, Declaration | None]
"""A declaration at old and at new; None where it does not stand."""

_Known = Sequence[Refactoring]


def are_all_only_refactored(refactorings: Refactorings, changed: Iterable[Ends]) -> bool | None:
    """Whether all of some changed declarations are only refactored; False if there are none.

    None if it is unknown of one and no other is known to be more than refactored.
    """
    verdicts = [is_only_refactored(refactorings, old, new) for old, new in changed]
    if False in verdicts or not verdicts:
        return False
    return None if None in verdicts else True


def is_only_refactored(
    refactorings: Refactorings, old: Declaration | None, new: Declaration | None
) -> bool | None:
    """Whether a declaration is only refactored between two revisions; None if that is unknown."""
    if old is not None and new is not None and have_same_tokens(old, new):
        return True
    if refactorings.status is not RefactoringStatus.FOUND:
        return None
    listed_refactorings = refactorings.refactorings
    if old is not None and new is not None:
        return _has_changed_by_refactoring(listed_refactorings, old, new)
    if new is not None:
        return _has_appeared_by_refactoring(listed_refactorings, new)
    return old is not None and _has_vanished_by_refactoring(listed_refactorings, old)


# -- at both ends ------------------------------------------------------------------------------


def _has_changed_by_refactoring(found: _Known, old: Declaration, new: Declaration) -> bool:
    if is_renamed_only(found, old, new):
        return True
    transfers = [
        each
        for each in list_transfers(found)
        if _is_same_code(each.old, old) and _is_same_code(each.new, new)
    ]
    return bool(transfers) and is_same_after_undoing(transfers, found)


# -- at one end --------------------------------------------------------------------------------


def _has_appeared_by_refactoring(found: _Known, new: Declaration) -> bool:
    if any(
        is_renamed_only(found, old, new)
        for refactoring in found
        for old in _list_origins(refactoring, new)
    ):
        return True
    extractions = [
        each for each in list_transfers(found) if each.extracted and _is_same_code(each.other, new)
    ]
    return bool(extractions) and all(_is_only_transferred(each, found) for each in extractions)


def _has_vanished_by_refactoring(found: _Known, old: Declaration) -> bool:
    if any(
        is_renamed_only(found, old, new)
        for refactoring in found
        for new in _list_destinations(refactoring, old)
    ):
        return True
    inlinings = [
        each
        for each in list_transfers(found)
        if not each.extracted and _is_same_code(each.other, old)
    ]
    return bool(inlinings) and all(_is_only_transferred(each, found) for each in inlinings)


def _is_only_transferred(one: Transfer, found: _Known) -> bool:
    """Whether nothing but transfers happened to the method that one of them is of."""
    same = [each for each in list_transfers(found) if (each.old, each.new) == (one.old, one.new)]
    return is_same_after_undoing(same, found)


def _list_origins(one: Refactoring, new: Declaration) -> Iterator[Declaration]:
    end = find_ends(one)
    if end is not None:
        yield from _find_opposite(one, end[1], end[0], new)


def _list_destinations(one: Refactoring, old: Declaration) -> Iterator[Declaration]:
    end = find_ends(one)
    if end is not None:
        yield from _find_opposite(one, end[0], end[1], old)


def _find_opposite(
    one: Refactoring, near: RefactoringLocation, far: RefactoringLocation, declaration: Declaration
) -> Iterator[Declaration]:
    """What a declaration may be at the other end: the same refactored, or a member of its class."""
    if _is_same_code(near, declaration):
        yield make_declaration(far)
    elif one.type in CLASSES and _contains_declaration(near, declaration):
        yield from _list_members(far)


def _list_members(class_: RefactoringLocation) -> Iterator[Declaration]:
    """The members of a class and of those nested in it, and what else these are."""
    content = class_.source.encode('utf-8', 'replace')
    for type_ in get_reading_of_file(class_.file).parse(content, class_.file).types:
        declarations = [
            Declaration(
                file=class_.file,
                start_line=member.start_line,
                end_line=member.end_line,
                source=member.source,
            )
            for member in type_.members
        ]
        for each in (*declarations, make_type_rest(class_.file, content, type_)):
            before = class_.start_line - 1
            yield replace(
                each, start_line=before + each.start_line, end_line=before + each.end_line
            )


def _is_same_code(location: RefactoringLocation, declaration: Declaration) -> bool:
    """Whether both are the same code of the same revision; one may begin with its comment."""
    return (
        location.file == declaration.file
        and location.end_line == declaration.end_line
        and have_same_tokens(make_declaration(location), declaration)
    )


def _contains_declaration(location: RefactoringLocation, declaration: Declaration) -> bool:
    return (
        location.file == declaration.file
        and location.start_line <= declaration.start_line
        and declaration.end_line <= location.end_line
    )
