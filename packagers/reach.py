"""Which names other files of a tree may use of a test file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coevo.git import Repository
from coevo.syntax import parse

_MAIN = re.compile(r'(?:^|/)src/main/')


def names_used_elsewhere(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """All names in the files that mention a type of a file, or a class derived from one.

    Main sources cannot see the test tree, so they do not count.
    """
    entries = repository.tree(rev)
    types = {type_.simple for type_ in parse(repository.blob(entries[path].oid)).types}
    files = {
        other: repository.blob(entry.oid)
        for other, entry in entries.items()
        if other.endswith('.java') and other != path and not _MAIN.search(other)
    }
    found: set[str] = set()
    while types:
        users = list(_mentioning(files, types))
        derived = {
            type_.simple
            for other in users
            for type_ in parse(files[other]).types
            if type_.superclass in types or not types.isdisjoint(type_.interfaces)
        }
        for other in users:
            found |= parse(files.pop(other)).names
        types = derived
    return frozenset(found)


def _mentioning(files: dict[str, bytes], types: set[str]) -> Iterator[str]:
    pattern = re.compile(rf'\b(?:{"|".join(map(re.escape, sorted(types)))})\b'.encode())
    return (path for path, content in files.items() if pattern.search(content))
