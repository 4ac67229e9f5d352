"""Where a piece that a start file brings from its old file is put: where it stood among others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from tree_sitter import Node

from coevo.languages.core.old_files import find_neighbour
from coevo.languages.python.surgery.layout import count_empty_lines_above
from coevo.languages.python.surgery.old_pieces import OldPythonFile, list_slots, render
from coevo.languages.python.surgery.pieces import PythonOutline, PythonPiece
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.text_edits import TextEdits, find_indentation, find_line_end


def add_piece(
    edits: TextEdits, file: OldPythonFile, piece: PythonPiece, standing: Sequence[PythonPiece]
) -> None:
    """Insert a piece behind or before the nearest of its neighbours at old that stands at new."""
    if piece.kind == 'import':
        add_import(edits, file.new, render(file, piece, b''), standing)
        return
    owner = file.translate_owner(piece)
    if owner and _is_on_one_line(file.new, owner):
        raise StartStateInvalid(f'{owner.lstrip("$")} is written on one line')
    margin = _find_margin(file.new, owner, standing)
    body = margin + render(file, piece, margin)
    near = [p for p in standing if p.owner == owner and p.kind != 'import']
    near = [p for p in near if _stands_alone(file.new.source, p, margin)]
    anchors: dict[Hashable, PythonPiece] = {
        slot: p for p in near for slot in list_slots(p, p.owner)
    }
    for at, was in file.targets.items():
        if at in near:
            anchors |= dict.fromkeys(list_slots(was, was.owner), at)
    beside = [p for p in file.pieces if p.owner == piece.owner and p.kind != 'import']
    neighbour = find_neighbour(piece, beside, file.list_slots, anchors)
    if neighbour is None:
        _add_last(edits, file, piece, body)
    elif neighbour.before is None:
        gap = b'\n' * (1 + count_empty_lines_above(file.old.source, piece.start))
        edits.insert(find_line_end(file.new.source, neighbour.anchor.end), gap + body)
    else:
        gap = b'\n' * (1 + count_empty_lines_above(file.old.source, neighbour.before.start))
        edits.insert(neighbour.anchor.start - len(margin), body + gap)


def _stands_alone(source: bytes, piece: PythonPiece, margin: bytes) -> bool:
    """Whether a piece begins its line where pieces of its type begin: under no condition."""
    first = source.rfind(b'\n', 0, piece.start) + 1
    return source[first : piece.start].lstrip(b'\xef\xbb\xbf') == margin


def _is_on_one_line(new: PythonOutline, owner: str) -> bool:
    """Whether what is in a class stands behind its head."""
    type_ = new.types[owner]
    last = new.source[: type_.end_byte].rpartition(b'\n')[2].split(maxsplit=2)
    return last[:1] == [b'class'] and last[1].startswith(type_.simple.encode())


def _find_margin(new: PythonOutline, owner: str, standing: Sequence[PythonPiece]) -> bytes:
    """The white space before the members of a type."""
    if not owner:
        return b''
    margins = [find_indentation(new.source, p.start) for p in standing if p.owner == owner]
    own = find_indentation(new.source, new.types[owner].start_byte)
    deeper = [margin for margin in margins if len(margin) > len(own)]
    return min(deeper, key=len) if deeper else own + b'    '


def add_import(
    edits: TextEdits, new: PythonOutline, line: bytes, standing: Iterable[PythonPiece]
) -> None:
    """Behind the imports at the top; without any where they stood, or behind what the file says of
    itself."""
    first = min((t.start_byte for t in new.file.types if t.around), default=len(new.source))
    functions = [m.start_byte for m in new.file.types[0].members if m.kind == 'method']
    known = [p for p in new.list_import_pieces() if p.start < min([first, *functions])]
    left = {p.statement for p in standing if p.kind == 'import'}
    ends = [p.statement[1] for p in known if p.statement in left]
    if known and not ends:
        edits.insert(known[0].statement[0], line + b'\n')
        return
    ends = ends or list(_find_head_ends(new))
    if ends:
        edits.insert(find_line_end(new.source, max(ends)), b'\n' + line)
    else:
        at = 3 if new.source.startswith(b'\xef\xbb\xbf') else 0
        edits.insert(at, line + b'\n')


def _find_head_ends(new: PythonOutline) -> Iterator[int]:
    """Where the comments in the first two lines and the docstring of a file end."""
    children = new.root.named_children
    yield from (c.end_byte for c in children if c.type == 'comment' and c.start_point.row < 2)
    first = next((c for c in children if c.type != 'comment'), None)
    if first is not None and first.type == 'expression_statement' and _is_string(first):
        yield first.end_byte


def _is_string(statement: Node) -> bool:
    return [c.type for c in statement.named_children] in (['string'], ['concatenated_string'])


def _add_last(edits: TextEdits, file: OldPythonFile, piece: PythonPiece, body: bytes) -> None:
    """Without a neighbour: at the end of the file, or of the type around it."""
    new, owner = file.new, file.translate_owner(piece)
    end = len(new.source.rstrip())
    if owner:
        end = new.types[owner].end_byte
    gap = b'\n' * (1 + count_empty_lines_above(file.old.source, piece.start))
    edits.insert(find_line_end(new.source, end) if end else 0, (gap if end else b'') + body)
