"""What a language that can edit code to no effect answers: where, and with which text."""

from __future__ import annotations

import string
from enum import StrEnum
from random import Random
from typing import Protocol

from coevo.languages.undoing import LocatedDeclaration

_MOST_LINES = 3


class PlaceboKind(StrEnum):
    """From what can be noticed most easily to what can be least."""

    MOVED = 'moved'  # lines behind it have other numbers
    IN_PLACE = 'in_place'  # no line has another number


class PlaceboInsertion(Protocol):
    """A module beside a language's surgery."""

    # a place in the file of a declaration, as an offset in bytes, and what is put in there, drawn
    # anew each time: a statement of no effect in the body of a method or constructor; a comment, or
    # the like, where there is no body
    def choose_insertion(
        self, declared: LocatedDeclaration, kind: PlaceboKind, draw: Random
    ) -> tuple[int, bytes]: ...


def invent_word(draw: Random) -> bytes:
    """One that nobody has written."""
    return ''.join(draw.choices(string.ascii_lowercase, k=12)).encode()


def choose_line_breaks(kind: PlaceboKind, draw: Random) -> bytes:
    """Those that move what stands behind; none where nothing is to be moved."""
    return b'\n' * draw.randint(1, _MOST_LINES) if kind is PlaceboKind.MOVED else b''
