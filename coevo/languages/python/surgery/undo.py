"""Undo one changed declaration in the new version of its file, and leave everything else.

Implements `coevo.languages.measures.ChangeUndoing`.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from tree_sitter import Node

from coevo.languages.declarations import MODULE
from coevo.languages.measures import LocatedDeclaration, find_neighbours
from coevo.languages.python.reading.statements import get_definition
from coevo.languages.python.surgery.cuts import (
    count_empty_lines_above,
    find_multiline_strings,
    reindent,
    remove_pieces,
)
from coevo.languages.python.surgery.old_pieces import add_import, format_import_line
from coevo.languages.python.surgery.pieces import make_outline, strip_module_name
from coevo.languages.python.surgery.plain_values import (
    accepts_same_calls,
    list_versions_with_plain_values as list_versions_with_plain_values,
    needs_lost_names,
    put_old_body,
)
from coevo.languages.spans import Span
from coevo.languages.text_edits import TextEdits, find_indentation, find_line_end
from coevo.model.dependencies import Revised

IS_COMPILED = False
"""Nothing reports a missing name before it is used."""


def undo_member(
    revised: Revised, old: LocatedDeclaration | None, new: LocatedDeclaration
) -> bytes | None:
    """Return the new file with one member as it was in the old one: removed, replaced or put back.

    Imports that the old text uses and the new file lacks are added. A class with no other member
    gets `pass`. None if a modified member takes other parameters or needs names that are gone,
    since then any call of it would fail.

    revised  what the change did with the member
    """
    if revised is Revised.INSERTED:
        assert new.member is not None
        return _remove_statement(new.source, (new.member.start_byte, new.member.end_byte))
    assert old is not None
    assert old.member is not None
    edits = TextEdits(new.source)
    was = old.member.start_byte, old.member.end_byte
    if revised is Revised.MODIFIED:
        assert new.member is not None
        if not accepts_same_calls(old, new) or needs_lost_names(old, new):
            return None
        margin = find_indentation(new.source, new.member.start_byte)
        edits.replace(
            new.member.start_byte, new.member.end_byte, _reindent_text(old.source, was, margin)
        )
    else:
        _restore_statement(edits, old, new, was)
    _add_missing_imports(edits, old.source, new.source, old.member.names)
    return edits.apply_edits()


def restore_body_under_new_signature(
    old: LocatedDeclaration, new: LocatedDeclaration
) -> bytes | None:
    """Return the new file with the old body of a function behind its new signature.

    Imports that the body needs are added. None if it cannot stand there, and for a variable.
    """
    assert old.member is not None
    restored = put_old_body(old, new)
    if restored is None:
        return None
    edits = TextEdits(restored)
    _add_missing_imports(edits, old.source, restored, old.member.names)
    return edits.apply_edits()


def undo_header(old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
    """Return the new file with the decorators, bases and keywords that a class had in the old one.

    Imports that these need are added. None if nothing of this changed, and for a module.
    """
    if MODULE in (old.type.kind, new.type.kind) or old.type.shape_hash == new.type.shape_hash:
        return None
    was, now = _find_header(old), _find_header(new)
    margin = find_indentation(new.source, now.decorators[0])
    edits = TextEdits(new.source)
    edits.replace(*now.decorators, _reindent_text(old.source, was.decorators, margin))
    edits.replace(*now.bases, old.source[slice(*was.bases)])
    _add_missing_imports(edits, old.source, new.source, old.type.names)
    return edits.apply_edits()


def remove_type_declaration(new: LocatedDeclaration) -> bytes | None:
    """Return the new file without a class; None for a module, which is the file itself."""
    if new.type.kind == MODULE:
        return None
    return _remove_statement(new.source, (new.type.start_byte, new.type.end_byte))


def put_back_type(old: LocatedDeclaration, source: bytes) -> bytes | None:
    """Return the new file with an old class added at the end of its outer class, or of the file.

    Imports that the class needs are added. None if the outer class no longer exists.

    source  the new file
    """
    file, span = make_outline(source), (old.type.start_byte, old.type.end_byte)
    outer = strip_module_name(old.type.enclosing_name)
    if outer and outer not in file.types:
        return None
    edits = TextEdits(source)
    _append_statement(
        edits, source, file.types[outer].end_byte if outer else len(source.rstrip()), old, span
    )
    _add_missing_imports(edits, old.source, source, old.type.names)
    return edits.apply_edits()


def _remove_statement(source: bytes, statement: Span) -> bytes:
    """Return a file without a statement.

    If the span is not that of a piece, it is cut out without regard to its surroundings.
    """
    file, edits = make_outline(source), TextEdits(source)
    pieces = file.list_pieces(set(file.types)) + [
        file.make_whole_piece(type_) for type_ in file.file.types if type_.around
    ]
    piece = next((candidate for candidate in pieces if candidate.statement == statement), None)
    if piece is None:
        edits.cut_span(*statement)
    else:
        remove_pieces(edits, file, [piece], lambda _: False)
    return edits.apply_edits()


def _reindent_text(source: bytes, span: Span, margin: bytes) -> bytes:
    """Return the text of a span, the indentation of its lines replaced by `margin`."""
    before = find_indentation(source, span[0])
    strings = find_multiline_strings(make_outline(source).root)
    return reindent(source[slice(*span)], before, margin, span[0], strings)


def _restore_statement(
    edits: TextEdits, old: LocatedDeclaration, new: LocatedDeclaration, span: Span
) -> None:
    before, after = find_neighbours(old, new)
    gap = b'\n' * (1 + count_empty_lines_above(old.source, span[0]))
    if before is not None:
        margin = find_indentation(new.source, before.start_byte)
        at = find_line_end(new.source, before.end_byte)
        edits.insert(at, gap + margin + _reindent_text(old.source, span, margin))
    elif after is not None:
        margin = find_indentation(new.source, after.start_byte)
        text = margin + _reindent_text(old.source, span, margin)
        edits.insert(after.start_byte - len(margin), text + gap)
    else:
        _append_statement(edits, new.source, new.type.end_byte, old, span)


def _append_statement(
    edits: TextEdits, source: bytes, end: int, old: LocatedDeclaration, span: Span
) -> None:
    """Record the edit that inserts an old statement at the end of a class or file.

    It keeps its old indentation.

    end  the end of the class or file
    """
    margin = find_indentation(old.source, span[0])
    gap = b'\n' * (1 + count_empty_lines_above(old.source, span[0]))
    edits.insert(
        find_line_end(source, end), gap + margin + _reindent_text(old.source, span, margin)
    )


def _add_missing_imports(edits: TextEdits, old: bytes, new: bytes, names: AbstractSet[str]) -> None:
    """Record edits that add the imports of the old file that the new one lacks and `names` need.

    Wildcard imports are added, too, as they may explain any name.
    """
    file = make_outline(new)
    standing = list(file.list_import_pieces())
    known = {format_import_line(piece) for piece in standing}
    bound = {name for piece in standing for name in piece.names} - {'*'}
    for piece in make_outline(old).list_import_pieces():
        (name,) = piece.names
        if format_import_line(piece) in known or name in bound:
            continue
        if name == '*' or name in names:
            add_import(edits, file, format_import_line(piece), standing)


@dataclass(frozen=True, slots=True, kw_only=True)
class _HeaderSpans:
    """The spans of the parts of a class's header that may change.

    decorators  from the first one up to `class`
    bases       from the end of the name up to the colon
    """

    decorators: Span
    bases: Span


def _find_header(declared: LocatedDeclaration) -> _HeaderSpans:
    type_ = declared.type
    root = make_outline(declared.source).root
    node = root.descendant_for_byte_range(type_.start_byte, type_.end_byte)
    assert node is not None, 'a class of this very source'
    own = get_definition(node)
    name = own.child_by_field_name('name')
    assert name is not None, 'classes have names'
    return _HeaderSpans(
        decorators=(type_.start_byte, own.start_byte),
        bases=(name.end_byte, _find_colon(own).start_byte),
    )


def _find_colon(node: Node) -> Node:
    return next(child for child in node.children if child.type == ':')
