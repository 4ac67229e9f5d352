"""Decide whether a test, or all changed code that it depends on, is only refactored.

See TestEvo-Bench, 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from coevo.git.repository import Repository
from coevo.languages.declarations import LocatedType, Member
from coevo.languages.reading import RevisionTree
from coevo.languages.refactorings import Refactorings
from coevo.languages.table import get_reading, get_reading_of_file
from coevo.model.records import Pair, TestMethod
from miners.diffs.refactored import Declaration, are_all_only_refactored, is_only_refactored
from miners.diffs.renaming import have_same_tokens, make_type_without_methods
from miners.diffs.sources import SourceChange


def is_test_only_refactored(
    repository: Repository,
    pair: Pair,
    refactorings: Refactorings,
    ends: tuple[TestMethod | None, TestMethod | None],
) -> bool | None:
    """Return whether the change of a test is a refactoring and nothing more; None if unknown.

    False if its text stayed and only its own tables changed.
    """
    old, new = (
        _find_test_declaration(repository, commit.rev, method) if method is not None else None
        for commit, method in zip((pair.old, pair.new), ends, strict=True)
    )
    if old is not None and new is not None and have_same_tokens(old, new):
        return False
    return is_only_refactored(refactorings, old, new)


def is_source_only_refactored(
    repository: Repository,
    pair: Pair,
    refactorings: Refactorings,
    changes: Sequence[SourceChange],
) -> bool | None:
    """Return whether all changed declarations of a test are only refactored.

    Return False if there are none, and None if it is unknown.
    """
    parsed = get_reading(pair.language)
    old, new = (parsed.open_tree(repository, commit.rev) for commit in (pair.old, pair.new))
    if any(_has_changed_beside_its_text(change, old, new) for change in changes):
        return False
    return are_all_only_refactored(
        refactorings,
        (
            (
                _make_declaration(old, change.old, change.old_member, change),
                _make_declaration(new, change.new, change.new_member, change),
            )
            for change in changes
        ),
    )


def _has_changed_beside_its_text(
    change: SourceChange, old: RevisionTree, new: RevisionTree
) -> bool:
    """Return whether a type has the same text at both ends and changed all the same.

    That is so if a file that it embeds changed.
    """
    if change.member is not None or change.old is None or change.new is None:
        return False
    if change.old.type.header_hash == change.new.type.header_hash:
        return False
    ends = (
        make_type_without_methods(located.path, tree.read_content(located.path), located.type)
        for tree, located in ((old, change.old), (new, change.new))
    )
    return have_same_tokens(*ends)


def _make_declaration(
    side: RevisionTree, located: LocatedType | None, member: Member | None, change: SourceChange
) -> Declaration | None:
    """Return a change at one end: a member, or a type without its methods."""
    if located is None:
        return None
    if change.member is None:
        return make_type_without_methods(
            located.path, side.read_content(located.path), located.type
        )
    return _make_member_declaration(located, member) if member is not None else None


def _make_member_declaration(located: LocatedType, member: Member) -> Declaration:
    return Declaration(
        file=located.path,
        start_line=member.start_line,
        end_line=member.end_line,
        source=member.source,
    )


def _find_test_declaration(
    repository: Repository, rev: str, method: TestMethod
) -> Declaration | None:
    """Return a test method as declared in its file; None if it is not there."""
    file = (
        get_reading_of_file(method.test_file)
        .open_tree(repository, rev)
        .parse_file(method.test_file)
    )
    for type_ in file.types:
        for member in type_.members:
            named = (type_.name, member.name, member.parameters)
            if named == (method.test_class, method.test_method, method.parameters):
                return _make_member_declaration(LocatedType(method.test_file, type_), member)
    return None
