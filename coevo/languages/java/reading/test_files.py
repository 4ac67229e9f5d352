"""Where a test file stands at both ends of a pair, and what is in it."""

from __future__ import annotations

from dataclasses import replace

from coevo.git.repository import Repository
from coevo.languages.java.reading.syntax import JavaFile
from coevo.model.records import TestMethod


def content(repository: Repository, rev: str, path: str) -> bytes | None:
    entry = repository.tree(rev).get(path)
    return repository.blob(entry.oid) if entry else None


def path_at_old(repository: Repository, old_rev: str, new_rev: str, path: str) -> str | None:
    """Where a file of the new revision stands at old, also where it has moved since.

    A file has moved where exactly one of its name is gone at new.
    """
    old = repository.tree(old_rev)
    if path in old:
        return path
    name = path.rpartition('/')[2]
    there = repository.tree(new_rev)
    gone = [other for other in old if other.rpartition('/')[2] == name and other not in there]
    return gone[0] if len(gone) == 1 else None


def as_declared(file: JavaFile, wanted: TestMethod) -> TestMethod | None:
    """A test method as a file declares it: with its parameters, or the only one of its name."""
    type_ = next((type_ for type_ in file.types if type_.name == wanted.test_class), None)
    alike = [
        member.parameters
        for member in (type_.members if type_ else ())
        if member.kind == 'method' and member.name == wanted.test_method
    ]
    if wanted.parameters in alike:
        return wanted
    return replace(wanted, parameters=alike[0]) if len(alike) == 1 else None
