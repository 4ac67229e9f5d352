"""The tree of a cell as one archive: the tests of one revision in the code of another.

Whatever it was made of, entries are sorted, of one owner and one date, so that nothing tells which of them
were edited. It is made from Git's objects alone: nothing is checked out here.
"""

from __future__ import annotations

import io
import os
import secrets
import tarfile
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.git.repository import TreeEntry
from coevo.languages.cells import Edits
from coevo.languages.python.sides import tests_side

# 2000-01-01, which is before any code that is mined: no file is younger than the clock says.
SECONDS = 946_684_800

# As in Java: a tree that takes half of a sandbox's disk, or has names that Linux does not keep.
MOST_BYTES = 512 << 20
_MOST_NAME_BYTES, _MOST_PATH_BYTES = 255, 3000
TREE_TOO_LARGE, PATH_TOO_LONG = 'tree_too_large', 'path_too_long'


Files = Mapping[str, tuple[str, bytes]]
"""By path: Git's mode and the content, of a link its target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """The trees of a repository's revisions, with whose each file is."""

    repository: Repository

    def tests(self, rev: str) -> frozenset[str]:
        return _tests_of(self.repository, rev)

    def refusal(self, rev: str) -> str | None:
        """Why a revision cannot be laid out at all."""
        paths = [os.fsencode(path) for path in self.repository.tree(rev)]
        if any(len(p) > _MOST_PATH_BYTES for p in paths) or any(
            len(part) > _MOST_NAME_BYTES for p in paths for part in p.split(b'/')
        ):
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


def pack(files: Files, folder: Path) -> Path:
    """A new archive in a folder, under a name that nobody can guess; sandboxes can read it."""
    folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    place = folder / secrets.token_hex(16)
    with tarfile.open(place, 'w', format=tarfile.GNU_FORMAT, errors='surrogateescape') as archive:
        made: set[str] = set()
        for path, (mode, content) in sorted(files.items()):
            if any(parent in files for parent in _parents(path)):
                continue  # a file where the other revision has a folder
            for parent in _parents(path):
                if parent not in made:
                    made.add(parent)
                    _add(archive, parent, tarfile.DIRTYPE, 0o755)
            if mode == LINK:
                _add(archive, path, tarfile.SYMTYPE, 0o777, content)
            else:
                rights = 0o755 if int(mode, 8) & 0o100 else 0o644
                _add(archive, path, tarfile.REGTYPE, rights, content)
    place.chmod(0o644)
    return place


def _parents(path: str) -> Iterator[str]:
    """From the top to the folder that a path lies in."""
    parts = path.split('/')
    for end in range(1, len(parts)):
        yield '/'.join(parts[:end])


def _add(
    archive: tarfile.TarFile, name: str, kind: bytes, rights: int, content: bytes = b''
) -> None:
    info = tarfile.TarInfo(name)
    info.mtime, info.mode, info.type = SECONDS, rights, kind
    if kind == tarfile.SYMTYPE:
        info.linkname = os.fsdecode(content)
        archive.addfile(info)
    else:
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
