"""Where a piece that a start file brings from its old file is put: where it stood among others."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.java.surgery.old_pieces import OldJavaFile
from coevo.languages.java.surgery.pieces import JavaPiece
from coevo.languages.text_edits import TextEdits, find_indentation


def insert_beside_neighbour(
    edits: TextEdits, file: OldJavaFile, piece: JavaPiece, standing: Sequence[JavaPiece]
) -> None:
    """Insert a piece behind or before the nearest of its neighbours at old that stands at new."""
    slots = {file.get_slot(other): other for other in standing}
    slots |= {file.get_slot_at_new(was): at for at, was in file.targets.items() if at in standing}
    beside = [p for p in file.pieces if _get_level(p) == _get_level(piece)]
    at = beside.index(piece)
    body = find_indentation(file.old.source, piece.start) + file.old.get_text(piece)
    for other in reversed(beside[:at]):
        if anchor := slots.get(file.get_slot_at_new(other)):
            edits.insert(anchor.end, b'\n' * (1 + _has_empty_line_above(file, piece)) + body)
            return
    for other in beside[at + 1 :]:
        if anchor := slots.get(file.get_slot_at_new(other)):
            margin = len(find_indentation(file.new.source, anchor.start))
            edits.insert(
                anchor.start - margin, body + b'\n' * (1 + _has_empty_line_above(file, other))
            )
            return
    _insert_alone(edits, file, piece, body)


def _get_level(piece: JavaPiece) -> tuple[bool, str]:
    return piece.kind == 'import', '' if piece.kind == 'import' else piece.owner


def _has_empty_line_above(file: OldJavaFile, piece: JavaPiece) -> bool:
    """Whether an empty line stands above a piece at old."""
    above = file.old.source[: piece.start].rstrip(b' \t').replace(b'\r', b'')
    return above.endswith(b'\n\n')


def _insert_alone(edits: TextEdits, file: OldJavaFile, piece: JavaPiece, body: bytes) -> None:
    """Without a neighbour: behind the imports, at the end of the file, or of the type around it."""
    source = file.new.source
    if piece.kind == 'import':
        at = max((i.end_byte for i in file.new.file.imports), default=file.new.package_end)
        edits.insert(at, b'\n' + body if at else body + b'\n')
    elif not piece.owner:
        edits.insert(len(source.rstrip()), b'\n\n' + body)
    else:
        brace = file.new.types[file.translate_name(piece.owner)].end_byte - 1
        margin = find_indentation(source, brace)
        alone = source[: brace - len(margin)].endswith(b'\n')
        edits.insert(brace - len(margin) if alone else brace, body + b'\n')
