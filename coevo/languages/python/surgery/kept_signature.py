"""Put the old body of a function behind its new signature, and tell whether the old text still fits."""

from __future__ import annotations

import builtins
import re

from coevo.languages.declarations import MODULE, Member, SourceFile
from coevo.languages.python.surgery.cuts import find_long_strings, reindent
from coevo.languages.python.surgery.pieces import make_outline
from coevo.languages.python.surgery.plain_values import (
    find_definition,
    list_parameters,
    replace_body,
)
from coevo.languages.text_edits import find_indentation
from coevo.languages.undoing import LocatedDeclaration, map_parameters

_CALLABLES = ('method', 'constructor')
_OWN = re.compile(r'\b(?:self|cls)\.([A-Za-z_]\w*)')
_WORD = re.compile(r'[A-Za-z_]\w*')


def put_old_body(old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
    """Return the new file with the old body of a function behind its new signature.

    Parameters with new names are bound to their old ones first. None for a variable, for a
    parameter that is gone and has no default value, and for a body that needs names that are gone.
    """
    assert old.member is not None
    if old.member.kind == 'field' or needs_lost_names(old, new):
        return None
    before, after = find_definition(old), find_definition(new)
    body, place = before.child_by_field_name('body'), after.child_by_field_name('body')
    pairs = map_parameters(list_parameters(before), list_parameters(after))
    if body is None or place is None or pairs is None:
        return None
    if any('*' in f'{one.name}{text}' for one, text in pairs):
        return None
    margin = find_indentation(new.source, after.start_byte) + b'    '
    was = find_indentation(old.source, body.start_byte)
    strings = find_long_strings(make_outline(old.source).root)
    span = slice(body.start_byte, body.end_byte)
    text = reindent(old.source[span], was, margin, body.start_byte, strings)
    lines = [f'{one.name} = {given}'.encode() for one, given in pairs]
    whole = b''.join(b'\n' + margin + line for line in [*lines, text])
    return replace_body(new.source, place, whole)


def accepts_same_calls(old: LocatedDeclaration, new: LocatedDeclaration) -> bool:
    """Return whether the old text of a member can be used as the new one is.

    A function needs the same parameters and has to be of the same kind, such as a property.
    """
    assert old.member is not None
    assert new.member is not None
    if not {old.member.kind, new.member.kind} <= set(_CALLABLES):
        return old.member.kind == new.member.kind
    heads = [
        [(one.name, one.default is None) for one in list_parameters(find_definition(declared))]
        for declared in (old, new)
    ]
    return heads[0] == heads[1] and old.member.modifiers == new.member.modifiers


def needs_lost_names(old: LocatedDeclaration, new: LocatedDeclaration) -> bool:
    """Return whether the old text of a member uses names that the new file no longer has.

    They are names of the module, and attributes of `self`. Imports do not count: they are added.
    """
    assert old.member is not None
    lost = _list_module_names(old.file) - _list_module_names(new.file) - _list_imports(new.file)
    if lost & old.member.names - set(dir(builtins)) - {old.member.name}:
        return True
    elsewhere = _list_words(old, old.member) - _list_words(new, None)
    return not elsewhere.isdisjoint(_OWN.findall(old.member.source))


def _list_module_names(file: SourceFile) -> set[str]:
    names = {type_.simple for type_ in file.types if not type_.around}
    return names | {
        member.name for type_ in file.types if type_.kind == MODULE for member in type_.members
    }


def _list_imports(file: SourceFile) -> set[str]:
    return {imported.name for imported in file.imports}


def _list_words(declared: LocatedDeclaration, without: Member | None) -> set[str]:
    """Return the words of the file, except those of one member."""
    text = declared.source
    if without is not None:
        text = text[: without.start_byte] + b' ' + text[without.end_byte :]
    return set(_WORD.findall(text.decode(errors='replace')))
