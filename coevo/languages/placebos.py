"""Insertion of text without effect into code: the Protocol and its parts."""

from __future__ import annotations

import string
from enum import StrEnum
from random import Random
from typing import Protocol

from coevo.languages.undoing import LocatedDeclaration

_MOST_LINES = 3


class PlaceboKind(StrEnum):
    """The effect of a placebo on line numbers, the most noticeable kind first."""

    MOVED = 'moved'  # the lines below it get other numbers
    IN_PLACE = 'in_place'  # all lines keep their numbers


class PlaceboInsertion(Protocol):
    """A module beside a language's surgery that finds a place and a text for a placebo."""

    def choose_insertion(
        self, declared: LocatedDeclaration, kind: PlaceboKind, draw: Random
    ) -> tuple[int, bytes]:
        """Return an offset in bytes into the file of a declaration, and the text to insert there.

        The text is drawn anew each time: a statement without effect in the body of a method or
        constructor; a comment or the like if there is no body.
        """


def invent_word(draw: Random) -> bytes:
    """Return a random word that is unlikely to occur in any code."""
    return ''.join(draw.choices(string.ascii_lowercase, k=12)).encode()


def choose_line_breaks(kind: PlaceboKind, draw: Random) -> bytes:
    """Return one to three line breaks for the kind MOVED, and b'' for IN_PLACE."""
    return b'\n' * draw.randint(1, _MOST_LINES) if kind is PlaceboKind.MOVED else b''
