"""Which names other files of a tree may use of a test file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Iterator

from coevo.git import Repository
from coevo.syntax import JavaFile
from coevo.syntax import JavaType
from coevo.syntax import parse

_MAIN = re.compile(r'(?:^|/)src/main/')


def names_used_elsewhere(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """All names in files that mention a type of a file, derive from one, or that one derives from.

    Main sources cannot see the test tree, so they do not count.
    """
    entries = repository.tree(rev)
    own = parse(repository.blob(entries[path].oid)).types
    files = {
        other: repository.blob(entry.oid)
        for other, entry in entries.items()
        if other.endswith('.java') and other != path and not _MAIN.search(other)
    }
    found = {*_below(dict(files), own), *_above(dict(files), own)}
    return frozenset(name for file in found for name in parse(files[file]).names)


def _below(files: dict[str, bytes], own: Iterable[JavaType]) -> Iterator[str]:
    """The files that mention a type or one derived from it."""
    names = {type_.simple for type_ in own}
    while names:
        users = _taken(files, names)
        yield from users
        types = [type_ for file in users.values() for type_ in file.types]
        names = {type_.simple for type_ in types if not names.isdisjoint(_parents(type_))}


def _above(files: dict[str, bytes], own: Iterable[JavaType]) -> Iterator[str]:
    """The files that declare what a type derives from: they may call what it overrides."""
    names = {name for type_ in own for name in _parents(type_)}
    while names:
        declared = {
            path: [type_ for type_ in file.types if type_.simple in names]
            for path, file in _taken(files, names).items()
        }
        yield from (path for path, types in declared.items() if types)
        names = {n for types in declared.values() for type_ in types for n in _parents(type_)}


def _parents(type_: JavaType) -> set[str]:
    return {*type_.interfaces, *filter(None, (type_.superclass,))}


def _taken(files: dict[str, bytes], names: set[str]) -> dict[str, JavaFile]:
    """The files that mention a name, which are taken out of `files`."""
    pattern = re.compile(rf'\b(?:{"|".join(map(re.escape, sorted(names)))})\b'.encode())
    paths = [path for path, content in files.items() if pattern.search(content)]
    return {path: parse(files.pop(path)) for path in paths}
