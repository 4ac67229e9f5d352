"""One changed declaration undone in the new version of its file, everything else left as it is.

Fulfils `coevo.languages.undoing.Undoing`.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from tree_sitter import Node

from coevo.languages.declarations import MODULE
from coevo.languages.python.reading.statements import definition
from coevo.languages.python.surgery.cuts import cut
from coevo.languages.python.surgery.layout import gap_above
from coevo.languages.python.surgery.layout import indented
from coevo.languages.python.surgery.layout import line_end
from coevo.languages.python.surgery.layout import long_strings
from coevo.languages.python.surgery.old_pieces import import_line
from coevo.languages.python.surgery.old_places import add_import
from coevo.languages.python.surgery.pieces import outline
from coevo.languages.python.surgery.pieces import within_module
from coevo.languages.spans import Span
from coevo.languages.text_edits import TextEdits
from coevo.languages.text_edits import indentation
from coevo.languages.undoing import LocatedDeclaration
from coevo.languages.undoing import neighbours
from coevo.model.dependencies import Revised


def undone(revised: Revised, old: LocatedDeclaration | None, new: LocatedDeclaration) -> bytes:
    """As in Java: imports that the old text names and new lacks come with it.

    A class of which nothing is left passes.
    """
    if revised is Revised.INSERTED:
        assert new.member is not None
        return _without(new.source, (new.member.start_byte, new.member.end_byte))
    assert old is not None
    assert old.member is not None
    edits = TextEdits(new.source)
    was = old.member.start_byte, old.member.end_byte
    if revised is Revised.MODIFIED:
        assert new.member is not None
        margin = indentation(new.source, new.member.start_byte)
        edits.replace(new.member.start_byte, new.member.end_byte, _moved(old.source, was, margin))
    else:
        _put_back(edits, old, new, was)
    _bring_imports(edits, old.source, new.source, old.member.names)
    return edits.result()


def header_undone(old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
    """The file at new with a class's decorators, bases and keywords as they were; None if they are
    the same, and of a module."""
    if MODULE in (old.type.kind, new.type.kind) or old.type.shape_hash == new.type.shape_hash:
        return None
    was, now = _header_of(old), _header_of(new)
    margin = indentation(new.source, now.decorators[0])
    edits = TextEdits(new.source)
    edits.replace(*now.decorators, _moved(old.source, was.decorators, margin))
    edits.replace(*now.bases, old.source[slice(*was.bases)])
    _bring_imports(edits, old.source, new.source, old.type.names)
    return edits.result()


def type_removed(new: LocatedDeclaration) -> bytes | None:
    """The file at new without a class; None of a module, which is the file."""
    if new.type.kind == MODULE:
        return None
    return _without(new.source, (new.type.start_byte, new.type.end_byte))


def type_put_back(old: LocatedDeclaration, source: bytes) -> bytes | None:
    """At the end of the class that it stood in, or of the file; None where that class is gone."""
    file, span = outline(source), (old.type.start_byte, old.type.end_byte)
    outer = within_module(old.type.outer)
    if outer and outer not in file.types:
        return None
    edits = TextEdits(source)
    _append(edits, source, file.types[outer].end_byte if outer else len(source.rstrip()), old, span)
    _bring_imports(edits, old.source, source, old.type.names)
    return edits.result()


def _without(source: bytes, statement: Span) -> bytes:
    """What cannot be told apart from what it stands in is taken out as it is."""
    file, edits = outline(source), TextEdits(source)
    pieces = file.pieces(set(file.types)) + [
        file.whole(type_) for type_ in file.file.types if type_.around
    ]
    piece = next((one for one in pieces if one.statement == statement), None)
    if piece is None:
        edits.cut(*statement)
    else:
        cut(edits, file, [piece], lambda _: False)
    return edits.result()


def _moved(source: bytes, span: Span, margin: bytes) -> bytes:
    """A text as it is written behind some white space."""
    before = indentation(source, span[0])
    strings = long_strings(outline(source).root)
    return indented(source[slice(*span)], before, margin, span[0], strings)


def _put_back(
    edits: TextEdits, old: LocatedDeclaration, new: LocatedDeclaration, span: Span
) -> None:
    before, after = neighbours(old, new)
    gap = b'\n' * (1 + gap_above(old.source, span[0]))
    if before is not None:
        margin = indentation(new.source, before.start_byte)
        at = line_end(new.source, before.end_byte)
        edits.insert(at, gap + margin + _moved(old.source, span, margin))
    elif after is not None:
        margin = indentation(new.source, after.start_byte)
        text = margin + _moved(old.source, span, margin)
        edits.insert(after.start_byte - len(margin), text + gap)
    else:
        _append(edits, new.source, new.type.end_byte, old, span)


def _append(edits: TextEdits, source: bytes, end: int, old: LocatedDeclaration, span: Span) -> None:
    """At the end of a class or file, as deep as it was."""
    margin = indentation(old.source, span[0])
    gap = b'\n' * (1 + gap_above(old.source, span[0]))
    edits.insert(line_end(source, end), gap + margin + _moved(old.source, span, margin))


def _bring_imports(edits: TextEdits, old: bytes, new: bytes, names: AbstractSet[str]) -> None:
    """Imports of the old file that one of the names takes and the new file does not have."""
    file = outline(new)
    standing = list(file.imports())
    known = {import_line(piece) for piece in standing}
    bound = {name for piece in standing for name in piece.names} - {'*'}
    for piece in outline(old).imports():
        (name,) = piece.names
        if import_line(piece) in known or name in bound:
            continue
        if name == '*' or name in names:
            add_import(edits, file, import_line(piece), standing)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    """decorators: up to `class`; bases: from its name to the colon."""

    decorators: Span
    bases: Span


def _header_of(declared: LocatedDeclaration) -> _Header:
    type_ = declared.type
    root = outline(declared.source).root
    node = root.descendant_for_byte_range(type_.start_byte, type_.end_byte)
    assert node is not None, 'a class of this very source'
    own = definition(node)
    name = own.child_by_field_name('name')
    assert name is not None, 'classes have names'
    return _Header(
        decorators=(type_.start_byte, own.start_byte), bases=(name.end_byte, _colon(own).start_byte)
    )


def _colon(node: Node) -> Node:
    return next(child for child in node.children if child.type == ':')
