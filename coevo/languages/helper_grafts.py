"""What a new version of a test file adds to the old one beside its tests, as grafts.

What only new tests can use: no test of the old version names it. What runs by itself is none of it,
for it would change what old tests do.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from coevo.languages.declarations import MODULE
from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Member
from coevo.languages.declarations import SourceFile
from coevo.languages.surgery import Graft
from coevo.model.records import TestMethod

_ADDED = frozenset({'method', 'field'})

_Key = tuple[str, str, str, tuple[str, ...]]


def helper_grafts(
    old: SourceFile,
    new: SourceFile,
    tests: Iterable[Member],
    stays_out: Callable[[Member], bool],
) -> list[Graft]:
    """In the file's order; of a new type one, under its name alone.

    tests      those of the new file
    stays_out  whether a member runs by itself, or cannot be put in alone
    """
    starts = {one.start_byte for one in tests}
    there = {type_.name for type_ in old.types}
    known = {_key(member) for type_ in old.types for member in type_.members}
    found: list[Graft] = []
    for type_ in new.types:
        if type_.name in there:
            members = [one for one in type_.members if one.start_byte not in starts]
            found += _of_members([one for one in members if not stays_out(one)], known)
        elif _is_outermost(type_, there) and starts.isdisjoint(m.start_byte for m in type_.members):
            found.append(_graft(type_.name, '', ()))
    return found


def _key(member: Member) -> _Key:
    return member.kind, member.owner, member.name, member.parameters


def _of_members(members: Iterable[Member], known: AbstractSet[_Key]) -> Iterator[Graft]:
    for one in members:
        if one.kind in _ADDED and _key(one) not in known:
            yield _graft(one.owner, one.name, one.parameters)


def _is_outermost(type_: DeclaredType, there: AbstractSet[str]) -> bool:
    """Whether no new type brings it along."""
    return type_.kind != MODULE and (not type_.outer or type_.outer in there)


def _graft(owner: str, name: str, parameters: tuple[str, ...]) -> Graft:
    method = TestMethod(
        module='', test_file='', test_class=owner, test_method=name, parameters=parameters
    )
    return Graft(new=method)
