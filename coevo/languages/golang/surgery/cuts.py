"""Removes pieces from a Go file and inserts others, so that the result is a valid file."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence

from coevo.languages.core.cut_plans import OldFile, find_new_and_old_neighbour
from coevo.languages.golang.surgery.pieces import GoOutline, GoPart, GoPiece
from coevo.languages.spans import Span
from coevo.languages.text_edits import TextEdits, find_line_end, widen_to_whole_lines

OldGoFile = OldFile[GoOutline, GoPiece]


def remove_pieces(edits: TextEdits, file: GoOutline, gone: Sequence[GoPiece]) -> None:
    """Cut all parts of some pieces out of a file, as `remove_parts` does.

    edits  receives the cuts; nothing is returned
    """
    remove_parts(edits, file, [part for piece in gone for part in piece.parts])


def remove_parts(edits: TextEdits, file: GoOutline, taken: Collection[GoPart]) -> None:
    """Cut some parts of declarations out of a file.

    If all lines of a group are cut, such as `var ( … )`, its keyword and brackets are cut, too.

    edits  receives the cuts; nothing is returned
    taken  the parts to cut
    """
    left: dict[Span, int] = {}
    for piece in file.pieces:
        for part in piece.parts:
            left[part.whole] = left.get(part.whole, 0) + (part not in taken)
    for part in taken:
        if not part.is_line or not left[part.whole]:
            edits.cut_span(*include_separator(file.source, part.whole))
        else:
            edits.cut_span(*find_line_of_group(file.source, part.text))


def include_separator(source: bytes, span: Span) -> Span:
    """Return a span extended over semicolons and blanks behind it.

    Without a semicolon on its line, it is returned unchanged.
    """
    start, end = span
    rest = source[end:]
    behind = rest[: len(rest) - len(rest.lstrip(b' \t;'))]
    return (start, end + len(behind)) if b';' in behind else span


def find_line_of_group(source: bytes, span: Span) -> Span:
    """Return the whole line of a span in a group such as `var ( … )`, as a span.

    If the line is the first or last of its group, the empty lines beside it are included.
    """
    start, end = widen_to_whole_lines(source, *include_separator(source, span))
    before, behind = source[:start].rstrip(), source[end:].lstrip()
    if behind.startswith(b')') and b'\n' in source[len(before) : start]:
        return source.find(b'\n', len(before)) + 1, end
    if before.endswith(b'('):
        return start, max(end, source.rfind(b'\n', 0, len(source) - len(behind)) + 1)
    return start, end


def add_piece(
    edits: TextEdits, file: OldGoFile, piece: GoPiece, standing: Sequence[GoPiece]
) -> None:
    """Insert an old piece into the new file, beside the nearest neighbour that both files have.

    It follows the nearest neighbour above it, else precedes the nearest below it, else comes last.

    edits     receives the insertion; nothing is returned
    standing  the pieces that stay in the new file
    """
    body = b'\n\n'.join(_list_part_texts(file, piece))
    anchors: dict[Hashable, GoPiece] = {name: each for each in standing for name in each.names}
    anchors |= {was.names[0]: at for at, was in file.targets.items() if at in standing}
    neighbour = find_new_and_old_neighbour(piece, file.pieces, file.list_taken_slots, anchors)
    if neighbour is None:
        gap = b'\n' if file.new.source.endswith(b'\n') else b'\n\n'
        edits.insert(len(file.new.source), gap + body + b'\n')
        return
    anchor, before = neighbour
    if before is None:
        last = max(part.whole[1] for part in anchor.parts)
        edits.insert(find_line_end(file.new.source, last), b'\n\n' + body)
    else:
        edits.insert(anchor.first_part.whole[0], body + b'\n\n')


def _list_part_texts(file: OldGoFile, piece: GoPiece) -> Iterator[bytes]:
    """Yield the texts of a piece's parts; a line of a group is wrapped in a group of its own."""
    for part in piece.parts:
        text = file.old.load_part(part)
        yield wrap_in_keyword(piece.kind, part, text, file.old.source) if part.is_line else text


def wrap_in_keyword(kind: str, part: GoPart, text: bytes, source: bytes) -> bytes:
    """Return a line of a group as a group of its own: `var (`, the line, `)`.

    kind    the keyword
    text    the text of the line
    source  the file, from which the line's indentation is taken
    """
    margin = source[source.rfind(b'\n', 0, part.text[0]) + 1 : part.text[0]]
    before = margin if not margin.strip() else b'\t'
    return kind.encode() + b' (\n' + before + text + b'\n)'
