"""Why a method is on one of two lists of dependencies only: exactly one cause for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from coevo.languages.java.reading.trees import JavaTree
from coevo.languages.layout import Side
from coevo.model.records import Dependency
from coevo.model.records import Revised
from miners.diffs.sources import SourceChange


class Cause(StrEnum):
    """The first that applies; those of ours come first, `other_type` is one of either side."""

    CONSTRUCTOR = 'constructor'
    OTHER_TYPE = 'other_type'  # a method of that name, but of another type, is on the other list
    REMOVED = 'removed_method'
    NOT_EXECUTED = 'not_executed'  # the text refers to it, the traces do not have it
    EXECUTED = 'executed'
    REFERRED = 'referred_to'  # the text refers to it, nothing was traced

    NOT_COUPLED = 'changed_but_neither_executed_nor_referred_to'
    REMOVED_NOT_COUPLED = 'removed_and_neither_executed_nor_referred_to'
    ABSENT = 'at_neither_end'
    TYPE_LEVEL = 'type_level_change'  # equal at both ends, but we have the rest of its type
    UNCHANGED = 'equal_at_both_ends'


class Only(StrEnum):
    """The list that has it."""

    OURS = 'ours'
    PUBLISHED = 'published'


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    only: Only
    method: str
    cause: Cause


@dataclass(frozen=True, kw_only=True)
class Ours:
    """Our dependencies of all test methods of a task, by their names as they are published."""

    dependencies: tuple[Dependency, ...]

    @cached_property
    def methods(self) -> Mapping[str, list[Dependency]]:
        """`Outer$Inner#method` without package and parameters: overloads are one."""
        found: dict[str, list[Dependency]] = {}
        for dependency in self.dependencies:
            if dependency.is_method:
                found.setdefault(plain(dependency.name), []).append(dependency)
        return found

    @cached_property
    def types(self) -> frozenset[str]:
        return frozenset(plain(item.name) for item in self.dependencies if not item.is_method)

    @property
    def overloads(self) -> int:
        """How many methods are told apart here by their parameters alone."""
        return sum(len({item.name for item in found}) - 1 for found in self.methods.values())


def plain(name: str) -> str:
    """`pkg.Outer$Inner#method(A)` as it is published: `Outer$Inner#method`."""
    type_, sharp, method = name.partition('#')
    return f'{type_.rpartition(".")[2]}{sharp}{method.partition("(")[0]}'


def differences(
    ours: Ours,
    published: Collection[str],
    sources: Iterable[SourceChange],
    ends: tuple[JavaTree, JavaTree],
) -> Iterator[Difference]:
    """All methods on one list only, in the order of their names.

    sources  the changed declarations of the pair; ends are its old and its new revision
    """
    changed = {plain(change.qualified): change.revised for change in sources}
    for name in sorted(ours.methods.keys() - set(published)):
        cause = _ours_only(name, ours.methods[name], published)
        yield Difference(only=Only.OURS, method=name, cause=cause)
    for name in sorted(set(published) - ours.methods.keys()):
        cause = _published_only(name, ours, changed, ends)
        yield Difference(only=Only.PUBLISHED, method=name, cause=cause)


def _ours_only(name: str, found: list[Dependency], published: Collection[str]) -> Cause:
    type_, _, method = name.partition('#')
    if method == type_.rpartition('$')[2]:
        return Cause.CONSTRUCTOR
    if method in _method_names(published):
        return Cause.OTHER_TYPE
    if all(dependency.revised is Revised.REMOVED for dependency in found):
        return Cause.REMOVED
    runs = {run for item in found for run in (item.executed_old, item.executed_new)}
    if True in runs:
        return Cause.EXECUTED
    return Cause.NOT_EXECUTED if False in runs else Cause.REFERRED


def _published_only(
    name: str, ours: Ours, changed: Mapping[str, Revised], ends: tuple[JavaTree, JavaTree]
) -> Cause:
    if name in changed:
        removed = changed[name] is Revised.REMOVED
        return Cause.REMOVED_NOT_COUPLED if removed else Cause.NOT_COUPLED
    type_, _, method = name.partition('#')
    if method in _method_names(ours.methods):
        return Cause.OTHER_TYPE
    if not any(_declares(end, type_, method) for end in ends):
        return Cause.ABSENT
    return Cause.TYPE_LEVEL if type_ in ours.types else Cause.UNCHANGED


def _method_names(methods: Collection[str]) -> set[str]:
    return {name.partition('#')[2] for name in methods}


def _declares(tree: JavaTree, type_: str, method: str) -> bool:
    """Whether a source type of this name without package declares such a method."""
    outermost = type_.partition('$')[0]
    for path in tree.paths(Side.SOURCE):
        if path.endswith(f'/{outermost}.java'):
            for found in tree.file(path).types:
                named = plain(found.name) == type_
                if named and any(member.name == method for member in found.members):
                    return True
    return False


def counted(found: Iterable[Difference]) -> Counter[tuple[Only, Cause]]:
    return Counter((item.only, item.cause) for item in found)
