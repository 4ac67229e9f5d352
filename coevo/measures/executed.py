"""Whether a trace shows a declaration as executed.

Class files name methods otherwise than sources do: constructors are `<init>`, which also holds the
initialisers of fields, lambdas and local classes have names of their own. Lines tell the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Member
from coevo.languages.traces import ExecutedMethod
from coevo.languages.traces import Trace
from coevo.measures.counterparts import declared
from coevo.model.records import Dependency
from coevo.model.records import Pair
from coevo.model.records import Revised

_PARAMETER = re.compile(r'\[*(?:L([^;]+);|[BCDFIJSZ])')


def executed_at_new(
    repository: Repository, pair: Pair, dependencies: Sequence[Dependency], trace: Trace
) -> tuple[Dependency, ...]:
    """The dependencies with what a trace on the new code says of those that stand there.

    The rest of a type counts as executed with any of its methods; resources are left as they are.
    """
    return tuple(
        replace(one, executed_new=_executed(repository, pair, one, trace))
        if one.revised is not Revised.REMOVED and one.file.endswith('.java')
        else one
        for one in dependencies
    )


def _executed(repository: Repository, pair: Pair, one: Dependency, trace: Trace) -> bool:
    executed = [method for method in trace.executed if method.file == one.file]
    standing = declared(repository, pair, one)
    if standing is None or standing.member is None:
        return any(method.type == one.name for method in executed)
    return any(is_part_of(method, standing.member, standing.type) for method in executed)


def is_part_of(one: ExecutedMethod, member: Member, type_: DeclaredType) -> bool:
    """Whether an executed method of a file is that member of a type, or lies in it."""
    name = '<init>' if member.kind == 'constructor' else member.name
    if one.type == type_.name and one.method == name:
        overloads = [m for m in type_.members if (m.kind, m.name) == (member.kind, member.name)]
        return (
            len(overloads) == 1 or _starts_or_ends_in(one, member) or _takes(one, member, overloads)
        )
    inside = one.type.startswith(f'{type_.name}$') or one.method.startswith('lambda$')
    return inside and bool(one.first_line) and _lies_in(one, member)


def _lies_in(one: ExecutedMethod, member: Member) -> bool:
    return member.start_line <= one.first_line and one.last_line <= member.end_line


def _starts_or_ends_in(one: ExecutedMethod, member: Member) -> bool:
    return any(
        member.start_line <= line <= member.end_line for line in (one.first_line, one.last_line)
    )


def _takes(one: ExecutedMethod, member: Member, overloads: list[Member]) -> bool:
    """Whether the descriptor fits this overload, where lines tell none of them."""
    if any(_starts_or_ends_in(one, other) for other in overloads):
        return False
    types = tuple(_parameters(one.descriptor))
    return types[len(types) - len(member.parameters) :] == member.parameters


def _parameters(descriptor: str) -> Iterator[str]:
    """Simple names of the parameter types."""
    plain = dict(
        zip(
            'BCDFIJSZ',
            ['byte', 'char', 'double', 'float', 'int', 'long', 'short', 'boolean'],
            strict=True,
        )
    )
    for match in _PARAMETER.finditer(descriptor.partition(')')[0]):
        text = match.group(0)
        dimensions = len(text) - len(text.lstrip('['))
        own = match.group(1)
        name = re.split(r'[/$]', own)[-1] if own else plain[text[-1]]
        yield name + '[]' * dimensions
