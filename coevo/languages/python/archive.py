"""The files of a cell: the tests of one revision in the code of another.

They are made from Git's objects alone: nothing is checked out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from coevo.git.repository import Repository
from coevo.git.repository import TreeEntry
from coevo.languages.cells import Edits
from coevo.languages.python.sides import tests_side
from coevo.storage.beneath import path_fault

# As in Java: a tree that takes half of a sandbox's disk, or has names that Linux does not keep.
MOST_BYTES = 512 << 20
TREE_TOO_LARGE, PATH_TOO_LONG = 'tree_too_large', 'path_too_long'


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """The trees of a repository's revisions, with whose each file is."""

    repository: Repository

    def tests(self, rev: str) -> frozenset[str]:
        return _tests_of(self.repository, rev)

    def refusal(self, rev: str) -> str | None:
        """Return why a revision cannot be laid out at all; None if it can."""
        if any(map(path_fault, self.repository.tree(rev))):
            return PATH_TOO_LONG
        total = 0
        for entry in self.repository.tree(rev).values():
            total += len(self.repository.blob(entry.oid))
            if total > MOST_BYTES:
                return TREE_TOO_LARGE
        return None

    def cell(
        self, tests_rev: str, code_rev: str, edits: Edits | None
    ) -> dict[str, tuple[str, bytes]]:
        """All files of a cell, with its edits."""
        found = dict(self._of(code_rev, tests=False))
        found |= dict(self._of(tests_rev, tests=True))
        for path, content in (*edits.tests, *edits.code) if edits else ():
            found.pop(path, None)
            if content is not None:
                found[path] = ('100644', content)
        return found

    def _of(self, rev: str, *, tests: bool) -> Iterator[tuple[str, tuple[str, bytes]]]:
        theirs = self.tests(rev)
        entries: Mapping[str, TreeEntry] = self.repository.tree(rev)
        for path, entry in entries.items():
            if (path in theirs) is tests:
                yield path, (entry.mode, self.repository.blob(entry.oid))


@lru_cache(maxsize=64)
def _tests_of(repository: Repository, rev: str) -> frozenset[str]:
    return tests_side(repository.tree(rev).keys())
