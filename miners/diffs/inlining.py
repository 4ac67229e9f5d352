"""A method as it would be if the methods that it calls stood in place of the calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coevo.languages.refactorings import RefactoringLocation
from coevo.languages.words import DeclarationPart, Word
from miners.diffs.declarations import split_words

_OPENING, _CLOSING = frozenset('([{'), frozenset(')]}')
_STARTS = frozenset({'{', '}', ';'})

Words = tuple[Word, ...]
Call = tuple[RefactoringLocation, RefactoringLocation]
"""A call in a method, and the method that it calls."""


def inline_calls(method: RefactoringLocation, calls: Iterable[Call]) -> Words | None:
    """The words of a method with what calls do in their places; None if one cannot be replaced.

    What a method does before it returns stands before the statement that calls it.
    """
    whole = list(split_words(method.file, method.source))
    placed = [(_find_positions(whole, method, call), called) for call, called in calls]
    for places, called in sorted(placed, key=lambda item: item[0], reverse=True):
        body = _substitute_body(called, [whole[position] for position in places])
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
    """Where the statement begins in which a word stands."""
    while position > 0 and sequence[position - 1].text not in _STARTS:
        position -= 1
    return position


def _substitute_body(
    method: RefactoringLocation, call: Sequence[Word]
) -> tuple[Words, Words] | None:
    """What a method does, with a call's arguments for its parameters, and what it returns then.

    None if the call is not one of this method, or that has no body.
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
    """Where the bracket closes that opens at a place; the end if it does not."""
    depth = 0
    for number in range(place, len(whole)):
        depth += (whole[number].text in _OPENING) - (whole[number].text in _CLOSING)
        if depth == 0:
            return number
    return len(whole)


def _find_opening(call: Sequence[Word]) -> int:
    """Where the bracket opens that closes at the end of a call."""
    return next(n for n in range(len(call)) if _find_closing(call, n) == len(call) - 1)


def _split_arguments(inner: Sequence[Word]) -> list[Words]:
    """Parts between commas that stand in no bracket, nor in type arguments."""
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
