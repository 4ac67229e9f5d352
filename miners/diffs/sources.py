"""Find the production declarations that a pair inserted, modified or removed.

A type that moved with its package, file or module is the same type, and its equal members are
unchanged. If its qualified name differs, the type itself is modified, since its users must change.
A member that was renamed or moved to another type is another member.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from coevo.languages.declarations import DeclaredType, LocatedType, Member
from coevo.languages.reading import RevisionTree
from coevo.model.dependencies import Revised
from coevo.model.records import FileOrigin

_SHARED = 0.5
"""The minimal share of equal members for a type of the same simple name to count as moved."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceChange:
    """A changed declaration: a method, a constructor, or a type without these.

    For a type, both members are None. `old` and `new` are the type at both ends, or the type that
    declares the member; None if the type does not exist there.
    """

    revised: Revised
    old: LocatedType | None
    new: LocatedType | None
    old_member: Member | None
    new_member: Member | None

    @property
    def located(self) -> LocatedType:
        """The type at new, or at old if the declaration was removed."""
        location = self.new if self.revised is not Revised.REMOVED else self.old
        assert location is not None
        return location

    @property
    def member(self) -> Member | None:
        """The member at new, or at old if removed; None if the change is of the type itself."""
        return self.old_member if self.revised is Revised.REMOVED else self.new_member

    @property
    def declaration_head(self) -> str:
        """The text of the declaration's head."""
        return self.member.declaration if self.member else self.located.type.declaration

    @property
    def lines(self) -> tuple[int, int]:
        """The first and last line of the declaration, or of its type."""
        node = self.member or self.located.type
        return node.start_line, node.end_line

    @property
    def qualified_name(self) -> str:
        """The name `pkg.Type#method(Parameter,Types)`, or the type's name."""
        if self.member is None:
            return self.located.type.name
        return f'{self.located.type.name}#{self.member.name}({",".join(self.member.parameters)})'


def find_source_changes(
    old: RevisionTree, new: RevisionTree, old_paths: Iterable[str], new_paths: Iterable[str]
) -> tuple[SourceChange, ...]:
    """Return the changed declarations of source files, in a fixed order.

    Generated and vendored files are left out, and so are declarations with equal tokens.

    old_paths, new_paths  the source files that differ, at either end
    """
    olds = [
        LocatedType(path, type_)
        for path in old_paths
        if _is_handwritten(path, old, new)
        for type_ in old.parse_file(path).types
    ]
    news = [
        LocatedType(path, type_)
        for path in new_paths
        if _is_handwritten(path, old, new)
        for type_ in new.parse_file(path).types
    ]
    changes: list[SourceChange] = []
    for before, after in _pair_types(olds, news):
        changes += _compare_types(before, after)
    return tuple(
        sorted(changes, key=lambda c: (c.located.path, *c.lines, c.qualified_name, c.revised))
    )


def _is_handwritten(path: str, old: RevisionTree, new: RevisionTree) -> bool:
    """Return whether a file is handwritten, judged at new, or at old if it was deleted.

    Tests need not follow the changes of a generator.
    """
    return (new if path in new.entries else old).find_origin(path) is FileOrigin.WRITTEN


def _pair_types(
    olds: list[LocatedType], news: list[LocatedType]
) -> Iterator[tuple[LocatedType | None, LocatedType | None]]:
    """Yield each type as it is at old and at new; None where it does not exist.

    First come types of the same path and name, then moved types, then types at one end only.
    """
    by_place = {(located.path, located.type.name): located for located in olds}
    rest = []
    for new in news:
        if (old := by_place.pop((new.path, new.type.name), None)) is not None:
            yield old, new
        else:
            rest.append(new)
    by_name = defaultdict(list)
    for old in by_place.values():
        by_name[old.type.simple].append(old)
    for new in rest:
        old = _find_moved_type(new, by_name[new.type.simple])
        if old is not None:
            by_name[new.type.simple].remove(old)
        yield old, new
    for old in (located for left in by_name.values() for located in left):
        yield old, None


def _find_moved_type(new: LocatedType, olds: list[LocatedType]) -> LocatedType | None:
    scored = [(_compute_equal_member_share(old.type, new.type), old.path) for old in olds]
    best = max(scored, default=(0.0, ''))
    if best[0] < _SHARED:
        return None
    return next(
        old for old in olds if (_compute_equal_member_share(old.type, new.type), old.path) == best
    )


def _compute_equal_member_share(old: DeclaredType, new: DeclaredType) -> float:
    """Return the share of equal members of two types, from 0 to 1; the header counts as one."""
    before = {old.header_hash, *(member.hash for member in _list_callables(old).values())}
    after = {new.header_hash, *(member.hash for member in _list_callables(new).values())}
    return len(before & after) / max(len(before), len(after))


def _compare_types(old: LocatedType | None, new: LocatedType | None) -> Iterator[SourceChange]:
    before = _list_callables(old.type) if old else {}
    after = _list_callables(new.type) if new else {}
    headers = [(at.type.name, at.type.header_hash) if at else None for at in (old, new)]
    is_elsewhere = all(at.type.is_elsewhere for at in (old, new) if at)
    if headers[0] != headers[1] and not is_elsewhere:
        yield _make_change(old, new, None, None)
    for key in dict.fromkeys([*before, *after]):
        old_member, other = before.get(key), after.get(key)
        if (old_member.hash if old_member else None) != (other.hash if other else None):
            yield _make_change(old, new, old_member, other)


def _make_change(
    old: LocatedType | None, new: LocatedType | None, one: Member | None, other: Member | None
) -> SourceChange:
    at_old, at_new = (one, other) if one or other else (old, new)
    if at_old is None:
        revised = Revised.INSERTED
    else:
        revised = Revised.REMOVED if at_new is None else Revised.MODIFIED
    return SourceChange(revised=revised, old=old, new=new, old_member=one, new_member=other)


def _list_callables(type_: DeclaredType) -> dict[tuple[str, ...], Member]:
    return {
        (member.kind, member.name, *member.parameters): member
        for member in type_.members
        if member.kind in ('method', 'constructor')
    }
