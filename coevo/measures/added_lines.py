"""Find the lines of a file that a pair added, and those that it left unchanged, by Git's diff."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from coevo.git.repository import Repository

_HUNK = re.compile(rb'^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@', re.MULTILINE)
# Given explicitly, since a user's Git configuration may have other defaults.
_PLAIN = ('--no-color', '--no-ext-diff', '--no-textconv', '--diff-algorithm=myers')


# The file's path at old, its blob at old (None if it is new) and its blob at new.
_Versions = tuple[str, str | None, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnchangedLines:
    """The lines of a file that a pair left unchanged.

    old_path   the file's path at old
    old_lines  line numbers at old by line numbers at new, both from 1
    """

    old_path: str
    old_lines: Mapping[int, int]


def find_added_lines(
    repository: Repository, old_rev: str, new_rev: str, path: str
) -> frozenset[int]:
    """Return the lines of a file at new, from 1, that its old version lacks.

    These are all lines if the file is new. A renamed file is compared with the file that it was
    (`git diff -M`).
    """
    versions = _find_versions(repository, old_rev, new_rev, path)
    if versions is None:
        return frozenset()
    _, before, after = versions
    if before is None:
        return frozenset(range(1, _count_lines(repository, after) + 1))
    return frozenset(
        line
        for new, _, added in _list_hunk_line_removed_added(repository, before, after)
        for line in range(new, new + added)
    )


def find_unchanged_lines(
    repository: Repository, old_rev: str, new_rev: str, path: str
) -> UnchangedLines | None:
    """Return the lines that the pair did not add; None if the file is not at both ends."""
    versions = _find_versions(repository, old_rev, new_rev, path)
    if versions is None:
        return None
    origin, before, after = versions
    if before is None:
        return None
    old_lines: dict[int, int] = {}
    line, shift = 1, 0
    end = (_count_lines(repository, after) + 1, 0, 0)
    for new, removed, added in (*_list_hunk_line_removed_added(repository, before, after), end):
        old_lines |= {number: number + shift for number in range(line, new)}
        line, shift = new + added, shift + removed - added
    return UnchangedLines(old_path=origin, old_lines=old_lines)


def _find_versions(
    repository: Repository, old_rev: str, new_rev: str, path: str
) -> _Versions | None:
    """Return the versions of a file at both ends; None if it is not at new."""
    entry = repository.tree(new_rev).get(path)
    if entry is None:
        return None
    suffix = PurePosixPath(path).suffix
    origin = _map_renamed_files(repository, old_rev, new_rev, suffix).get(path, path)
    before = repository.tree(old_rev).get(origin)
    return origin, before.oid if before else None, entry.oid


def _count_lines(repository: Repository, oid: str) -> int:
    return repository.blob(oid).count(b'\n') + 1


def _list_hunk_line_removed_added(
    repository: Repository, before: str, after: str
) -> Iterator[tuple[int, int, int]]:
    """Yield (line, removed, added) for each hunk of the difference between two blobs.

    `removed` and `added` are numbers of lines. `line` is the first added line at new, from 1; if
    the hunk adds none, it is the line that follows the removed ones.
    """
    if before == after:
        return
    options = (*_PLAIN, '--unified=0', '--text')
    diff = repository.run_command('diff', *options, before, after)
    for removed, start, added in _HUNK.findall(diff):
        count = int(added or 1)
        yield int(start) + (not count), int(removed or 1), count


@lru_cache(maxsize=64)
def _map_renamed_files(
    repository: Repository, old_rev: str, new_rev: str, suffix: str
) -> dict[str, str]:
    """Return the old paths of renamed files, by their path at new, for one file name suffix."""
    listing = repository.run_command(
        *('diff-tree', '-r', '-z', '-M', '--diff-filter=R', '--name-status'),
        *(old_rev, new_rev, '--', f'*{suffix}'),
    )
    words = listing.decode('utf-8', 'surrogateescape').split('\0')[:-1]
    return dict(zip(words[2::3], words[1::3], strict=True))
