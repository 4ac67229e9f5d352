"""The words of a declaration: its tokens with their places, and what they may name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DeclarationPart(StrEnum):
    """What a word may name, by its place among others; the rest has to stay as it is."""

    CALL = 'call'  # a method that is declared, invoked or referred to, or a constructor
    TYPE = 'type'
    MEMBER = 'member'  # what stands behind a dot: a field, a nested type, a part of a package
    PLAIN = 'plain'  # a variable, field, type or part of a package
    REST = 'rest'


@dataclass(frozen=True, slots=True)
class Word:
    """A token. The line counts from 0 within the declaration, the column (0-based) in characters."""

    text: str
    part: DeclarationPart
    line: int
    column: int
