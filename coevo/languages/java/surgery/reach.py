"""Which names other files of a tree may use of a test file."""

from __future__ import annotations

import re
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import SourceFile
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.trees import tree


def names_used_elsewhere(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """All names in files that mention a type of a file, derive from one, or that one derives from.

    Main sources cannot see the test tree, so they do not count.
    """
    own = parse(repository.blob(repository.tree(rev)[path].oid)).types
    files = _others(repository, rev, path)
    found = {*_below(files, own), *_above(files, own)}
    return frozenset(name for other in found for name in parse(files[other]).names)


def derived(
    repository: Repository, rev: str, path: str, names: Iterable[str]
) -> Iterator[tuple[str, bytes, frozenset[str]]]:
    """Other test files that declare classes below some types, by simple names: path, content, and
    the binary names of these classes; sorted by path."""
    files = _others(repository, rev, path)
    below: dict[str, set[str]] = {}
    wanted, known = set(names), set[str]()
    while wanted:
        known |= wanted
        types = [
            (place, type_)
            for place, file in _mentioning(files, wanted, ()).items()
            for type_ in file.types
            if not wanted.isdisjoint(_parents(type_))
        ]
        for place, type_ in types:
            below.setdefault(place, set()).add(type_.name)
        wanted = {type_.simple for _, type_ in types} - known
    for place in sorted(below):
        yield place, files[place], frozenset(below[place])


def _others(repository: Repository, rev: str, path: str) -> dict[str, bytes]:
    """The Java files of a tree but for one, and for main sources, which cannot see the test tree."""
    files = tree(repository, rev)
    return {
        other: repository.blob(entry.oid)
        for other, entry in files.entries.items()
        if other.endswith('.java') and other != path and not files.is_source(other)
    }


def _below(files: Mapping[str, bytes], own: Iterable[DeclaredType]) -> set[str]:
    """The files that mention a type or one derived from it."""
    found: dict[str, SourceFile] = {}
    names = {type_.simple for type_ in own}
    while users := _mentioning(files, names, found):
        found |= users
        types = [type_ for file in users.values() for type_ in file.types]
        names = {type_.simple for type_ in types if not names.isdisjoint(_parents(type_))}
    return set(found)


def _above(files: Mapping[str, bytes], own: Iterable[DeclaredType]) -> set[str]:
    """The files that declare what a type derives from: they may call what it overrides."""
    found: set[str] = set()
    names = {name for type_ in own for name in _parents(type_)}
    while users := _mentioning(files, names, found):
        declared = [(p, t) for p, file in users.items() for t in file.types if t.simple in names]
        found |= {path for path, _ in declared}
        names = {name for _, type_ in declared for name in _parents(type_)}
    return found


def _parents(type_: DeclaredType) -> set[str]:
    return {*type_.interfaces, *filter(None, (type_.superclass,))}


def _mentioning(
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
