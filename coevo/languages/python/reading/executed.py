"""Decide whether an executed function belongs to a declaration of a source file."""

from __future__ import annotations

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.traces import ExecutedMethod


def is_part_of(one: ExecutedMethod, member: Member | None, type_: DeclaredType) -> bool:
    """Return whether an executed function is the given member or lies inside it, by its lines.

    Without a member the whole type is compared: a module contains every function of its file, a
    class those within its lines. The code of a function begins at its first decorator, and so does
    the declaration. Nested functions, lambdas and, before 3.12, comprehensions are functions of
    their own within it. False if the lines of the function are unknown.
    """
    whole = member or type_
    if not one.first_line:
        return False
    return whole.start_line <= one.first_line and one.last_line <= whole.end_line
