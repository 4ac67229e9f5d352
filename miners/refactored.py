"""Whether changed declarations are only refactored (TestEvo-Bench, 3.2: "non-refactoring changes").

One that stands at both ends is if it is equal after renaming, or but for code that was purely extracted
from it or inlined into it. One that stands at one end is if a refactoring says where it came from or
went to, and it is equal to that, or the library's PurityChecker calls the refactoring pure. That a
refactoring is listed proves nothing: 'Rename Method' is also said of a method that was edited.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass

from coevo.syntax import parse
from miners.cutting import remainder
from miners.declarations import Declaration
from miners.declarations import same_tokens
from miners.refactorings import Location
from miners.refactorings import Refactoring
from miners.refactorings import Refactorings
from miners.refactorings import Status
from miners.renaming import CLASSES
from miners.renaming import Names
from miners.renaming import ends
from miners.renaming import equal_after_renaming
from miners.renaming import names
from miners.renaming import renamed_only

__all__ = ['Declaration', 'Ends', 'all_only_refactored', 'only_refactored', 'same_tokens']

Ends = tuple[Declaration | None, Declaration | None]
"""A declaration at old and at new; None where it does not stand."""

_Known = Sequence[Refactoring]

_EXTRACTIONS = ('Extract Method', 'Extract And Move Method')
_INLININGS = ('Inline Method', 'Move And Inline Method')


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
    if refactorings.status is Status.UNKNOWN:
        return None
    found = refactorings.found
    if old is not None and new is not None:
        return _changed(found, old, new)
    if new is not None:
        return _appeared(found, new)
    return old is not None and _vanished(found, old)


# -- at both ends ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    """A method between which and another one code went, at both ends, with what makes it differ."""

    pure: bool | None
    old: Location
    new: Location
    old_code: tuple[Location, ...] = ()
    old_calls: tuple[Location, ...] = ()
    new_code: tuple[Location, ...] = ()
    new_calls: tuple[Location, ...] = ()


def _changed(found: _Known, old: Declaration, new: Declaration) -> bool | None:
    if renamed_only(found, old, new) or _moved_purely(found, old, new):
        return True
    splits = [split for split in _splits(found) if _is(split.old, old) and _is(split.new, new)]
    if not splits:
        return False
    pure = _all_pure(split.pure for split in splits)
    return _equal_but_for(splits, names(found, old, new)) if pure else pure


def _moved_purely(found: _Known, old: Declaration, new: Declaration) -> bool:
    moves = ((one.pure, ends(one)) for one in found)
    return any(pure and end and _is(end[0], old) and _is(end[1], new) for pure, end in moves)


def _splits(found: _Known) -> Iterator[_Split]:
    for one in found:
        old, new = _method(one.left), _method(one.right)
        if old is None or new is None:
            continue
        if one.type in _EXTRACTIONS:
            yield _Split(
                pure=one.pure,
                old=old,
                new=new,
                old_code=_in_role(one.left, 'extracted code'),
                new_calls=_in_role(one.right, 'extracted method invocation'),
            )
        elif one.type in _INLININGS:
            yield _Split(
                pure=one.pure,
                old=old,
                new=new,
                old_calls=_in_role(one.left, 'inlined method invocation'),
                new_code=_in_role(one.right, 'inlined code'),
            )


def _method(side: Sequence[Location]) -> Location | None:
    """The method that code was extracted from or inlined into."""
    roles = ('source method declaration', 'target method declaration')
    return next((one for one in side if one.role.startswith(roles)), None)


def _in_role(side: Sequence[Location], role: str) -> tuple[Location, ...]:
    return tuple(one for one in side if one.role.startswith(role))


def _equal_but_for(splits: Sequence[_Split], known: Names) -> bool:
    before = remainder(
        splits[0].old,
        [code for split in splits for code in split.old_code],
        [call for split in splits for call in split.old_calls],
    )
    after = remainder(
        splits[0].new,
        [code for split in splits for code in split.new_code],
        [call for split in splits for call in split.new_calls],
    )
    return equal_after_renaming(before, after, known)


def _all_pure(verdicts: Iterable[bool | None]) -> bool | None:
    judged = set(verdicts)
    return False if False in judged else None if None in judged else True


# -- at one end --------------------------------------------------------------------------------


def _appeared(found: _Known, new: Declaration) -> bool | None:
    for one in found:
        for old in _origins(one, new):
            if one.pure or renamed_only(found, old, new):
                return True
    return _verdict(found, _EXTRACTIONS, 'extracted method declaration', new)


def _vanished(found: _Known, old: Declaration) -> bool | None:
    for one in found:
        for new in _destinations(one, old):
            if one.pure or renamed_only(found, old, new):
                return True
    return _verdict(found, _INLININGS, 'inlined method declaration', old)


def _origins(one: Refactoring, new: Declaration) -> Iterator[Declaration]:
    end = ends(one)
    if end is not None:
        yield from _opposite(one, end[1], end[0], new)


def _destinations(one: Refactoring, old: Declaration) -> Iterator[Declaration]:
    end = ends(one)
    if end is not None:
        yield from _opposite(one, end[0], end[1], old)


def _opposite(
    one: Refactoring, near: Location, far: Location, declaration: Declaration
) -> Iterator[Declaration]:
    """What a declaration may be at the other end: the same refactored, or a member of its class."""
    if _is(near, declaration):
        yield _declaration(far)
    elif one.type in CLASSES and _holds(near, declaration):
        yield from _members(far)


def _members(class_: Location) -> Iterator[Declaration]:
    for type_ in parse(class_.source.encode('utf-8', 'replace')).types:
        for member in type_.members:
            yield Declaration(
                file=class_.file,
                start_line=class_.start_line + member.start_line - 1,
                end_line=class_.start_line + member.end_line - 1,
                source=member.source,
            )


def _verdict(
    found: _Known, types: Sequence[str], role: str, declaration: Declaration
) -> bool | None:
    """Whether the refactorings that made or removed a method are pure; False if there are none."""
    pure = [
        one.pure
        for one in found
        if one.type in types
        and any(each.role == role and _is(each, declaration) for each in (*one.left, *one.right))
    ]
    return bool(pure) and _all_pure(pure)


def _declaration(location: Location) -> Declaration:
    return Declaration(
        file=location.file,
        start_line=location.start_line,
        end_line=location.end_line,
        source=location.source,
    )


def _is(location: Location, declaration: Declaration) -> bool:
    """Whether both are the same code of the same revision; one may begin with its comment."""
    return (
        location.file == declaration.file
        and location.start_line <= declaration.end_line
        and declaration.start_line <= location.end_line
        and same_tokens(_declaration(location), declaration)
    )


def _holds(location: Location, declaration: Declaration) -> bool:
    return (
        location.file == declaration.file
        and location.start_line <= declaration.start_line
        and declaration.end_line <= location.end_line
    )
