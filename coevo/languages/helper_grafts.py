"""Finds what a new version of a test file adds beside its tests, as grafts for the old version.

Only new tests can use such additions, since no test of the old version names them. Members that run
by themselves are left out, because they would change the behaviour of old tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set as AbstractSet

from coevo.languages.declarations import MODULE, DeclaredType, Member, SourceFile
from coevo.languages.surgery import Graft
from coevo.model.records import TestMethod

_ADDED = frozenset({'method', 'field'})

_Key = tuple[str, str, str, tuple[str, ...]]


def find_helper_grafts(
    old: SourceFile,
    new: SourceFile,
    tests: Iterable[Member],
    stays_out: Callable[[Member], bool],
) -> list[Graft]:
    """Return the additions of the new file beside its tests, as grafts, in the order of the file.

    An addition is a method, a field, or a new type that contains no tests. A new type is one graft,
    under its own name; what is nested in it is not listed.

    tests      the tests of the new file
    stays_out  returns whether a member runs by itself or cannot be inserted alone; it is no
               addition then
    """
    starts = {declared.start_byte for declared in tests}
    there = {type_.name for type_ in old.types}
    known = {_identify_member(member) for type_ in old.types for member in type_.members}
    grafts: list[Graft] = []
    for type_ in new.types:
        if type_.name in there:
            members = [declared for declared in type_.members if declared.start_byte not in starts]
            grafts += _graft_new_members(
                [declared for declared in members if not stays_out(declared)], known
            )
        elif _is_outermost_new_type(type_, there) and starts.isdisjoint(
            m.start_byte for m in type_.members
        ):
            grafts.append(_make_graft(type_.name, '', ()))
    return grafts


def _identify_member(member: Member) -> _Key:
    return member.kind, member.owner, member.name, member.parameters


def _graft_new_members(members: Iterable[Member], known: AbstractSet[_Key]) -> Iterator[Graft]:
    for member in members:
        if member.kind in _ADDED and _identify_member(member) not in known:
            yield _make_graft(member.owner, member.name, member.parameters)


def _is_outermost_new_type(type_: DeclaredType, there: AbstractSet[str]) -> bool:
    """Return whether a type can be a graft of its own.

    It must not be a module or package, nor nested in another new type, which would bring it along.
    """
    return type_.kind != MODULE and (not type_.outer or type_.outer in there)


def _make_graft(owner: str, name: str, parameters: tuple[str, ...]) -> Graft:
    method = TestMethod(
        module='', test_file='', test_class=owner, test_method=name, parameters=parameters
    )
    return Graft(new=method)
