"""The files of a cell: the tests of one revision in the code of another, with the go.mod of the code."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from functools import lru_cache

from coevo.git.repository import Repository
from coevo.languages.cells import Edits
from coevo.languages.conditions import MainSources
from coevo.languages.golang.reading.trees import tree
from coevo.storage.beneath import path_fault

# As in Java: a tree that takes half of a sandbox's disk, or has names that Linux does not keep.
MOST_BYTES = 512 << 20
TREE_TOO_LARGE, PATH_TOO_LONG = 'tree_too_large', 'path_too_long'


def refusal(repository: Repository, rev: str) -> str | None:
    """Return why a revision cannot be laid out at all; None if it can."""
    if any(map(path_fault, repository.tree(rev))):
        return PATH_TOO_LONG
    return TREE_TOO_LARGE if repository.size(rev) > MOST_BYTES else None


def cell_files(
    repository: Repository,
    tests_rev: str,
    code_rev: str,
    written: Mapping[str, bytes],
    edits: Edits | None,
    sources: MainSources | None = None,
) -> dict[str, tuple[str, bytes]]:
    """By path.

    written  what the go command completed
    sources  as `Conditions` has them: the .go files of the code are those of another revision, or gone
    """
    found = dict(_side(repository, code_rev, tests=False))
    found |= {path: ('100644', content) for path, content in written.items()}
    if sources is not None:
        found = {path: one for path, one in found.items() if not path.endswith('.go')}
        if sources.rev is not None:
            shown = _side(repository, sources.rev, tests=False)
            found |= {path: one for path, one in shown if path.endswith('.go')}
    found |= dict(_side(repository, tests_rev, tests=True))
    code = edits.code if edits is not None and sources is None else ()
    for path, content in (*(edits.tests if edits else ()), *code):
        found.pop(path, None)
        if content is not None:
            found[path] = ('100644', content)
    return found


def _side(
    repository: Repository, rev: str, *, tests: bool
) -> Iterator[tuple[str, tuple[str, bytes]]]:
    theirs = tests_of(repository, rev)
    for path, entry in repository.tree(rev).items():
        if (path in theirs) is tests:
            yield path, (entry.mode, repository.blob(entry.oid))


@lru_cache(maxsize=64)
def tests_of(repository: Repository, rev: str) -> frozenset[str]:
    seen = tree(repository, rev)
    return frozenset(path for path in seen.entries if seen.is_of_tests(path))
