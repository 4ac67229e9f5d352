"""The words of a declaration: its tokens with their positions, and what they may name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DeclarationPart(StrEnum):
    """The kind of name that a word may be, judged by its position.

    A word of the kind REST must not be renamed, for example a keyword or a literal.
    """

    CALL = 'call'  # a method that is declared, invoked or referred to, or a constructor
    TYPE = 'type'
    MEMBER = 'member'  # after a dot: a field, a nested type, a part of a package
    PLAIN = 'plain'  # a variable, field, type or part of a package
    REST = 'rest'


@dataclass(frozen=True, slots=True)
class Word:
    """A token. `line` counts from 0 within the declaration, `column` from 0 in characters."""

    text: str
    part: DeclarationPart
    line: int
    column: int
