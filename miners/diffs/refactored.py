"""Decide whether changed declarations are only refactored (TestEvo-Bench, 3.2).

A declaration that exists at both ends is only refactored if it is equal after renaming, with
extracted or inlined code put back in place of the calls. A declaration that exists at one end is
only refactored if a refactoring says where it came from or went to, and the code there is the same.
A listed refactoring alone proves nothing: 'Rename Method' is also listed for a method that was
edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from coevo.languages.reading import DeclarationPart, Word
from coevo.languages.refactorings import (
    Refactoring,
    RefactoringLocation,
    Refactorings,
    RefactoringStatus,
)
from coevo.languages.table import get_reading_of_file
from miners.diffs.renaming import (
    CLASSES,
    Declaration,
    are_equal_after_renaming,
    collect_names,
    find_renamed_or_moved_ends,
    have_same_tokens,
    is_renamed_only,
    make_type_without_methods,
    split_words,
)

__all__ = [
    'Declaration',
    'Ends',
    'are_all_only_refactored',
    'is_only_refactored',
    'have_same_tokens',
]

Ends = tuple[Declaration | None, Declaration | None]
"""A declaration at old and at new; None if it does not exist there."""

_Known = Sequence[Refactoring]


def are_all_only_refactored(refactorings: Refactorings, changed: Iterable[Ends]) -> bool | None:
    """Return whether all changed declarations are only refactored; False if there are none.

    Return None if it is unknown for one and no other is known to be more than refactored.
    """
    verdicts = [is_only_refactored(refactorings, old, new) for old, new in changed]
    if False in verdicts or not verdicts:
        return False
    return None if None in verdicts else True


def is_only_refactored(
    refactorings: Refactorings, old: Declaration | None, new: Declaration | None
) -> bool | None:
    """Return whether a declaration is only refactored between two revisions; None if unknown.

    True also if it differs only in comments and formatting.
    """
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
    """Return whether nothing but transfers happened to the method to which `one` belongs."""
    same = [each for each in list_transfers(found) if (each.old, each.new) == (one.old, one.new)]
    return is_same_after_undoing(same, found)


def _list_origins(one: Refactoring, new: Declaration) -> Iterator[Declaration]:
    end = find_renamed_or_moved_ends(one)
    if end is not None:
        yield from _find_opposite(one, end[1], end[0], new)


def _list_destinations(one: Refactoring, old: Declaration) -> Iterator[Declaration]:
    end = find_renamed_or_moved_ends(one)
    if end is not None:
        yield from _find_opposite(one, end[0], end[1], old)


def _find_opposite(
    one: Refactoring, near: RefactoringLocation, far: RefactoringLocation, declaration: Declaration
) -> Iterator[Declaration]:
    """Yield candidates for a declaration's counterpart at the other end.

    These are the refactored declaration itself, or the members of its class if that was renamed or
    moved.
    """
    if _is_same_code(near, declaration):
        yield make_declaration(far)
    elif one.type in CLASSES and _contains_declaration(near, declaration):
        yield from _list_members(far)


def _list_members(class_: RefactoringLocation) -> Iterator[Declaration]:
    """Yield the members of a class and of its nested classes, and each class without its members.

    Lines count from the start of the file.
    """
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
        for each in (*declarations, make_type_without_methods(class_.file, content, type_)):
            before = class_.start_line - 1
            yield replace(
                each, start_line=before + each.start_line, end_line=before + each.end_line
            )


def _is_same_code(location: RefactoringLocation, declaration: Declaration) -> bool:
    """Return whether a location and a declaration are the same code of the same revision.

    One of them may include its leading comment.
    """
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


# The rest checks code that moved between methods: extracted into a new one, or inlined from an old
# one.
# The verdict "pure" of the library's PurityChecker is not enough: version 3.0.10 also gives it if
# `add(b)` became `add(b + 1)` on the way, or was left out. So the method must also be the same at
# both ends, word by word except for listed names, once the other method is put in place of its
# calls.

_EXTRACTIONS = ('Extract Method', 'Extract And Move Method')
_INLININGS = ('Inline Method', 'Move And Inline Method')
_HOSTS = ('source method declaration', 'target method declaration')


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A method from which code was extracted, or into which it was inlined, and the other method.

    extracted  whether the other method is new and received code; else it is old and was inlined
    old, new   the method at both ends
    other      the other method, at the end where it exists
    calls      the calls of the other method, at the end where it exists
    pure       the verdict of the PurityChecker
    """

    extracted: bool
    old: RefactoringLocation
    new: RefactoringLocation
    other: RefactoringLocation
    calls: tuple[RefactoringLocation, ...]
    pure: bool | None


def list_transfers(found: Sequence[Refactoring]) -> Iterator[Transfer]:
    """Yield the transfers among some refactorings."""
    for refactoring in found:
        extracted = refactoring.type in _EXTRACTIONS
        if not extracted and refactoring.type not in _INLININGS:
            continue
        kind = 'extracted' if extracted else 'inlined'
        there = refactoring.right if extracted else refactoring.left
        old, new = (_filter_by_role(end, *_HOSTS) for end in (refactoring.left, refactoring.right))
        other = _filter_by_role(there, f'{kind} method declaration')
        if old and new and other:
            yield Transfer(
                extracted=extracted,
                old=old[0],
                new=new[0],
                other=other[0],
                calls=_filter_by_role(there, f'{kind} method invocation'),
                pure=refactoring.pure,
            )


def _filter_by_role(
    side: Sequence[RefactoringLocation], *roles: str
) -> tuple[RefactoringLocation, ...]:
    return tuple(location for location in side if location.role.startswith(roles))


def is_same_after_undoing(transfers: Sequence[Transfer], found: Sequence[Refactoring]) -> bool:
    """Return whether a method is the same at both ends once calls are replaced by what they call.

    All transfers must belong to one method. False if the checker says that one is not pure, or a
    call cannot be replaced.
    """
    if any(each.pure is False for each in transfers):
        return False
    old, new = transfers[0].old, transfers[0].new
    before = inline_calls(old, _list_calls(each for each in transfers if not each.extracted))
    after = inline_calls(new, _list_calls(each for each in transfers if each.extracted))
    if before is None or after is None:
        return False
    others = [make_declaration(each.other) for each in transfers]
    known = collect_names(found, [make_declaration(old), *others], [make_declaration(new), *others])
    return are_equal_after_renaming(before, after, known)


def _list_calls(transfers: Iterable[Transfer]) -> list[Call]:
    return [(call, each.other) for each in transfers for call in each.calls]


def make_declaration(location: RefactoringLocation) -> Declaration:
    """Return the declaration at a location."""
    return Declaration(
        file=location.file,
        start_line=location.start_line,
        end_line=location.end_line,
        source=location.source,
    )


# The rest rewrites a method with the bodies of called methods in place of the calls.

_OPENING, _CLOSING = frozenset('([{'), frozenset(')]}')
_STARTS = frozenset({'{', '}', ';'})

Words = tuple[Word, ...]
Call = tuple[RefactoringLocation, RefactoringLocation]
"""A call in a method, and the method that it calls."""


def inline_calls(method: RefactoringLocation, calls: Iterable[Call]) -> Words | None:
    """Return the words of a method with calls replaced; None if a call cannot be replaced.

    The statements that a called method runs before it returns go before the calling statement.
    """
    whole = list(split_words(method.file, method.source))
    placed = [(_find_positions(whole, method, call), called) for call, called in calls]
    for places, called in sorted(placed, key=lambda item: item[0], reverse=True):
        body = _make_inlined_body_and_value(called, [whole[position] for position in places])
        if body is None:
            return None
        before, value = body
        first, end = places[0], places[-1] + 1
        start = _find_statement_start(whole, first)
        if value:
            whole[first:end] = value
        elif _is_statement(whole, first, end):
            whole[first : end + 1] = ()
            start = first
        else:
            return None
        whole[start:start] = before
    return tuple(whole)


def _find_positions(
    whole: Sequence[Word], method: RefactoringLocation, piece: RefactoringLocation
) -> list[int]:
    begin = piece.start_line, piece.start_column
    end = piece.end_line, piece.end_column
    positions = []
    for position, word in enumerate(whole):
        shift = max(method.start_column, 1) if word.line == 0 else 1
        if begin <= (method.start_line + word.line, word.column + shift) < end:
            positions.append(position)
    return positions


def _is_statement(whole: Sequence[Word], first: int, end: int) -> bool:
    begins = _find_statement_start(whole, first) == first or whole[first - 1].text in (')', 'else')
    return begins and end < len(whole) and whole[end].text == ';'


def _find_statement_start(sequence: Sequence[Word], position: int) -> int:
    """Return the start of the statement that contains a word."""
    while position > 0 and sequence[position - 1].text not in _STARTS:
        position -= 1
    return position


def _make_inlined_body_and_value(
    method: RefactoringLocation, call: Sequence[Word]
) -> tuple[Words, Words] | None:
    """Return the statements of a called method with the call's arguments, and the returned value.

    Return None if the call does not fit the method, or the method has no body.
    """
    whole = split_words(method.file, method.source)
    start = next(
        (n for n, word in enumerate(whole) if word.part is DeclarationPart.CALL), len(whole)
    )
    if start + 1 >= len(whole) or not call or call[-1].text != ')' or whole[-1].text != '}':
        return None
    end = _find_closing(whole, start + 1)
    opening = next((n for n in range(end, len(whole)) if whole[n].text == '{'), len(whole))
    parameters = [_get_parameter_name(part) for part in _split_arguments(whole[start + 2 : end])]
    arguments = _split_arguments(call[_find_opening(call) + 1 : -1])
    if len(parameters) != len(arguments):
        return None
    given = dict(zip(parameters, arguments, strict=True))
    body: list[Word] = []
    for word in whole[opening + 1 : -1]:
        body += given.get(word.text, (word,)) if word.part is DeclarationPart.PLAIN else (word,)
    last = _find_statement_start(body, max(len(body) - 1, 0))
    if body and body[last].text == 'return':
        return tuple(body[:last]), tuple(body[last + 1 : -1])
    return tuple(body), ()


def _find_closing(whole: Sequence[Word], place: int) -> int:
    """Return the position where the bracket at `place` closes; the length if it does not."""
    depth = 0
    for number in range(place, len(whole)):
        depth += (whole[number].text in _OPENING) - (whole[number].text in _CLOSING)
        if depth == 0:
            return number
    return len(whole)


def _find_opening(call: Sequence[Word]) -> int:
    """Return the position of the bracket that closes at the end of a call."""
    return next(n for n in range(len(call)) if _find_closing(call, n) == len(call) - 1)


def _split_arguments(inner: Sequence[Word]) -> list[Words]:
    """Return the arguments of a call, split at commas outside of brackets and type arguments."""
    if not inner:
        return []
    parts: list[list[Word]] = [[]]
    depth = 0
    for word in inner:
        depth += (word.text in _OPENING | {'<'}) - (word.text in _CLOSING | {'>'})
        if word.text == ',' and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return [tuple(part) for part in parts]


def _get_parameter_name(parameter: Sequence[Word]) -> str:
    return next(
        (word.text for word in reversed(parameter) if word.part is DeclarationPart.PLAIN), ''
    )
