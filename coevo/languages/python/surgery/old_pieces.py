"""Bring the pieces that old tests need into a new file, each to its old place among the others."""

from __future__ import annotations

import builtins
from collections.abc import Hashable, Iterable, Iterator, Sequence, Set as AbstractSet

from tree_sitter import Node

from coevo.languages.core.cut_plans import OldFile, find_new_and_old_neighbour
from coevo.languages.core.outlines import list_type_names_in_piece
from coevo.languages.core.reach import list_parent_names
from coevo.languages.python.reading.tests import is_run_by_framework
from coevo.languages.python.surgery.cuts import (
    count_empty_lines_above,
    find_multiline_strings,
    reindent,
)
from coevo.languages.python.surgery.pieces import (
    PythonOutline,
    PythonPiece,
)
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.text_edits import TextEdits, find_indentation, find_line_end
from coevo.model.records import TestMethod

# Names that need no piece. Only a wildcard import could explain any other unknown name.
_EVERYWHERE = frozenset(dir(builtins)) | {'self', 'cls', '__file__', '__name__'}

Slot = tuple[str, str]

OldPythonFile = OldFile[PythonOutline, PythonPiece]


class PythonNeeds:
    """Decides which pieces old tests need from their file. Implements `core.cut_plans.Needs`.

    Subclasses are brought along with their base classes, since tests of a mixin run only in
    subclasses.
    """

    def __init__(self, file: OldPythonFile) -> None:
        self._file = file
        left = file.plan.pieces_sure_to_stay
        self._known = {slot for piece in left for slot in list_taken_slots(piece, piece.owner)}
        imports = [p.imported for p in left if p.imported and p.imported.binds_top_package]
        self._loaded = {imported_name.name: imported_name.bound for imported_name in imports}
        self._wildcards = {p.imported.qualified for p in left if p.imported and p.names == ('*',)}
        self._above = {n for piece in file.inserted if piece.kind == 'type' for n in piece.names}

    def may_be_added(self, piece: PythonPiece) -> bool:
        """Return whether an old piece may be added to the new file: it lacks the piece's names.

        Its class must be in the new file. Initializers and wildcard imports may not be added.
        """
        return (
            piece.names != ('*',)
            and piece.kind != 'initializer'
            and piece.owner in self._file.renamed
            and (
                self._known.isdisjoint(self._file.list_taken_slots(piece))
                or self._imports_further_submodule(piece)
            )
        )

    def list_needed(
        self, free: Sequence[PythonPiece], brought: AbstractSet[PythonPiece]
    ) -> list[PythonPiece]:
        """Return the pieces that are needed: subclasses of brought classes, and mentioned pieces.

        free     the pieces to choose from
        brought  those that are brought already
        """
        heirs = [
            piece
            for piece in free
            if not self._above.isdisjoint(self._list_base_class_names(piece))
        ]
        self._above.update(name for piece in heirs for name in piece.names)
        return [*heirs, *(piece for piece in free if self._is_needed(piece))]

    def _list_base_class_names(self, piece: PythonPiece) -> set[str]:
        """Return the simple names of the base classes of a whole class."""
        if piece.kind != 'type':
            return set()
        old = self._file.old
        type_ = old.types[list_type_names_in_piece(old, piece)[0]]
        return list_parent_names(type_)

    def _imports_further_submodule(self, piece: PythonPiece) -> bool:
        """Return whether an import loads another module of a package that the new file imports.

        Example: `import os.path` beside `import os`.
        """
        imported = piece.imported
        if imported is None or not imported.binds_top_package or imported.name == imported.bound:
            return False
        return imported.name not in self._loaded and imported.bound in self._loaded.values()

    def _is_needed(self, piece: PythonPiece) -> bool:
        """Return whether a piece is mentioned, or is a fixture (`setUp`) of mentioned members."""
        mentions = self._file.mentions
        if not piece.owner:
            return not mentions.isdisjoint(piece.names)
        if not mentions.isdisjoint(f'.{name}' for name in piece.names):
            return True
        own = {name for name in piece.names_to_bring_along if name.startswith('.')}
        if any(is_run_by_framework(member) for member in piece.members):
            return not mentions.isdisjoint(own)
        return not mentions.isdisjoint(piece.names)  # a fixture that is requested by its name

    def list_wildcard_imports(self, brought: AbstractSet[PythonPiece]) -> Iterator[PythonPiece]:
        """Yield old wildcard imports that the new file lacks, if a mentioned name is unexplained.

        It is unexplained if no known piece declares it: a wildcard import may.
        """
        explained = _EVERYWHERE | {name for _, name in self._known}
        explained |= {name for piece in brought for name in piece.names}
        if all(name.startswith('.') or name in explained for name in self._file.mentions):
            return
        for piece in self._file.pieces:
            imported = piece.imported
            if (
                imported is not None
                and imported.name == '*'
                and imported.qualified not in self._wildcards
            ):
                yield piece


def list_taken_slots(piece: PythonPiece, owner: str) -> list[Slot]:
    """Return the slots that a piece takes: each name that it declares, with `owner`.

    A function, a class and a variable of one name take the same slot, so the new file can have only
    one of them.
    """
    return [(owner, name) for name in piece.names]


def find_test(file: OldPythonFile, method: TestMethod) -> PythonPiece:
    """Return the piece of a test method in the old file."""
    member = file.old.find_declaration(method, 'old')
    span = (member.start_byte, member.end_byte)
    return next(piece for piece in file.pieces if piece.statement == span)


def can_old_replace_new(new: PythonPiece, old: PythonPiece) -> bool:
    """Return whether an old piece can take the place of a new one: none is an imported name."""
    return new.kind != 'import' and old.kind != 'import'


def is_same_import(new: PythonPiece, old: PythonPiece) -> bool:
    """Return whether both pieces are imports of the same name."""
    return new.kind == old.kind == 'import' and format_import_line(new) == format_import_line(old)


def render_at(file: OldPythonFile, piece: PythonPiece, at: PythonPiece) -> bytes:
    """Return the text of an old piece with the indentation of the new piece that it replaces."""
    return render(file, piece, find_indentation(file.new.source, at.start))


def render(file: OldPythonFile, piece: PythonPiece, margin: bytes) -> bytes:
    """Return the text of an old piece with the indentation `margin`.

    An imported name becomes an import statement of its own.
    """
    if piece.kind == 'import':
        return format_import_line(piece)
    return reindent(
        file.old.get_text(piece),
        find_indentation(file.old.source, piece.start),
        margin,
        piece.start,
        find_multiline_strings(file.old.root),
    )


def drop_repeated_imports(pieces: Sequence[PythonPiece]) -> Iterator[PythonPiece]:
    """Yield the pieces in order, of equal imports only the first."""
    lines: set[bytes] = set()
    for piece in pieces:
        line = format_import_line(piece) if piece.kind == 'import' else b''
        if line not in lines:
            yield piece
        lines |= {line} - {b''}


def format_import_line(piece: PythonPiece) -> bytes:
    """Return the import statement of one imported name."""
    imported = piece.imported
    if imported is None:
        raise StartStateInvalid('an import without a name')
    renamed = imported.bound not in (
        imported.name,
        imported.name.partition('.')[0] if not imported.module else '*',
    )
    name = f'{imported.name} as {imported.bound}' if renamed else imported.name
    return (
        f'from {imported.module} import {name}' if imported.module else f'import {name}'
    ).encode()


def add_piece(
    edits: TextEdits, file: OldPythonFile, piece: PythonPiece, standing: Sequence[PythonPiece]
) -> None:
    """Record the edit that inserts an old piece beside the neighbour nearest to it in the old file.

    Without a neighbour that the new file has, it is inserted at the end of its class or of the
    file; an import, after the imports at the top.

    standing  the pieces that the new file keeps

    Raises:
        StartStateInvalid: the class of the piece is written on one line
    """
    if piece.kind == 'import':
        add_import(edits, file.new, render(file, piece, b''), standing)
        return
    owner = file.translate_owner(piece)
    if owner and _is_on_one_line(file.new, owner):
        raise StartStateInvalid(f'{owner.lstrip("$")} is written on one line')
    margin = _find_margin(file.new, owner, standing)
    body = margin + render(file, piece, margin)
    near = [p for p in standing if p.owner == owner and p.kind != 'import']
    near = [p for p in near if _begins_line_at_margin(file.new.source, p, margin)]
    anchors: dict[Hashable, PythonPiece] = {
        slot: p for p in near for slot in list_taken_slots(p, p.owner)
    }
    for at, was in file.targets.items():
        if at in near:
            anchors |= dict.fromkeys(list_taken_slots(was, was.owner), at)
    beside = [p for p in file.pieces if p.owner == piece.owner and p.kind != 'import']
    neighbour = find_new_and_old_neighbour(piece, beside, file.list_taken_slots, anchors)
    if neighbour is None:
        _add_last(edits, file, piece, body)
        return
    anchor, before = neighbour
    if before is None:
        gap = b'\n' * (1 + count_empty_lines_above(file.old.source, piece.start))
        edits.insert(find_line_end(file.new.source, anchor.end), gap + body)
    else:
        gap = b'\n' * (1 + count_empty_lines_above(file.old.source, before.start))
        edits.insert(anchor.start - len(margin), body + gap)


def _begins_line_at_margin(source: bytes, piece: PythonPiece, margin: bytes) -> bool:
    """Return whether a piece begins its line at the margin of its type, so under no condition."""
    first = source.rfind(b'\n', 0, piece.start) + 1
    return source[first : piece.start].lstrip(b'\xef\xbb\xbf') == margin


def _is_on_one_line(new: PythonOutline, owner: str) -> bool:
    """Return whether the body of a class is on the line of its head: `class A: pass`."""
    type_ = new.types[owner]
    last = new.source[: type_.end_byte].rpartition(b'\n')[2].split(maxsplit=2)
    return last[:1] == [b'class'] and last[1].startswith(type_.simple.encode())


def _find_margin(new: PythonOutline, owner: str, standing: Sequence[PythonPiece]) -> bytes:
    """Return the indentation of the members of a class; b'' for the module."""
    if not owner:
        return b''
    margins = [find_indentation(new.source, p.start) for p in standing if p.owner == owner]
    own = find_indentation(new.source, new.types[owner].start_byte)
    deeper = [margin for margin in margins if len(margin) > len(own)]
    return min(deeper, key=len) if deeper else own + b'    '


def add_import(
    edits: TextEdits, new: PythonOutline, line: bytes, standing: Iterable[PythonPiece]
) -> None:
    """Record the edit that inserts an import line after the kept imports at the top of a file.

    If all of them are removed, the line takes the place of the first. A file without imports gets
    the line after its head comments and docstring.
    """
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
    """Yield the ends of the docstring and of the comments in the first two lines of a file."""
    children = new.root.named_children
    yield from (c.end_byte for c in children if c.type == 'comment' and c.start_point.row < 2)
    first = next((c for c in children if c.type != 'comment'), None)
    if first is not None and first.type == 'expression_statement' and _is_string(first):
        yield first.end_byte


def _is_string(statement: Node) -> bool:
    return [c.type for c in statement.named_children] in (['string'], ['concatenated_string'])


def _add_last(edits: TextEdits, file: OldPythonFile, piece: PythonPiece, body: bytes) -> None:
    """Record the edit that inserts a piece at the end of its class, or of the file."""
    new, owner = file.new, file.translate_owner(piece)
    end = len(new.source.rstrip())
    if owner:
        end = new.types[owner].end_byte
    gap = b'\n' * (1 + count_empty_lines_above(file.old.source, piece.start))
    edits.insert(find_line_end(new.source, end) if end else 0, (gap if end else b'') + body)
