"""Where a piece that a start file brings from its old file is put: where it stood among others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from coevo.languages.core.old_files import find_neighbour
from coevo.languages.golang.surgery.old_pieces import OldGoFile
from coevo.languages.golang.surgery.pieces import GoPart, GoPiece
from coevo.languages.text_edits import TextEdits, find_line_end


def add_piece(
    edits: TextEdits, file: OldGoFile, piece: GoPiece, standing: Sequence[GoPiece]
) -> None:
    """Insert a piece behind or before the nearest of its neighbours at old that stands at new."""
    body = b'\n\n'.join(_list_part_texts(file, piece))
    anchors: dict[Hashable, GoPiece] = {name: each for each in standing for name in each.names}
    anchors |= {was.names[0]: at for at, was in file.targets.items() if at in standing}
    neighbour = find_neighbour(piece, file.pieces, file.list_slots, anchors)
    if neighbour is None:
        gap = b'\n' if file.new.source.endswith(b'\n') else b'\n\n'
        edits.insert(len(file.new.source), gap + body + b'\n')
    elif neighbour.before is None:
        last = max(part.whole[1] for part in neighbour.anchor.parts)
        edits.insert(find_line_end(file.new.source, last), b'\n\n' + body)
    else:
        edits.insert(neighbour.anchor.first_part.whole[0], body + b'\n\n')


def _list_part_texts(file: OldGoFile, piece: GoPiece) -> Iterator[bytes]:
    """Its parts; a line from among others gets a keyword of its own."""
    for part in piece.parts:
        text = file.old.load_part(part)
        yield wrap_in_keyword(piece.kind, part, text, file.old.source) if part.is_line else text


def wrap_in_keyword(kind: str, part: GoPart, text: bytes, source: bytes) -> bytes:
    """A line under a keyword of its own."""
    margin = source[source.rfind(b'\n', 0, part.text[0]) + 1 : part.text[0]]
    before = margin if not margin.strip() else b'\t'
    return kind.encode() + b' (\n' + before + text + b'\n)'
