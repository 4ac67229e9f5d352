"""Locate a changed declaration at both ends of a pair, and the type that a test class is named
after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.measures import (
    LocatedDeclaration,
    find_member_before_signature_change,
    find_same_member,
)
from coevo.languages.reading import LanguageReading, Side
from coevo.languages.table import get_reading
from coevo.model.dependencies import Dependency, Revised
from coevo.model.records import Pair, TestMethod

CALLABLES = ('method', 'constructor')


def find_method_or_constructor(
    repository: Repository, pair: Pair, dependency: Dependency
) -> LocatedDeclaration | None:
    """Return the place of a method or constructor: at new, or at old if it was removed.

    None for other dependencies, such as a whole type or a resource, and if it is not found there.
    """
    if not dependency.file.endswith(get_reading(pair.language).SUFFIXES):
        return None
    rev = pair.old.rev if dependency.revised is Revised.REMOVED else pair.new.rev
    for located in _list_types(repository, pair, rev, [dependency.file]):
        for member in located.type.members:
            if member.kind in CALLABLES and _is_declared_as(dependency, member):
                return replace(located, member=member)
    return None


def find_method_at_other_end(
    repository: Repository, pair: Pair, dependency: Dependency
) -> LocatedDeclaration | None:
    """Return the type of a method or constructor at the other end, with its counterpart in it.

    The counterpart has the same name and parameters. If the dependency was removed, `member` may be
    None: the type is there, but lacks it. A type may have moved with its file, its package, or into
    another file that the pair changed. The same path is looked at first. A type matches by its name
    without the package, but with the names of the types around it.

    None if there is no such type, or, unless the dependency was removed, no counterpart.
    """
    known = find_method_or_constructor(repository, pair, dependency)
    if known is None or known.member is None:
        return None
    removed = dependency.revised is Revised.REMOVED
    for located in _list_types_at_other_end(repository, pair, known, is_new=not removed):
        member = find_same_member(known.member, located.type)
        if removed or member is not None:
            return replace(located, member=member)
    return None


def find_method_before_signature_change(
    repository: Repository, pair: Pair, known: LocatedDeclaration
) -> LocatedDeclaration | None:
    """Return the old method that an inserted one replaces under another signature; None if none.

    known  the inserted method at new
    """
    assert known.member is not None
    old = find_type_at_other_end(repository, pair, known, is_new=True)
    if old is None:
        return None
    member = find_member_before_signature_change(known.member, old.type, known.type)
    return None if member is None else replace(old, member=member)


def find_declared_type(
    repository: Repository, pair: Pair, dependency: Dependency
) -> LocatedDeclaration | None:
    """Return the type that a dependency names as a whole: at new, or at old if it was removed.

    Such a dependency means what changed in the type outside of its methods. None if no type has its
    lines and its declaration.
    """
    rev = pair.old.rev if dependency.revised is Revised.REMOVED else pair.new.rev
    lines = dependency.start_line, dependency.end_line
    for located in _list_types(repository, pair, rev, [dependency.file]):
        type_ = located.type
        if lines == (type_.start_line, type_.end_line) and (
            dependency.declaration == type_.declaration
        ):
            return located
    return None


def find_type_at_other_end(
    repository: Repository, pair: Pair, known: LocatedDeclaration, *, is_new: bool
) -> LocatedDeclaration | None:
    """Return the same type at the other end; None if it is not there.

    is_new  whether `known` is at new
    """
    return next(_list_types_at_other_end(repository, pair, known, is_new=is_new), None)


def _list_types_at_other_end(
    repository: Repository, pair: Pair, known: LocatedDeclaration, *, is_new: bool
) -> Iterator[LocatedDeclaration]:
    """Yield types of the same name at the other end: of the same path, then of changed files."""
    rev = pair.old.rev if is_new else pair.new.rev
    changed = (change.path for change in repository.list_changes(pair.old.rev, pair.new.rev))
    suffixes = get_reading(pair.language).SUFFIXES
    others = [path for path in changed if path.endswith(suffixes) and path != known.path]
    for located in _list_types(repository, pair, rev, [known.path, *others]):
        if _strip_package(known.type, known.file) == _strip_package(located.type, located.file):
            yield located


def _is_declared_as(dependency: Dependency, member: Member) -> bool:
    lines = member.start_line, member.end_line
    return (dependency.start_line, dependency.end_line) == lines and (
        dependency.declaration == member.declaration
    )


def _strip_package(type_: DeclaredType, file: SourceFile) -> str:
    return type_.name.removeprefix(f'{file.package}.')


def _list_types(
    repository: Repository, pair: Pair, rev: str, paths: Iterable[str]
) -> Iterator[LocatedDeclaration]:
    tree = repository.tree(rev)
    for path in paths:
        if (entry := tree.get(path)) is not None:
            source = repository.blob(entry.oid)
            file = get_reading(pair.language).parse(source, path)
            for type_ in file.types:
                yield LocatedDeclaration(
                    path=path, source=source, file=file, type=type_, member=None
                )


def find_type_under_test(
    reading: LanguageReading, repository: Repository, rev: str, test: TestMethod
) -> DeclaredType | None:
    """Return the production type that a test is named after, such as `Fare` for `FareTest`.

    If several types have the name, the first one by path counts. None if there is none.
    """
    tree, name = reading.open_tree(repository, rev), reading.guess_class_under_test(test)
    types = (
        type_ for path in tree.list_paths(Side.SOURCE) for type_ in tree.parse_file(path).types
    )
    return next((type_ for type_ in types if type_.simple == name), None)
