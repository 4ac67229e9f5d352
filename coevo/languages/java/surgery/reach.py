"""Which names other files of a tree may use of a test file."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType, SourceFile
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.trees import open_tree


def list_names_used_elsewhere(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """All names in files that mention a type of a file, derive from one, or that one derives from.

    Main sources cannot see the test tree, so they do not count.
    """
    own = parse(repository.blob(repository.tree(rev)[path].oid)).types
    files = _load_other_files(repository, rev, path)
    paths = {*_find_files_below(files, own), *_find_files_above(files, own)}
    return frozenset(name for other in paths for name in parse(files[other]).names)


def find_derived_classes(
    repository: Repository, rev: str, path: str, names: Iterable[str]
) -> Iterator[tuple[str, bytes, frozenset[str]]]:
    """Other test files that declare classes below some types, by simple names: path, content, and
    the binary names of these classes; sorted by path."""
    files = _load_other_files(repository, rev, path)
    below: dict[str, set[str]] = {}
    wanted, known = set(names), set[str]()
    while wanted:
        known |= wanted
        types = [
            (other_path, type_)
            for other_path, file in _find_mentioning(files, wanted, ()).items()
            for type_ in file.types
            if not wanted.isdisjoint(_get_parents(type_))
        ]
        for other_path, type_ in types:
            below.setdefault(other_path, set()).add(type_.name)
        wanted = {type_.simple for _, type_ in types} - known
    for other_path in sorted(below):
        yield other_path, files[other_path], frozenset(below[other_path])


def _load_other_files(repository: Repository, rev: str, path: str) -> dict[str, bytes]:
    """The Java files of a tree but for one, and for main sources, which cannot see the test tree."""
    files = open_tree(repository, rev)
    return {
        other: repository.blob(entry.oid)
        for other, entry in files.entries.items()
        if other.endswith('.java') and other != path and not files.is_source(other)
    }


def _find_files_below(files: Mapping[str, bytes], own: Iterable[DeclaredType]) -> set[str]:
    """The files that mention a type or one derived from it."""
    all_users: dict[str, SourceFile] = {}
    names = {type_.simple for type_ in own}
    while users := _find_mentioning(files, names, all_users):
        all_users |= users
        types = [type_ for file in users.values() for type_ in file.types]
        names = {type_.simple for type_ in types if not names.isdisjoint(_get_parents(type_))}
    return set(all_users)


def _find_files_above(files: Mapping[str, bytes], own: Iterable[DeclaredType]) -> set[str]:
    """The files that declare what a type derives from: they may call what it overrides."""
    paths: set[str] = set()
    names = {name for type_ in own for name in _get_parents(type_)}
    while users := _find_mentioning(files, names, paths):
        declared = [(p, t) for p, file in users.items() for t in file.types if t.simple in names]
        paths |= {path for path, _ in declared}
        names = {name for _, type_ in declared for name in _get_parents(type_)}
    return paths


def _get_parents(type_: DeclaredType) -> set[str]:
    return {*type_.interfaces, *filter(None, (type_.superclass,))}


def _find_mentioning(
    files: Mapping[str, bytes], names: AbstractSet[str], known: Container[str]
) -> dict[str, SourceFile]:
    """The files not known yet that mention one of some names."""
    if not names:
        return {}
    pattern = re.compile(rf'\b(?:{"|".join(map(re.escape, sorted(names)))})\b'.encode())
    return {
        path: parse(content)
        for path, content in files.items()
        if path not in known and pattern.search(content)
    }
