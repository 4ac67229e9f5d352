"""Decides whether an executed function is, or belongs to, a declaration of a source file."""

from __future__ import annotations

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.traces import ExecutedMethod


def is_part_of(one: ExecutedMethod, member: Member | None, type_: DeclaredType) -> bool:
    """Return whether an executed function is `member` itself or lies within it.

    Lines decide; without lines the name does: `F`, `(T).M` or `(*T).M`. If `member` is None, return
    whether what `type_` has beside functions counts as executed: for a package always, for a type
    if the function is one of its methods. The caller must have matched the file.
    """
    if member is not None:
        return _is_same_member(one, member, type_)
    if not type_.around:
        return True
    return any(_is_same_member(one, each, type_) for each in type_.members)


def _is_same_member(one: ExecutedMethod, member: Member, type_: DeclaredType) -> bool:
    if one.first_line:
        return member.start_line <= one.first_line and one.last_line <= member.end_line
    return one.method in _list_go_names(member, type_)


def _list_go_names(member: Member, type_: DeclaredType) -> tuple[str, ...]:
    if not type_.around:
        return (member.name,)
    return f'({type_.simple}).{member.name}', f'(*{type_.simple}).{member.name}'
