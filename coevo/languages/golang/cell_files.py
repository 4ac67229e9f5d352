"""The files of a cell: the tests of one revision in the code of another, with the go.mod of the code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from coevo.git.repository import Repository
from coevo.languages.cells import CellEdits
from coevo.languages.conditions import MainSources
from coevo.languages.golang.reading.trees import open_tree
from coevo.storage.beneath import find_path_fault

# As in Java: a tree that takes half of a sandbox's disk, or has names that Linux does not keep.
MOST_BYTES = 512 << 20
TREE_TOO_LARGE, PATH_TOO_LONG = 'tree_too_large', 'path_too_long'


def explain_refusal(repository: Repository, rev: str) -> str | None:
    """Return why a revision cannot be laid out at all; None if it can."""
    if any(map(find_path_fault, repository.tree(rev))):
        return PATH_TOO_LONG
    return TREE_TOO_LARGE if repository.measure_size(rev) > MOST_BYTES else None


def collect_cell_files(
    repository: Repository,
    tests_rev: str,
    code_rev: str,
    written: Mapping[str, bytes],
    edits: CellEdits | None,
    sources: MainSources | None = None,
) -> dict[str, tuple[str, bytes]]:
    """By path.

    written  what the go command completed
    sources  as `Conditions` has them: the .go files of the code are those of another revision, or gone
    """
    files = dict(_list_side_files(repository, code_rev, tests=False))
    files |= {path: ('100644', content) for path, content in written.items()}
    if sources is not None:
        files = {path: entry for path, entry in files.items() if not path.endswith('.go')}
        if sources.rev is not None:
            shown = _list_side_files(repository, sources.rev, tests=False)
            files |= {path: entry for path, entry in shown if path.endswith('.go')}
    files |= dict(_list_side_files(repository, tests_rev, tests=True))
    code = edits.code if edits is not None and sources is None else ()
    for path, content in (*(edits.tests if edits else ()), *code):
        files.pop(path, None)
        if content is not None:
            files[path] = ('100644', content)
    return files


def _list_side_files(
    repository: Repository, rev: str, *, tests: bool
) -> Iterator[tuple[str, tuple[str, bytes]]]:
    theirs = list_test_files(repository, rev)
    for path, entry in repository.tree(rev).items():
        if (path in theirs) is tests:
            yield path, (entry.mode, repository.blob(entry.oid))


@lru_cache(maxsize=64)
def list_test_files(repository: Repository, rev: str) -> frozenset[str]:
    seen = open_tree(repository, rev)
    return frozenset(path for path in seen.entries if seen.belongs_to_tests(path))
