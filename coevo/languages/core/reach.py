"""Which other test files a file's types are known to: where a class derives from another by its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType, SourceFile
from coevo.languages.reading import RevisionTree

Parse = Callable[[bytes], SourceFile]


def load_other_files(
    repository: Repository, files: RevisionTree, path: str, suffix: str
) -> dict[str, bytes]:
    """The files of a suffix but for one, and for main sources, which cannot see the test tree."""
    return {
        other: repository.blob(entry.oid)
        for other, entry in files.entries.items()
        if other.endswith(suffix) and other != path and not files.is_source(other)
    }


def list_parents(type_: DeclaredType) -> set[str]:
    """What a type derives from, by simple names."""
    return {*type_.interfaces, *filter(None, (type_.superclass,))}


def find_derived_types(
    files: Mapping[str, bytes], names: Iterable[str], parse: Parse
) -> Iterator[tuple[str, frozenset[str]]]:
    """The files that declare types below some, by simple names, and the names of these types; sorted by path."""
    below: dict[str, set[str]] = {}
    wanted, known = {name for name in names if name}, set[str]()
    while wanted:
        known |= wanted
        types = [
            (path, type_)
            for path, file in find_mentioning(files, wanted, parse).items()
            for type_ in file.types
            if not wanted.isdisjoint(list_parents(type_))
        ]
        for path, type_ in types:
            below.setdefault(path, set()).add(type_.name)
        wanted = {type_.simple for _, type_ in types} - known
    for path in sorted(below):
        yield path, frozenset(below[path])


def find_files_above(
    files: Mapping[str, bytes], own: Iterable[DeclaredType], parse: Parse
) -> set[str]:
    """The files that declare what a type derives from: they may call what it overrides."""
    paths: set[str] = set()
    names = {name for type_ in own for name in list_parents(type_)}
    while users := find_mentioning(files, names, parse, paths):
        declared = [(p, t) for p, file in users.items() for t in file.types if t.simple in names]
        paths |= {path for path, _ in declared}
        names = {name for _, type_ in declared for name in list_parents(type_)}
    return paths


def find_mentioning(
    files: Mapping[str, bytes],
    names: AbstractSet[str],
    parse: Parse,
    known: Container[str] = (),
) -> dict[str, SourceFile]:
    """The files not known yet that mention one of some names."""
    if not names:
        return {}
    pattern = make_name_pattern(names)
    return {
        path: parse(content)
        for path, content in files.items()
        if path not in known and pattern.search(content)
    }


def make_name_pattern(names: Iterable[str]) -> re.Pattern[bytes]:
    """One of some names as a word."""
    return re.compile(rf'\b(?:{"|".join(map(re.escape, sorted(names)))})\b'.encode())
