"""Collects the files of a cell: the tests of one revision in the code of another, packed into one
archive.

They are read from Git's objects, with the bytes that a checkout would write (`.gitattributes`). A
file of which a partial clone lacks the content has a stand-in there, see `unread_files`.
"""

from __future__ import annotations

import io
import os
import posixpath
import secrets
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coevo.git.objects import LINK
from coevo.git.process import CorruptObject
from coevo.git.repository import Repository, TreeEntry, find_missing_object_id, make_stand_in
from coevo.languages.cells import CellEdits
from coevo.languages.verdicts import MainSources
from coevo.storage.beneath import find_path_fault

# Packs files of a tree into one archive.
#
# Entries are sorted and have the same owner and date, so that the archive does not reveal which
# files were edited.

# 2000-01-01, before any code that is mined: no file may be younger than the clock of a run.
SECONDS = 946_684_800

Files = Mapping[str, tuple[str, bytes]]
"""Path -> Git's mode, and the content or, for a link, the target."""


def pack_files(files: Files, folder: Path) -> Path:
    """Write files into a new tar archive in a folder, and return its path.

    The name of the archive is random, and sandboxes can read it. A file is left out if another file
    has the path of one of its folders.
    """
    folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    archive_path = folder / secrets.token_hex(16)
    with tarfile.open(
        archive_path, 'w', format=tarfile.GNU_FORMAT, errors='surrogateescape'
    ) as archive:
        added_folders: set[str] = set()
        for path, (mode, content) in sorted(files.items()):
            if any(parent in files for parent in _list_parent_folders(path)):
                continue  # the other revision has a folder at this path
            for parent in _list_parent_folders(path):
                if parent not in added_folders:
                    added_folders.add(parent)
                    _add_entry(archive, parent, tarfile.DIRTYPE, 0o755)
            if mode == LINK:
                _add_entry(archive, path, tarfile.SYMTYPE, 0o777, content)
            else:
                rights = 0o755 if int(mode, 8) & 0o100 else 0o644
                _add_entry(archive, path, tarfile.REGTYPE, rights, content)
    archive_path.chmod(0o644)
    return archive_path


def _list_parent_folders(path: str) -> Iterator[str]:
    """Yield the folders above a path, the topmost first."""
    parts = path.split('/')
    for end in range(1, len(parts)):
        yield '/'.join(parts[:end])


def _add_entry(
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


# Collects the files of a cell: the tests of one revision in the code of another.

# The same bounds as for Java: a tree of half the disk of a sandbox, and names too long for Linux.
MOST_BYTES = 512 << 20
TREE_TOO_LARGE, PATH_TOO_LONG = 'tree_too_large', 'path_too_long'

CellFiles = dict[str, tuple[str, bytes]]
"""Path -> Git's mode, and the content or, for a link, the target."""


def list_stored_file_sizes(repository: Repository, rev: str) -> Iterable[int]:
    """Return the sizes in bytes of those files of a revision whose content the clone has."""
    return repository.measure_sizes(rev).values()


def read_file_sizes(repository: Repository, rev: str) -> Iterable[int]:
    """Read each file of a revision and yield its size in bytes.

    A file that cannot be read raises an error, unlike in `list_stored_file_sizes`; one of which a
    partial clone lacks the content is left out.
    """
    oids = (entry.oid for entry in repository.tree(rev).values())
    return (
        len(repository.blob(oid))
        for oid in oids
        if oid not in repository.object_ids_absent_at_source
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionTrees:
    """The files of a repository's revisions, divided into tests and everything else (code).

    select_test_paths  returns the paths of a revision that belong to its tests in this language
    list_sizes         returns the sizes of the files of a revision
    always_read        the extensions of files that coevo or a compiler reads whatever is run; a
                       stand-in may take the place of any other. None means all files
    """

    repository: Repository
    select_test_paths: Callable[[Repository, str], Iterable[str]]
    list_sizes: Callable[[Repository, str], Iterable[int]] = list_stored_file_sizes
    always_read: frozenset[str] | None = None
    _test_paths: dict[str, frozenset[str]] = field(default_factory=dict)
    _converted: dict[str, Mapping[str, bytes]] = field(default_factory=dict)

    def list_test_paths(self, rev: str) -> frozenset[str]:
        """Return the paths that belong to the tests of a revision; cached until it is forgotten."""
        if rev not in self._test_paths:
            self._test_paths[rev] = frozenset(self.select_test_paths(self.repository, rev))
        return self._test_paths[rev]

    def forget_revision(self, rev: str) -> None:
        """Drop what is cached for a revision."""
        self._test_paths.pop(rev, None)
        self._converted.pop(rev, None)

    def explain_unwritable(self, rev: str) -> str | None:
        """Return why a revision cannot be written to a disk; None if it can.

        `path_too_long`, or `tree_too_large` if its files have more than 512 MiB together.
        """
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
        """Return all files of a cell, with its edits: tests of one revision, all else of another.

        Nothing is written to a disk.

        written  files of the code that a tool has completed, which replace those of the revision
        sources  as in `RunConditions`: if given, the files of the code that end in `suffix` are
                 removed or, with a revision, replaced by those of that revision, and edits of the
                 code are ignored
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
        if rev not in self._converted:
            self._converted[rev] = self.repository.load_files_changed_by_checkout(rev)
        converted = self._converted[rev]
        for path, entry in self.repository.tree(rev).items():
            if (path in theirs) is tests:
                content = converted.get(path)
                yield (
                    path,
                    (entry.mode, self._load_content(path, entry) if content is None else content),
                )

    def _load_content(self, path: str, entry: TreeEntry) -> bytes:
        may_be_missing = (
            entry.mode != LINK
            and self.always_read is not None
            and posixpath.splitext(path)[1] not in self.always_read
        )
        if may_be_missing and entry.oid in self.repository.object_ids_absent_at_source:
            return make_stand_in(entry.oid)
        return self.repository.blob(entry.oid)


# Files of a packed tree of which the clone lacks the content, and whether a run read one.
#
# A partial clone lacks objects. In the tree of a cell, a stand-in takes the place of such a file:
# it has the file's path and other content. What a test makes of a stand-in says nothing about the
# project, so a run that reads one has no result. The kernel notes the time of a file's last reading
# (atime). Coevo's program in the sandbox sets these times to the epoch beforehand, and afterwards
# confirms that none has changed. A process that is killed leaves no confirmation. Java does the
# same in its own trees (`java.processes.stand_ins`).

# Larger files are no stand-ins.
_MOST_BYTES = 1 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A file in a tree in place of one whose content (the object `oid`) the clone lacks."""

    path: str
    oid: str


def find_stand_ins(files: Files) -> tuple[StandIn, ...]:
    """Return the stand-ins among the files of a tree, sorted by path."""
    oids = (
        (path, find_missing_object_id(content))
        for path, (_, content) in sorted(files.items())
        if len(content) <= _MOST_BYTES
    )
    return tuple(StandIn(path=path, oid=oid) for path, oid in oids if oid is not None)


def require_unread(stand_ins: Sequence[StandIn], *, unread: bool) -> None:
    """Raise CorruptObject, with the first missing object, unless all stand-ins were left unread.

    unread  whether coevo's program in the sandbox confirmed it
    """
    if stand_ins and not unread:
        raise CorruptObject(stand_ins[0].oid)
