"""How a text that an edition leaves out is put together: slices of files in Git, and words of ours.

    data/texts/sources.parquet   files of repositories, by the ids of their blobs
    data/texts/recipes.parquet   one recipe for each text: pieces, in their order
    data/texts/places.parquet    where each text stands: file, row, column, element of a list

A recipe needs no parser, no diff and no version of coevo: whoever has the blobs has the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from coevo.git.patches import format_literal_lines

FOLDER = 'data/texts'
FULL = 'full-'
"""What the names of the whole release's own manifest, card and Croissant begin with in an edition."""


class SourceForm(StrEnum):
    """What a file is to those who cut slices of it."""

    TEXT = 'text'
    BINARY_PATCH = 'binary_patch'


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSource:
    """A file of a repository, at a revision that has it."""

    repo: str
    rev: str
    path: str
    blob: str
    form: SourceForm


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """A slice of a source, or words.

    start, length  in characters of what the source is to readers (`decode_blob`)
    prefix         what each line of the slice has in front of it, as lines of a patch have
    words          what stands in no file; a piece with words has no source
    """

    source: int | None = None
    start: int = 0
    length: int = 0
    prefix: str = ''
    words: str = ''


SOURCES = pa.schema(
    pa.field(name, pa.string(), nullable=False) for name in ('repo', 'rev', 'path', 'blob', 'form')
)
RECIPES = pa.schema(
    [
        pa.field(
            'pieces',
            pa.list_(
                pa.struct(
                    [
                        pa.field('source', pa.int64()),
                        pa.field('start', pa.int64(), nullable=False),
                        pa.field('length', pa.int64(), nullable=False),
                        pa.field('prefix', pa.string(), nullable=False),
                        pa.field('words', pa.string(), nullable=False),
                    ]
                )
            ),
            nullable=False,
        )
    ]
)
PLACES = pa.schema(
    [
        pa.field('file', pa.string(), nullable=False),
        pa.field('row', pa.int64(), nullable=False),
        pa.field('column', pa.string(), nullable=False),
        pa.field('element', pa.int64(), nullable=False),
        pa.field('text', pa.int64(), nullable=False),
    ]
)
"""`element` is the number in the list of a nested column, 0 of any other; `text` is a row of the recipes."""


def decode_blob(content: bytes, form: SourceForm) -> str:
    """A blob as the text that slices are cut of; what is no UTF-8 as the tables show it."""
    if form is SourceForm.BINARY_PATCH:
        return '\n'.join(format_literal_lines(content))
    decoded = content.decode('utf-8', 'surrogateescape')
    return decoded.encode('utf-8', 'backslashreplace').decode()


def join_pieces(pieces: Iterable[TextPiece], source: Callable[[int], str]) -> str:
    """The text that a recipe makes; `source` gives what a source is to readers, by its number."""
    return ''.join(
        piece.words if piece.source is None else _cut_slice(piece, source(piece.source))
        for piece in pieces
    )


def _cut_slice(piece: TextPiece, text: str) -> str:
    cut_text = text[piece.start : piece.start + piece.length]
    return (
        ''.join(f'{piece.prefix}{line}' for line in split_git_lines(cut_text))
        if piece.prefix
        else cut_text
    )


def split_git_lines(text: str) -> Iterator[str]:
    """Its lines as Git counts them, each with its end if it has one."""
    start = 0
    while start < len(text):
        end = text.find('\n', start) + 1 or len(text)
        yield text[start:end]
        start = end
