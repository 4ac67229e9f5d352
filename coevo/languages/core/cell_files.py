"""The files of a cell: the tests of one revision in the code of another.

They are made from Git's objects alone: nothing is checked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from coevo.git.repository import Repository
from coevo.languages.cells import CellEdits
from coevo.languages.conditions import MainSources
from coevo.storage.beneath import find_path_fault

# As in Java: a tree that takes half of a sandbox's disk, or has names that Linux does not keep.
MOST_BYTES = 512 << 20
TREE_TOO_LARGE, PATH_TOO_LONG = 'tree_too_large', 'path_too_long'

CellFiles = dict[str, tuple[str, bytes]]
"""By path: Git's mode and the content, of a link its target."""


def list_stored_sizes(repository: Repository, rev: str) -> Iterable[int]:
    """Bytes of all files that can be read."""
    return repository.measure_sizes(rev).values()


def read_sizes(repository: Repository, rev: str) -> Iterable[int]:
    """Bytes of all files; one that cannot be read is an error."""
    return (len(repository.blob(entry.oid)) for entry in repository.tree(rev).values())


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionTrees:
    """The trees of a repository's revisions, with whose each file is.

    select_test_paths  the paths of a revision that belong to its tests, as the language has it
    list_sizes         how a tree is measured
    """

    repository: Repository
    select_test_paths: Callable[[Repository, str], Iterable[str]]
    list_sizes: Callable[[Repository, str], Iterable[int]] = list_stored_sizes
    _test_paths: dict[str, frozenset[str]] = field(default_factory=dict)

    def list_test_paths(self, rev: str) -> frozenset[str]:
        """Those that belong to the tests of a revision."""
        if rev not in self._test_paths:
            self._test_paths[rev] = frozenset(self.select_test_paths(self.repository, rev))
        return self._test_paths[rev]

    def forget_revision(self, rev: str) -> None:
        self._test_paths.pop(rev, None)

    def find_layout_fault(self, rev: str) -> str | None:
        """Return why a revision cannot be laid out at all; None if it can."""
        if any(map(find_path_fault, self.repository.tree(rev))):
            return PATH_TOO_LONG
        total = 0
        for size in self.list_sizes(self.repository, rev):
            total += size
            if total > MOST_BYTES:
                return TREE_TOO_LARGE
        return None

    def collect_cell_files(
        self,
        tests_rev: str,
        code_rev: str,
        edits: CellEdits | None = None,
        *,
        written: Mapping[str, bytes] | None = None,
        sources: MainSources | None = None,
        suffix: str = '',
    ) -> CellFiles:
        """All files of a cell, with its edits.

        written  what a tool has completed of the code's files
        sources  as `RunConditions` has them: the code's files that end in the suffix are those of another revision,
                 or gone
        """
        files = dict(self._read_side(code_rev, tests=False))
        files |= {path: ('100644', content) for path, content in (written or {}).items()}
        if sources is not None:
            files = {path: entry for path, entry in files.items() if not path.endswith(suffix)}
            if sources.rev is not None:
                shown = self._read_side(sources.rev, tests=False)
                files |= {path: entry for path, entry in shown if path.endswith(suffix)}
        files |= dict(self._read_side(tests_rev, tests=True))
        code = edits.code if edits is not None and sources is None else ()
        for path, content in (*(edits.tests if edits else ()), *code):
            files.pop(path, None)
            if content is not None:
                files[path] = ('100644', content)
        return files

    def _read_side(self, rev: str, *, tests: bool) -> Iterator[tuple[str, tuple[str, bytes]]]:
        theirs = self.list_test_paths(rev)
        for path, entry in self.repository.tree(rev).items():
            if (path in theirs) is tests:
                yield path, (entry.mode, self.repository.blob(entry.oid))
