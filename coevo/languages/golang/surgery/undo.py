"""Undoes one changed declaration in the new version of its file, and leaves the rest as it is.

The exception is imports: one that is no longer used is removed, as the compiler demands, and one
that the old text needs is added. Fulfils `coevo.languages.undoing.ChangeUndoing`.
"""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.declarations import MODULE, DeclaredType
from coevo.languages.golang.surgery.cuts import remove_parts, wrap_in_keyword
from coevo.languages.golang.surgery.import_repair import repair_imports
from coevo.languages.golang.surgery.pieces import GoOutline, GoPart, GoPiece, make_outline
from coevo.languages.golang.surgery.plain_values import (
    list_versions_with_plain_values as list_versions_with_plain_values,
    restore_body_under_new_signature as restore_body_under_new_signature,
)
from coevo.languages.text_edits import TextEdits
from coevo.languages.undoing import LocatedDeclaration
from coevo.model.dependencies import Revised

_Found = tuple[GoPiece, GoPart]

IS_COMPILED = True
"""The compiler reports a missing name."""


def undo_member(revised: Revised, old: LocatedDeclaration | None, new: LocatedDeclaration) -> bytes:
    """Return the file at new with one member as it was, and with its imports repaired.

    A removed member is put back at the end, since the order of declarations has no meaning in Go.

    revised  what happened to the member: an inserted one is cut, a modified one replaced
    old      the member at the old revision; None if it was inserted
    new      the member at the new revision, unless it was removed
    """
    file, edits = make_outline(new.source), TextEdits(new.source)
    if revised is Revised.INSERTED:
        remove_parts(edits, file, [_find_member(file, new)[1]])
        return repair_imports(edits.apply_edits(), file, [])
    assert old is not None
    before = make_outline(old.source)
    was = _find_member(before, old)
    if revised is Revised.MODIFIED:
        _replace_part(edits, file, _find_member(file, new), before, was)
    else:
        _append_parts(edits, before, [was])
    return repair_imports(edits.apply_edits(), file, [before])


def undo_header(old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
    """Return the file at new with the old text of a type, without its methods.

    None if the text is the same but for the type's name, if the type is a package, or if either
    file declares only methods of the type.
    """
    if MODULE in (old.type.kind, new.type.kind) or old.type.shape_hash == new.type.shape_hash:
        return None
    before, file, edits = make_outline(old.source), make_outline(new.source), TextEdits(new.source)
    was, now = _find_type(before, old.type), _find_type(file, new.type)
    if was is None or now is None:
        return None  # the file declares only methods of the type
    _replace_part(edits, file, (now, now.first_part), before, (was, was.first_part))
    return repair_imports(edits.apply_edits(), file, [before])


def remove_type_declaration(new: LocatedDeclaration) -> bytes | None:
    """Return the file at new without a type and its methods.

    None if the file does not declare the type itself: it is a package, or has only methods here.
    """
    file, edits = make_outline(new.source), TextEdits(new.source)
    piece = _find_type(file, new.type)
    if piece is None:
        return None
    remove_parts(edits, file, piece.parts)
    return repair_imports(edits.apply_edits(), file, [])


def put_back_type(old: LocatedDeclaration, source: bytes) -> bytes | None:
    """Return the file with a removed type and its methods at the end.

    None if the old file does not declare the type itself: it is a package, or has only methods
    there.

    source  the content of the file at new
    """
    before, edits = make_outline(old.source), TextEdits(source)
    piece = _find_type(before, old.type)
    if piece is None:
        return None
    _append_parts(edits, before, [(piece, part) for part in piece.parts])
    return repair_imports(edits.apply_edits(), make_outline(source), [before])


def _find_member(file: GoOutline, declared: LocatedDeclaration) -> _Found:
    """Return the smallest part that contains a member, with its piece.

    Constants that are counted together are one part.
    """
    assert declared.member is not None
    at = declared.member.start_byte
    parts = [
        (piece, part)
        for piece in file.pieces
        for part in piece.parts
        if part.text[0] <= at < part.text[1]
    ]
    assert parts, 'a declaration of this very source'
    return min(parts, key=lambda one: one[1].text[1] - one[1].text[0])


def _find_type(file: GoOutline, type_: DeclaredType) -> GoPiece | None:
    return next((p for p in file.pieces if p.kind == 'type' and p.names == (type_.simple,)), None)


def _replace_part(
    edits: TextEdits, file: GoOutline, now: _Found, before: GoOutline, was: _Found
) -> None:
    """Put the old part in place of the new one.

    If only one of them is a line of a group, cut the new one and put the old one at the end.
    """
    if now[1].is_line == was[1].is_line:
        edits.replace(*now[1].text, before.load_part(was[1]))
    else:
        remove_parts(edits, file, [now[1]])
        _append_parts(edits, before, [was])


def _append_parts(edits: TextEdits, before: GoOutline, found: Sequence[_Found]) -> None:
    for piece, part in found:
        text = before.load_part(part)
        if part.is_line:
            text = wrap_in_keyword(piece.kind, part, text, before.source)
        edits.insert(len(edits.source), b'\n' + text + b'\n')
