"""Whether a function that was executed is a declaration of a source, or lies in one."""

from __future__ import annotations

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.traces import ExecutedMethod


def is_part_of(one: ExecutedMethod, member: Member | None, type_: DeclaredType) -> bool:
    """Whether an executed function of a file is that member of a type, or lies in it.

    Lines tell: code begins with its first decorator, and so does the declaration; nested functions,
    lambdas and, before 3.12, comprehensions are functions of their own within it. The rest of a module
    counts with any function of its file, that of a class with those that stand in it.
    """
    whole = member or type_
    if not one.first_line:
        return False
    return whole.start_line <= one.first_line and one.last_line <= whole.end_line
