"""Whether a test, and all that it depends on of a change, are only refactored (TestEvo-Bench, 3.2)."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.git import Repository
from coevo.records import Pair
from coevo.records import TestMethod
from coevo.syntax import Member
from miners.refactored import Declaration
from miners.refactored import Ends
from miners.refactored import all_only_refactored
from miners.refactored import only_refactored
from miners.refactorings import Refactorings
from miners.sources import SourceChange
from miners.trees import Located
from miners.trees import tree


def test_only_refactored(
    repository: Repository,
    pair: Pair,
    refactorings: Refactorings,
    ends: tuple[TestMethod | None, TestMethod | None],
) -> bool | None:
    """None if that is unknown."""
    old, new = (
        _test(repository, commit.rev, method) if method is not None else None
        for commit, method in zip((pair.old, pair.new), ends, strict=True)
    )
    return only_refactored(refactorings, old, new)


def source_only_refactored(
    refactorings: Refactorings, changes: Sequence[SourceChange]
) -> bool | None:
    """Of all the changed declarations of a test; False if it has none, None if it is unknown."""
    return all_only_refactored(refactorings, (_ends(change) for change in changes))


def _ends(change: SourceChange) -> Ends:
    if change.member is None:
        return _rest(change.old), _rest(change.new)
    return _member(change.old, change.old_member), _member(change.new, change.new_member)


def _member(located: Located | None, member: Member | None) -> Declaration | None:
    if located is None or member is None:
        return None
    return Declaration(
        file=located.path,
        start_line=member.start_line,
        end_line=member.end_line,
        source=member.source,
    )


def _rest(located: Located | None) -> Declaration | None:
    """A type without its methods, constructors and nested types."""
    if located is None:
        return None
    fields = [m.source for m in located.type.members if m.kind in ('field', 'initializer')]
    return Declaration(
        file=located.path,
        start_line=located.type.start_line,
        end_line=located.type.end_line,
        source=f'{located.type.declaration} {{ {" ".join(fields)} }}',
    )


def _test(repository: Repository, rev: str, method: TestMethod) -> Declaration | None:
    """A test method as it stands in its file."""
    file = tree(repository, rev).file(method.test_file)
    for type_ in file.types:
        for member in type_.members:
            named = (type_.name, member.name, member.parameters)
            if named == (method.test_class, method.test_method, method.parameters):
                return _member(Located(method.test_file, type_), member)
    return None
