"""The lines of a file that a pair added, as Git's diff of its two versions tells."""

from __future__ import annotations

import re
from functools import lru_cache

from coevo.git import Repository

_HUNK = re.compile(rb'^@@ -\S+ \+(\d+)(?:,(\d+))? @@', re.MULTILINE)
# Said in full, since a user's Git may know other defaults than ours.
_PLAIN = ('--no-color', '--no-ext-diff', '--no-textconv', '--diff-algorithm=myers')


def added_lines(repository: Repository, old_rev: str, new_rev: str, path: str) -> frozenset[int]:
    """1-based lines of a file at new that its version at old lacks; all of them if it is new.

    A file that was renamed is compared with what it was (`git diff -M`).
    """
    entry = repository.tree(new_rev).get(path)
    if entry is None:
        return frozenset()
    origin = _renamed(repository, old_rev, new_rev).get(path, path)
    before = repository.tree(old_rev).get(origin)
    if before is None:
        return frozenset(range(1, repository.blob(entry.oid).count(b'\n') + 2))
    if before.oid == entry.oid:
        return frozenset()
    options = (*_PLAIN, '--unified=0', '--text')
    return _added(repository.git('diff', *options, before.oid, entry.oid))


def _added(diff: bytes) -> frozenset[int]:
    lines: set[int] = set()
    for start, count in _HUNK.findall(diff):
        lines.update(range(int(start), int(start) + int(count or 1)))
    return frozenset(lines)


@lru_cache(maxsize=64)
def _renamed(repository: Repository, old_rev: str, new_rev: str) -> dict[str, str]:
    """Java files of new that have another path at old, and that path."""
    listing = repository.git(
        *('diff-tree', '-r', '-z', '-M', '--diff-filter=R', '--name-status'),
        *(old_rev, new_rev, '--', '*.java'),
    )
    words = listing.decode('utf-8', 'surrogateescape').split('\0')[:-1]
    return dict(zip(words[2::3], words[1::3], strict=True))
