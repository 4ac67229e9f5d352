"""What a language that can undo a change in its text answers: one declaration as it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.model.dependencies import Revised


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedDeclaration:
    """A type in a version of a file; `member` is None where the type lacks it."""

    path: str
    source: bytes
    file: SourceFile
    type: DeclaredType
    member: Member | None


def find_same_member(member: Member, type_: DeclaredType) -> Member | None:
    """The member of a type of the same kind, name and parameters."""
    return next(
        (other for other in type_.members if _identify_member(other) == _identify_member(member)),
        None,
    )


def find_neighbours(
    old: LocatedDeclaration, new: LocatedDeclaration
) -> tuple[Member | None, Member | None]:
    """The members at new between which a removed one stood, as far as they are still there."""
    assert old.member is not None
    index = old.type.members.index(old.member)
    above = (find_same_member(member, new.type) for member in old.type.members[:index][::-1])
    below = (find_same_member(member, new.type) for member in old.type.members[index + 1 :])
    return next(filter(None, above), None), next(filter(None, below), None)


def _identify_member(member: Member) -> tuple[str, ...]:
    return member.kind, member.name, *member.parameters


class ChangeUndoing(Protocol):
    """A module beside a language's surgery; all that is not undone is left as it is."""

    # the file at new with one member as it was; `new` has the declaration unless it was removed,
    # `old` unless it was inserted
    def undo_member(
        self, revised: Revised, old: LocatedDeclaration | None, new: LocatedDeclaration
    ) -> bytes: ...

    # the file at new with a type's header as it was, but for its name; None if they are the same
    def undo_header(self, old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None: ...

    # the file at new without a type; None where nothing is left of it
    def remove_type_declaration(self, new: LocatedDeclaration) -> bytes | None: ...

    # a file at new with a type that it had; None where what was around that is gone
    def put_back_type(self, old: LocatedDeclaration, source: bytes) -> bytes | None: ...
