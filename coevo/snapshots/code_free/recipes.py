"""Recipes by which the texts that an edition omits are restored: slices of Git blobs, and literals.

    data/texts/sources.parquet   files of repositories, by the ids of their blobs
    data/texts/recipes.parquet   one recipe for each text: pieces, in their order
    data/texts/places.parquet    the position of each text: file, row, column, element of a list

A recipe needs no parser, no diff and no particular version of coevo: the blobs are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from coevo.git.patches import format_literal_lines

FOLDER = 'data/texts'
FULL = 'full-'
"""Prefix, in an edition, of the full release's own manifest, card and Croissant file."""


class SourceForm(StrEnum):
    """The way a blob is decoded to text, before slices are cut from it."""

    TEXT = 'text'
    BINARY_PATCH = 'binary_patch'


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSource:
    """A file of a repository, and a revision that has it."""

    repo: str
    rev: str
    path: str
    blob: str
    form: SourceForm


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """A slice of a source, or a literal.

    start, length  in characters of the source's text (`decode_blob`)
    prefix         written before each line of the slice, as in a patch
    words          a literal, which is in no file; a piece with words has no source
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
"""`element` is the index in the list of a nested column, else 0; `text` is a row of the recipes."""


def decode_blob(content: bytes, form: SourceForm) -> str:
    """Return the text of a blob, from which slices are cut; bytes that are not UTF-8 are escaped.

    A binary patch is the blob in the lines of a Git patch.
    """
    if form is SourceForm.BINARY_PATCH:
        return '\n'.join(format_literal_lines(content))
    decoded = content.decode('utf-8', 'surrogateescape')
    return decoded.encode('utf-8', 'backslashreplace').decode()


def join_pieces(pieces: Iterable[TextPiece], source: Callable[[int], str]) -> str:
    """Return the text of a recipe; `source` gives the text of a source by its number."""
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
    """Yield the lines of a text as Git counts them, each with its line end if it has one."""
    start = 0
    while start < len(text):
        end = text.find('\n', start) + 1 or len(text)
        yield text[start:end]
        start = end
