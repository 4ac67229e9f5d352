"""What a call would be if the method that it calls stood in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from miners.declarations import Part
from miners.declarations import Word
from miners.declarations import words

_OPENING, _CLOSING = frozenset('([{'), frozenset(')]}')

Words = tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Inlined:
    """A body with arguments for parameters; `is_value` if it is that of `return`, without that."""

    words: Words
    is_value: bool


def inlined(method: str, call: Sequence[Word]) -> Inlined | None:
    """What stands for a call; None if it is not one of this method, or that has no body."""
    whole = words(method)
    start = next((n for n, word in enumerate(whole) if word.part is Part.CALL), len(whole))
    if start + 1 >= len(whole) or not call or call[-1].text != ')' or whole[-1].text != '}':
        return None
    end = _match(whole, start + 1)
    opening = next((n for n in range(end, len(whole)) if whole[n].text == '{'), len(whole))
    parameters = [_name(part) for part in _split(whole[start + 2 : end])]
    arguments = _split(call[_opening(call) + 1 : -1])
    if len(parameters) != len(arguments):
        return None
    given = dict(zip(parameters, arguments, strict=True))
    body: list[Word] = []
    for word in whole[opening + 1 : -1]:
        body += given.get(word.text, (word,)) if word.part is Part.PLAIN else (word,)
    return _value(body)


def _value(body: Sequence[Word]) -> Inlined:
    """A body that ends with `return VALUE;` is a value, with statements before it or not."""
    start = len(body) - 1
    while start > 0 and body[start - 1].text not in ('{', '}', ';'):
        start -= 1
    if body and body[start].text == 'return':
        return Inlined((*body[:start], *body[start + 1 : -1]), is_value=True)
    return Inlined(tuple(body), is_value=False)


def _match(whole: Sequence[Word], place: int) -> int:
    """Where the bracket closes that opens at a place; the end if it does not."""
    depth = 0
    for number in range(place, len(whole)):
        depth += (whole[number].text in _OPENING) - (whole[number].text in _CLOSING)
        if depth == 0:
            return number
    return len(whole)


def _opening(call: Sequence[Word]) -> int:
    """Where the bracket opens that closes at the end of a call."""
    return next(n for n in range(len(call)) if _match(call, n) == len(call) - 1)


def _split(inner: Sequence[Word]) -> list[Words]:
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


def _name(parameter: Sequence[Word]) -> str:
    return next((word.text for word in reversed(parameter) if word.part is Part.PLAIN), '')
