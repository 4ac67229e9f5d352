"""The files of a cell: the tests of one revision in the code of another.

They are made from Git's objects alone: nothing is checked out here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from coevo.git.repository import Repository, TreeEntry
from coevo.languages.cells import CellEdits
from coevo.languages.python.sides import select_test_paths
from coevo.storage.beneath import find_path_fault

# As in Java: a tree that takes half of a sandbox's disk, or has names that Linux does not keep.
MOST_BYTES = 512 << 20
TREE_TOO_LARGE, PATH_TOO_LONG = 'tree_too_large', 'path_too_long'


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionTrees:
    """The trees of a repository's revisions, with whose each file is."""

    repository: Repository

    def list_test_paths(self, rev: str) -> frozenset[str]:
        return _list_test_paths(self.repository, rev)

    def find_layout_fault(self, rev: str) -> str | None:
        """Return why a revision cannot be laid out at all; None if it can."""
        if any(map(find_path_fault, self.repository.tree(rev))):
            return PATH_TOO_LONG
        total = 0
        for entry in self.repository.tree(rev).values():
            total += len(self.repository.blob(entry.oid))
            if total > MOST_BYTES:
                return TREE_TOO_LARGE
        return None

    def collect_cell_files(
        self, tests_rev: str, code_rev: str, edits: CellEdits | None
    ) -> dict[str, tuple[str, bytes]]:
        """All files of a cell, with its edits."""
        files = dict(self._read_side(code_rev, tests=False))
        files |= dict(self._read_side(tests_rev, tests=True))
        for path, content in (*edits.tests, *edits.code) if edits else ():
            files.pop(path, None)
            if content is not None:
                files[path] = ('100644', content)
        return files

    def _read_side(self, rev: str, *, tests: bool) -> Iterator[tuple[str, tuple[str, bytes]]]:
        theirs = self.list_test_paths(rev)
        entries: Mapping[str, TreeEntry] = self.repository.tree(rev)
        for path, entry in entries.items():
            if (path in theirs) is tests:
                yield path, (entry.mode, self.repository.blob(entry.oid))


@lru_cache(maxsize=64)
def _list_test_paths(repository: Repository, rev: str) -> frozenset[str]:
    return select_test_paths(repository.tree(rev).keys())
