"""Whether changed declarations are only refactored (TestEvo-Bench, 3.2: "non-refactoring changes").

One that stands at both ends is if it is equal after renaming, with what was extracted from it or
inlined into it in place of the calls. One that stands at one end is if a refactoring says where it came
from or went to, and that is the same. That a refactoring is listed proves nothing: 'Rename Method'
is also said of a method that was edited.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace

from coevo.languages.refactorings import Refactoring
from coevo.languages.refactorings import RefactoringLocation
from coevo.languages.refactorings import Refactorings
from coevo.languages.refactorings import RefactoringStatus
from coevo.languages.table import reading_at
from miners.diffs.declarations import Declaration
from miners.diffs.declarations import rest
from miners.diffs.declarations import same_tokens
from miners.diffs.renaming import CLASSES
from miners.diffs.renaming import ends
from miners.diffs.renaming import renamed_only
from miners.diffs.transfers import Transfer
from miners.diffs.transfers import declaration_of
from miners.diffs.transfers import transfers_of
from miners.diffs.transfers import undone

__all__ = ['Declaration', 'Ends', 'all_only_refactored', 'only_refactored', 'same_tokens']

Ends = tuple[Declaration | None, Declaration | None]
"""A declaration at old and at new; None where it does not stand."""

_Known = Sequence[Refactoring]


def all_only_refactored(refactorings: Refactorings, changed: Iterable[Ends]) -> bool | None:
    """Whether all of some changed declarations are only refactored; False if there are none.

    None if it is unknown of one and no other is known to be more than refactored.
    """
    verdicts = [only_refactored(refactorings, old, new) for old, new in changed]
    if False in verdicts or not verdicts:
        return False
    return None if None in verdicts else True


def only_refactored(
    refactorings: Refactorings, old: Declaration | None, new: Declaration | None
) -> bool | None:
    """Whether a declaration is only refactored between two revisions; None if that is unknown."""
    if old is not None and new is not None and same_tokens(old, new):
        return True
    if refactorings.status is not RefactoringStatus.FOUND:
        return None
    found = refactorings.found
    if old is not None and new is not None:
        return _changed(found, old, new)
    if new is not None:
        return _appeared(found, new)
    return old is not None and _vanished(found, old)


# -- at both ends ------------------------------------------------------------------------------


def _changed(found: _Known, old: Declaration, new: Declaration) -> bool:
    if renamed_only(found, old, new):
        return True
    transfers = [each for each in transfers_of(found) if _is(each.old, old) and _is(each.new, new)]
    return bool(transfers) and undone(transfers, found)


# -- at one end --------------------------------------------------------------------------------


def _appeared(found: _Known, new: Declaration) -> bool:
    if any(renamed_only(found, old, new) for one in found for old in _origins(one, new)):
        return True
    made = [each for each in transfers_of(found) if each.extracted and _is(each.other, new)]
    return bool(made) and all(_is_undone(each, found) for each in made)


def _vanished(found: _Known, old: Declaration) -> bool:
    if any(renamed_only(found, old, new) for one in found for new in _destinations(one, old)):
        return True
    gone = [each for each in transfers_of(found) if not each.extracted and _is(each.other, old)]
    return bool(gone) and all(_is_undone(each, found) for each in gone)


def _is_undone(one: Transfer, found: _Known) -> bool:
    """Whether nothing but transfers happened to the method that one of them is of."""
    same = [each for each in transfers_of(found) if (each.old, each.new) == (one.old, one.new)]
    return undone(same, found)


def _origins(one: Refactoring, new: Declaration) -> Iterator[Declaration]:
    end = ends(one)
    if end is not None:
        yield from _opposite(one, end[1], end[0], new)


def _destinations(one: Refactoring, old: Declaration) -> Iterator[Declaration]:
    end = ends(one)
    if end is not None:
        yield from _opposite(one, end[0], end[1], old)


def _opposite(
    one: Refactoring, near: RefactoringLocation, far: RefactoringLocation, declaration: Declaration
) -> Iterator[Declaration]:
    """What a declaration may be at the other end: the same refactored, or a member of its class."""
    if _is(near, declaration):
        yield declaration_of(far)
    elif one.type in CLASSES and _holds(near, declaration):
        yield from _members(far)


def _members(class_: RefactoringLocation) -> Iterator[Declaration]:
    """The members of a class and of those nested in it, and what else these are."""
    content = class_.source.encode('utf-8', 'replace')
    for type_ in reading_at(class_.file).parse(content, class_.file).types:
        found = [
            Declaration(
                file=class_.file,
                start_line=member.start_line,
                end_line=member.end_line,
                source=member.source,
            )
            for member in type_.members
        ]
        for each in (*found, rest(class_.file, content, type_)):
            before = class_.start_line - 1
            yield replace(
                each, start_line=before + each.start_line, end_line=before + each.end_line
            )


def _is(location: RefactoringLocation, declaration: Declaration) -> bool:
    """Whether both are the same code of the same revision; one may begin with its comment."""
    return (
        location.file == declaration.file
        and location.end_line == declaration.end_line
        and same_tokens(declaration_of(location), declaration)
    )


def _holds(location: RefactoringLocation, declaration: Declaration) -> bool:
    return (
        location.file == declaration.file
        and location.start_line <= declaration.start_line
        and declaration.end_line <= location.end_line
    )
