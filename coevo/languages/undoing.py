"""What a language that can undo a change in its text answers: one declaration as it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Member
from coevo.languages.declarations import SourceFile
from coevo.model.dependencies import Revised


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedDeclaration:
    """A type in a version of a file; `member` is None where the type lacks it."""

    path: str
    source: bytes
    file: SourceFile
    type: DeclaredType
    member: Member | None


def like(member: Member, type_: DeclaredType) -> Member | None:
    """The member of a type of the same kind, name and parameters."""
    return next((other for other in type_.members if _identity(other) == _identity(member)), None)


def neighbours(
    old: LocatedDeclaration, new: LocatedDeclaration
) -> tuple[Member | None, Member | None]:
    """The members at new between which a removed one stood, as far as they are still there."""
    assert old.member is not None
    place = old.type.members.index(old.member)
    above = (like(member, new.type) for member in old.type.members[:place][::-1])
    below = (like(member, new.type) for member in old.type.members[place + 1 :])
    return next(filter(None, above), None), next(filter(None, below), None)


def _identity(member: Member) -> tuple[str, ...]:
    return member.kind, member.name, *member.parameters


class Undoing(Protocol):
    """A module beside a language's surgery; all that is not undone is left as it is."""

    # the file at new with one member as it was; `new` has the declaration unless it was removed,
    # `old` unless it was inserted
    def undone(
        self, revised: Revised, old: LocatedDeclaration | None, new: LocatedDeclaration
    ) -> bytes: ...

    # the file at new with a type's header as it was, but for its name; None if they are the same
    def header_undone(self, old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None: ...

    # the file at new without a type; None where nothing is left of it
    def type_removed(self, new: LocatedDeclaration) -> bytes | None: ...

    # a file at new with a type that it had; None where what was around that is gone
    def type_put_back(self, old: LocatedDeclaration, source: bytes) -> bytes | None: ...
