"""The Protocol for undoing a change of the code: one declaration becomes as it was before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.model.dependencies import Revised


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedDeclaration:
    """A type in a version of a file, or one of its members.

    member  None if the whole type is meant, or if the type lacks the member
    """

    path: str
    source: bytes
    file: SourceFile
    type: DeclaredType
    member: Member | None


def find_same_member(member: Member, type_: DeclaredType) -> Member | None:
    """Return the member of a type with the same kind, name and parameters, or None."""
    return next(
        (other for other in type_.members if _identify_member(other) == _identify_member(member)),
        None,
    )


def find_neighbours(
    old: LocatedDeclaration, new: LocatedDeclaration
) -> tuple[Member | None, Member | None]:
    """Return the two members at new between which a removed member stood: above and below it.

    Each is the nearest member that still exists at new; None if there is none on that side.

    old  the declaration with the removed member
    new  the same type without it
    """
    assert old.member is not None
    index = old.type.members.index(old.member)
    above = (find_same_member(member, new.type) for member in old.type.members[:index][::-1])
    below = (find_same_member(member, new.type) for member in old.type.members[index + 1 :])
    return next(filter(None, above), None), next(filter(None, below), None)


def _identify_member(member: Member) -> tuple[str, ...]:
    return member.kind, member.name, *member.parameters


class ChangeUndoing(Protocol):
    """A module beside a language's surgery that puts one declaration back as it was at old.

    Everything that is not undone stays as it is.
    """

    def undo_member(
        self, revised: Revised, old: LocatedDeclaration | None, new: LocatedDeclaration
    ) -> bytes:
        """Return the file at new with one member as it was at old.

        An inserted member is removed, a modified one replaced, a removed one put back.

        revised  what happened to the member between old and new
        old      the member at old; None if it was inserted
        new      the member at new; only its type if the member was removed
        """

    def undo_header(self, old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
        """Return the file at new with the old header of a type; None if that changes nothing.

        The type keeps its new name.
        """

    def remove_type_declaration(self, new: LocatedDeclaration) -> bytes | None:
        """Return the file at new without a type.

        None if no file would be left, or the file does not declare the type itself.
        """

    def put_back_type(self, old: LocatedDeclaration, source: bytes) -> bytes | None:
        """Return the file at new with a removed type inserted; None if its surroundings are gone.

        source  the content of the file at new
        """
