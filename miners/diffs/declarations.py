"""Declarations cut out of a source file, and their tokens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from coevo.languages.declarations import DeclaredType
from coevo.languages.spans import subtract_holes
from coevo.languages.table import get_reading_of_file
from coevo.languages.words import DeclarationPart, Word

_CALLABLE = ('method', 'constructor')


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A method, constructor, field, initialiser or type in a file at one end.

    Lines are 1-based and inclusive; `source` is its text, with or without comments.
    """

    file: str
    start_line: int
    end_line: int
    source: str


def make_type_without_methods(path: str, content: bytes, type_: DeclaredType) -> Declaration:
    """Return a type without its methods, constructors and nested types: its head and fields."""
    holes = [(m.start_byte, m.end_byte) for m in type_.members if m.kind in _CALLABLE]
    holes += [
        (other.start_byte, other.end_byte)
        for other in get_reading_of_file(path).parse(content, path).types
        if type_.start_byte < other.start_byte < type_.end_byte
    ]
    spans = subtract_holes((type_.start_byte, type_.end_byte), holes)
    return Declaration(
        file=path,
        start_line=type_.start_line,
        end_line=type_.end_line,
        source=b' '.join(content[start:end] for start, end in spans).decode(errors='replace'),
    )


def have_same_tokens(old: Declaration, new: Declaration) -> bool:
    """Return whether two declarations differ in nothing but comments and formatting."""
    return old.source == new.source or _list_texts(old) == _list_texts(new)


def _list_texts(declaration: Declaration) -> tuple[str, ...]:
    return tuple(word.text for word in split_words(declaration.file, declaration.source))


@lru_cache(maxsize=1024)
def extract_skeleton(declaration: Declaration) -> tuple[str, ...]:
    """Return the tokens of a declaration that no renaming changes.

    Dots are left out, since their number differs in full names.
    """
    return tuple(
        word.text
        for word in split_words(declaration.file, declaration.source)
        if word.part is DeclarationPart.REST and word.text != '.'
    )


def split_words(path: str, source: str) -> tuple[Word, ...]:
    """Return the words of a declaration of a file, in order."""
    return get_reading_of_file(path).list_words(source)
