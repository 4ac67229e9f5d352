"""Find which parts of a type changed besides its methods: fields, constants, its header."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from coevo.git.repository import Repository, load_content
from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.table import get_reading_of_file
from coevo.model.dependencies import Dependency, Revised


class PartKind(StrEnum):
    """A kind of part, as prompts name it."""

    CONSTANT = 'constant'
    FIELD = 'field'
    INITIALIZER = 'initializer'
    HEADER = 'header of'
    TYPE = 'type'


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """A changed part of a type."""

    kind: PartKind
    revised: Revised
    declaration: str


def find_changed_parts(
    repository: Repository, old_rev: str, new_rev: str, dependency: Dependency
) -> tuple[PromptPart, ...]:
    """Return the changed parts of a type, besides its methods, on which a test depends.

    If the type is new, was removed or moved, or no part differs, the only part is the type itself.
    """
    whole = PromptPart(
        kind=PartKind.TYPE, revised=dependency.revised, declaration=dependency.declaration
    )
    if dependency.revised is not Revised.MODIFIED:
        return (whole,)
    old, new = (_find_type(repository, rev, dependency) for rev in (old_rev, new_rev))
    if old is None or new is None:
        return (whole,)
    return tuple(_compare_types(old, new)) or (whole,)


def _find_type(repository: Repository, rev: str, dependency: Dependency) -> DeclaredType | None:
    source = load_content(repository, rev, dependency.file)
    types = (
        get_reading_of_file(dependency.file).parse(source, dependency.file).types
        if source is not None
        else ()
    )
    return next((type_ for type_ in types if type_.name == dependency.name), None)


def _compare_types(old: DeclaredType, new: DeclaredType) -> Iterator[PromptPart]:
    if old.shape_hash != new.shape_hash:
        yield PromptPart(
            kind=PartKind.HEADER, revised=Revised.MODIFIED, declaration=new.declaration
        )
    before, after = _index_fields_and_initializers(old), _index_fields_and_initializers(new)
    for key in dict.fromkeys([*before, *after]):
        was, is_ = before.get(key), after.get(key)
        if was is None and is_ is not None:
            yield _make_part(is_, Revised.INSERTED)
        elif was is not None and is_ is None:
            yield _make_part(was, Revised.REMOVED)
        elif was is not None and is_ is not None and was.hash != is_.hash:
            yield _make_part(is_, Revised.MODIFIED)


def _index_fields_and_initializers(type_: DeclaredType) -> dict[tuple[str, str, int], Member]:
    """Return the fields by name, and the initializers, which have no name, by their order."""
    fields: dict[tuple[str, str, int], Member] = {}
    for member in type_.members:
        if member.kind in ('field', 'initializer'):
            count = sum((kind, name) == (member.kind, member.name) for kind, name, _ in fields)
            fields[member.kind, member.name, count] = member
    return fields


def _make_part(member: Member, revised: Revised) -> PromptPart:
    if member.kind == 'initializer':
        return PromptPart(
            kind=PartKind.INITIALIZER, revised=revised, declaration=member.declaration
        )
    is_constant = {'static', 'final'} <= member.modifiers
    kind = PartKind.CONSTANT if is_constant else PartKind.FIELD
    return PromptPart(kind=kind, revised=revised, declaration=member.declaration)
