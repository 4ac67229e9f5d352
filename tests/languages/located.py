"""Declarations of texts that tests write, as `coevo.languages.measures` wants them."""

from __future__ import annotations

from coevo.languages.measures import LocatedDeclaration
from coevo.languages.table import get_reading


def located(language: str, path: str, text: str, name: str) -> LocatedDeclaration:
    """`Till.add` is a member of a type, `add` one of the file, `Till` a type."""
    file = get_reading(language).parse(text.encode(), path)
    owner, _, last = name.rpartition('.')
    for type_ in file.types:
        member = None
        if type_.simple == (owner or file.types[0].simple):
            member = next((one for one in type_.members if one.name == last), None)
        if member is not None or (not owner and type_.simple == name):
            return LocatedDeclaration(
                path=path, source=text.encode(), file=file, type=type_, member=member
            )
    raise LookupError(name)


def around(known: LocatedDeclaration, path: str, text: str) -> LocatedDeclaration:
    """The type of a declaration in another version of its file, which lacks that."""
    file = get_reading('python' if path.endswith('.py') else 'go').parse(text.encode(), path)
    (type_,) = (one for one in file.types if one.name == known.type.name)
    return LocatedDeclaration(path=path, source=text.encode(), file=file, type=type_, member=None)
