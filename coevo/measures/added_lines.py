"""The lines of a file that a pair added, and those that it left, as Git's diff of them tells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from coevo.git.repository import Repository

_HUNK = re.compile(rb'^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@', re.MULTILINE)
# Said in full, since a user's Git may know other defaults than ours.
_PLAIN = ('--no-color', '--no-ext-diff', '--no-textconv', '--diff-algorithm=myers')


# A file's path at old, and its blobs at both ends.
_Versions = tuple[str, str | None, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnchangedLines:
    """The lines of a file at new that stood in a file at old: their numbers there, both 1-based."""

    old_path: str
    old_lines: Mapping[int, int]


def find_added_lines(
    repository: Repository, old_rev: str, new_rev: str, path: str
) -> frozenset[int]:
    """1-based lines of a file at new that its version at old lacks; all of them if it is new.

    A file that was renamed is compared with what it was (`git diff -M`).
    """
    versions = _find_versions(repository, old_rev, new_rev, path)
    if versions is None:
        return frozenset()
    _, before, after = versions
    if before is None:
        return frozenset(range(1, _count_lines(repository, after) + 1))
    return frozenset(
        line
        for new, _, added in _list_hunks(repository, before, after)
        for line in range(new, new + added)
    )


def find_unchanged_lines(
    repository: Repository, old_rev: str, new_rev: str, path: str
) -> UnchangedLines | None:
    """The lines that `find_added_lines` does not have; None if there is no version at old, or none at new."""
    versions = _find_versions(repository, old_rev, new_rev, path)
    if versions is None:
        return None
    origin, before, after = versions
    if before is None:
        return None
    old_lines: dict[int, int] = {}
    line, shift = 1, 0
    end = (_count_lines(repository, after) + 1, 0, 0)
    for new, removed, added in (*_list_hunks(repository, before, after), end):
        old_lines |= {number: number + shift for number in range(line, new)}
        line, shift = new + added, shift + removed - added
    return UnchangedLines(old_path=origin, old_lines=old_lines)


def _find_versions(
    repository: Repository, old_rev: str, new_rev: str, path: str
) -> _Versions | None:
    entry = repository.tree(new_rev).get(path)
    if entry is None:
        return None
    suffix = PurePosixPath(path).suffix
    origin = _list_renamed(repository, old_rev, new_rev, suffix).get(path, path)
    before = repository.tree(old_rev).get(origin)
    return origin, before.oid if before else None, entry.oid


def _count_lines(repository: Repository, oid: str) -> int:
    return repository.blob(oid).count(b'\n') + 1


def _list_hunks(repository: Repository, before: str, after: str) -> Iterator[tuple[int, int, int]]:
    """The first line behind what was removed, how many were removed, and how many added there."""
    if before == after:
        return
    options = (*_PLAIN, '--unified=0', '--text')
    diff = repository.run_command('diff', *options, before, after)
    for removed, start, added in _HUNK.findall(diff):
        count = int(added or 1)
        yield int(start) + (not count), int(removed or 1), count


@lru_cache(maxsize=64)
def _list_renamed(
    repository: Repository, old_rev: str, new_rev: str, suffix: str
) -> dict[str, str]:
    """Files of new whose names end so and that have another path at old, and that path."""
    listing = repository.run_command(
        *('diff-tree', '-r', '-z', '-M', '--diff-filter=R', '--name-status'),
        *(old_rev, new_rev, '--', f'*{suffix}'),
    )
    words = listing.decode('utf-8', 'surrogateescape').split('\0')[:-1]
    return dict(zip(words[2::3], words[1::3], strict=True))
