"""Which changed declarations a trace shows as executed, at one end of a pair.

Class files name methods otherwise than sources do: constructors are `<init>`, which also holds the
initialisers of fields, lambdas and local classes have names of their own. Lines tell the rest.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from coevo.languages.base import ExecutedMethod
from coevo.languages.base import Trace
from coevo.syntax import Member
from miners.sources import SourceChange
from miners.trees import Located

_PARAMETER = re.compile(r'\[*(?:L([^;]+);|[BCDFIJSZ])')


class Executions:
    """A trace by source file."""

    def __init__(self, trace: Trace, *, is_new: bool) -> None:
        self._is_new = is_new
        self._by_file: dict[str, list[ExecutedMethod]] = defaultdict(list)
        for one in trace.executed:
            if one.file is not None:
                self._by_file[one.file].append(one)

    def has(self, change: SourceChange) -> bool | None:
        """Whether a change was executed; None where it does not stand at this end.

        The rest of a type counts as executed with any of its methods.
        """
        located = change.new if self._is_new else change.old
        member = change.new_member if self._is_new else change.old_member
        if located is None or (member is None and change.member is not None):
            return None
        found = self._by_file.get(located.path, [])
        if member is None:
            return any(one.type == located.type.name for one in found)
        return any(_is_of(one, member, located) for one in found)


def _is_of(one: ExecutedMethod, member: Member, located: Located) -> bool:
    name = '<init>' if member.kind == 'constructor' else member.name
    if one.type == located.type.name and one.method == name:
        overloads = [
            m for m in located.type.members if (m.kind, m.name) == (member.kind, member.name)
        ]
        return (
            len(overloads) == 1 or _starts_or_ends_in(one, member) or _takes(one, member, overloads)
        )
    inside = one.type.startswith(f'{located.type.name}$') or one.method.startswith('lambda$')
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
