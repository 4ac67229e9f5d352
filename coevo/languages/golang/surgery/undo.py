"""One changed declaration undone in the new version of its file, everything else left as it is.

But for its imports: one that nothing uses any more goes, as the compiler asks, and one that the old text names
comes. Fulfils `coevo.languages.undoing.ChangeUndoing`.
"""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.declarations import MODULE, DeclaredType
from coevo.languages.golang.surgery.cuts import remove_parts, wrap_in_keyword
from coevo.languages.golang.surgery.import_repair import repair_imports
from coevo.languages.golang.surgery.pieces import GoOutline, GoPart, GoPiece, make_outline
from coevo.languages.text_edits import TextEdits
from coevo.languages.undoing import LocatedDeclaration
from coevo.model.dependencies import Revised

_Found = tuple[GoPiece, GoPart]


def undo_member(revised: Revised, old: LocatedDeclaration | None, new: LocatedDeclaration) -> bytes:
    """What was removed stands at the end: the order of declarations means nothing in Go."""
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
    """The file at new with a type's own text as it was; None if it is the same, and of a package."""
    if MODULE in (old.type.kind, new.type.kind) or old.type.shape_hash == new.type.shape_hash:
        return None
    before, file, edits = make_outline(old.source), make_outline(new.source), TextEdits(new.source)
    was, now = _find_type(before, old.type), _find_type(file, new.type)
    if was is None or now is None:
        return None  # methods alone, of a type that another file declares
    _replace_part(edits, file, (now, now.first_part), before, (was, was.first_part))
    return repair_imports(edits.apply_edits(), file, [before])


def remove_type_declaration(new: LocatedDeclaration) -> bytes | None:
    """The file at new without a type and its methods; None of a package's part, which is the file."""
    file, edits = make_outline(new.source), TextEdits(new.source)
    piece = _find_type(file, new.type)
    if piece is None:
        return None
    remove_parts(edits, file, piece.parts)
    return repair_imports(edits.apply_edits(), file, [])


def put_back_type(old: LocatedDeclaration, source: bytes) -> bytes | None:
    """With its methods, at the end."""
    before, edits = make_outline(old.source), TextEdits(source)
    piece = _find_type(before, old.type)
    if piece is None:
        return None
    _append_parts(edits, before, [(piece, part) for part in piece.parts])
    return repair_imports(edits.apply_edits(), make_outline(source), [before])


def _find_member(file: GoOutline, declared: LocatedDeclaration) -> _Found:
    """The stretch that declares it; constants that are counted together are one."""
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
    """In its place, unless only one of the two is a line under a keyword for several."""
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
