"""Undo one changed declaration in the new version of its file, with everything else unchanged.

Implements `coevo.languages.measures.ChangeUndoing`.
"""

from __future__ import annotations

from dataclasses import dataclass

from coevo.languages.declarations import DeclaredType, Import, SourceFile
from coevo.languages.java.reading.source import parse_java_source
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.surgery.plain_values import (
    list_versions_with_plain_values as list_versions_with_plain_values,
    put_old_body,
)
from coevo.languages.measures import LocatedDeclaration, find_neighbours
from coevo.languages.text_edits import TextEdits, find_indentation
from coevo.model.dependencies import Revised

IS_COMPILED = True
"""The compiler reports a missing name."""


def undo_member(revised: Revised, old: LocatedDeclaration | None, new: LocatedDeclaration) -> bytes:
    """Return the new file with one member in its old state.

    A modified member gets its old text, an inserted one is removed, and a removed one is put back
    after the member that it followed. Missing imports that the old text needs are added. `new`
    contains the declaration unless it was removed, `old` unless it was inserted.
    """
    edits = TextEdits(new.source)
    if revised is Revised.INSERTED:
        assert new.member is not None
        edits.cut_span(new.member.full_start_byte, new.member.end_byte)
        return edits.apply_edits()
    assert old is not None
    assert old.member is not None
    text = old.source[old.member.start_byte : old.member.end_byte]
    if revised is Revised.MODIFIED:
        assert new.member is not None
        edits.replace(new.member.start_byte, new.member.end_byte, text)
    else:
        _restore_member(edits, old, new, text)
    _add_missing_imports(edits, old.file, new.file, old.member.names)
    return edits.apply_edits()


def restore_body_under_new_signature(
    old: LocatedDeclaration, new: LocatedDeclaration
) -> bytes | None:
    """Return the new file with the old body or value of a member behind its new signature.

    Imports that it needs are added. None if it cannot stand there.
    """
    assert old.member is not None
    restored = put_old_body(old, new)
    if restored is None:
        return None
    edits = TextEdits(restored)
    _add_missing_imports(edits, old.file, parse(restored), old.member.names)
    return edits.apply_edits()


def undo_header(old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
    """Return the new file with a type's old header, except for its name; None if it is the same.

    The header is everything before the body (modifiers, annotations, parameters, supertypes, record
    components) and the constants of an enum.
    """
    was, now = locate_header(old.source, old.type), locate_header(new.source, new.type)
    if was is None or now is None or old.type.shape_hash == new.type.shape_hash:
        return None
    edits = TextEdits(new.source)
    edits.replace(now.start, now.name[0], old.source[was.start : was.name[0]])
    edits.replace(now.name[1], now.body, old.source[was.name[1] : was.body])
    constants = b'' if was.constants is None else old.source[slice(*was.constants)]
    if now.constants is not None:
        edits.replace(*now.constants, constants)
    elif constants:
        edits.insert(now.body + 1, b'\n' + constants)
    _add_missing_imports(edits, old.file, new.file, old.type.names)
    return edits.apply_edits()


def remove_type_declaration(new: LocatedDeclaration) -> bytes | None:
    """Return the new file without one of its types; None if no other type would be left."""
    if all(_contains(new.type, other) for other in new.file.types):
        return None
    edits = TextEdits(new.source)
    edits.cut_span(new.type.start_byte, new.type.end_byte)
    return edits.apply_edits()


def put_back_type(old: LocatedDeclaration, source: bytes) -> bytes | None:
    """Return the new file (`source`) with a type of the old one; None if its outer type is gone.

    A nested type is put at the end of the type around it, any other at the end of the file. Missing
    imports are added.
    """
    text = old.source[old.type.start_byte : old.type.end_byte]
    file, edits = parse(source), TextEdits(source)
    _add_missing_imports(edits, old.file, file, parse(text).names)
    around = [
        declared_type
        for declared_type in old.file.types
        if declared_type != old.type and _contains(declared_type, old.type)
    ]
    if around:
        outer = next(
            (
                declared_type
                for declared_type in file.types
                if declared_type.name == around[-1].name
            ),
            None,
        )
        if outer is None:
            return None
        margin = find_indentation(old.source, old.type.start_byte)
        edits.insert(outer.end_byte - 1, b'\n' + margin + text + b'\n')
    else:
        edits.insert(len(source), b'\n' + text + b'\n')
    return edits.apply_edits()


def _contains(outer: DeclaredType, inner: DeclaredType) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _restore_member(
    edits: TextEdits, old: LocatedDeclaration, new: LocatedDeclaration, text: bytes
) -> None:
    assert old.member is not None
    margin = find_indentation(old.source, old.member.start_byte)
    before, after = find_neighbours(old, new)
    if before is not None:
        edits.insert(before.end_byte, b'\n\n' + margin + text)
    elif after is not None:
        edits.insert(after.start_byte, text + b'\n\n' + margin)
    else:
        # If members follow, the constants of an enum must end with a semicolon; a second one does
        # no harm.
        start = b';\n' if new.type.kind == 'enum' else b'\n'
        edits.insert(new.type.end_byte - 1, start + margin + text + b'\n')


def _add_missing_imports(
    edits: TextEdits, old: SourceFile, new: SourceFile, names: frozenset[str]
) -> None:
    """Insert the imports of the old file that the names may need and the new file lacks.

    All its wildcard imports count as needed.
    """
    known = {_make_import_key(item) for item in new.imports}
    lacking = [
        item
        for item in old.imports
        if _make_import_key(item) not in known and (item.name in names or item.name == '*')
    ]
    if not lacking:
        return
    lines = [format_import(item).encode() for item in lacking]
    if new.imports:
        edits.insert(new.imports[-1].end_byte, b''.join(b'\n' + line for line in lines))
    else:
        start = min((type_.start_byte for type_ in new.types), default=len(edits.source))
        edits.insert(start, b''.join(line + b'\n' for line in lines))


def format_import(one: Import) -> str:
    """Return an import as a line of Java."""
    return f'import {"static " * one.static}{one.text}{".*" * (one.name == "*")};'


def _make_import_key(one: Import) -> tuple[bool, str, str]:
    return one.static, one.text, one.name


# The header of a type in its file: everything except members and nested types.


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeHeader:
    """The byte offsets in a file of the parts of a type's header.

    start      first byte of the declaration
    name       the type's simple name
    body       its opening brace
    constants  from the first to the last constant of an enum; None if there are none
    """

    start: int
    name: tuple[int, int]
    body: int
    constants: tuple[int, int] | None


def locate_header(source: bytes, type_: DeclaredType) -> TypeHeader | None:
    """Return the header of a type parsed from a source; None if it has no name or no body."""
    node = parse_java_source(source).find_node(type_)
    name, body = node.child_by_field_name('name'), node.child_by_field_name('body')
    if name is None or body is None:
        return None
    constants = [child for child in body.children if child.type == 'enum_constant']
    return TypeHeader(
        start=node.start_byte,
        name=(name.start_byte, name.end_byte),
        body=body.start_byte,
        constants=(constants[0].start_byte, constants[-1].end_byte) if constants else None,
    )
