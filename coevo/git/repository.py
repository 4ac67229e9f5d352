"""A bare clone, read without a checkout: history, trees, blobs and differences."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path

from coevo.git.conversions import load_files_changed_by_checkout
from coevo.git.objects import FOLDER, LINK, SUBMODULE, CommitHeader, parse_commit, parse_tree
from coevo.git.process import ENVIRONMENT, CorruptObject, ObjectReader, ask_git, run_git
from coevo.model.errors import Fatal
from coevo.model.records import Commit
from coevo.storage import durable
from coevo.storage.beneath import SafePath, join_beneath

__all__ = ['ENVIRONMENT', 'CorruptObject', 'FileChange', 'Repository', 'TreeEntry']


# Longest target of a symbolic link in bytes. XFS accepts 1,023, other file systems of Linux 4,095;
# one limit makes materialised trees equal on every machine.
_LONGEST_TARGET = 1023


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """A file in a tree: Git's mode, such as 100644, and the blob's id."""

    mode: str
    oid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A path that differs between two revisions; an id is None if the file is absent."""

    path: str
    old_oid: str | None
    new_oid: str | None


class Repository:
    """A bare clone, read-only and safe from several threads.

    Paths that are not UTF-8 carry surrogates. The clone's Git process and caches are released on
    `close` or with the last reference.

    blob    content of a blob by id
    folder  (mode, name, id) of a tree's direct entries, by the tree's id
    header  header of a commit
    tree    files of a commit's tree by path, without submodules
    """

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        self._objects = reader = ObjectReader(git_dir)
        # The caches wrap functions of the reader, not methods: a cache that refers to the
        # repository would keep it and its Git process alive until the next garbage collection.
        self.blob = lru_cache(maxsize=2048)(partial(_load_blob, reader))
        self.folder = lru_cache(maxsize=1 << 14)(partial(_load_folder, reader))
        self.header = lru_cache(maxsize=None)(partial(_load_header, reader))
        self.tree = lru_cache(maxsize=32)(partial(_load_tree, self.header, self.folder))

    def close(self) -> None:
        """End the process and clear the caches; a later read starts afresh."""
        self._objects.close()
        for cached in (self.blob, self.folder, self.header, self.tree):
            cached.cache_clear()

    @cached_property
    def object_ids_absent_at_source(self) -> frozenset[str]:
        """Ids of objects that the clone lacks because its source lacks them, too."""
        return load_absent_object_ids(self.git_dir)

    def run_command(self, *arguments: str, stdin: bytes = b'') -> bytes:
        """Return the output of a Git command.

        Raises: Fatal with the first line of its error output if the command fails.
        """
        return run_git(self.git_dir, *arguments, stdin=stdin)

    def resolve(self, ref: str) -> str:
        """Return the hash of the commit that a ref or hash names.

        Raises: Fatal if it is malformed or names no commit.
        """
        if not ref or ref.startswith('-') or not ref.isprintable():
            raise Fatal(f'{ref!r} is not a ref; name a branch, a tag or a commit')
        commit_object = self._objects.read_id_and_content(f'{ref}^{{commit}}')
        if commit_object is None:
            raise Fatal(f'there is no commit {ref!r} in {self.git_dir.name}; name another ref')
        return commit_object[0]

    def get_commit(self, rev: str) -> Commit:
        """Return a commit's parents and dates."""
        return self.header(rev).commit

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Return whether a commit is reachable from another one; a commit reaches itself.

        `rev-list ANCESTOR ^DESCENDANT` would stop too early if committer clocks were wrong.
        """
        return ask_git(self.git_dir, 'merge-base', '--is-ancestor', ancestor, descendant)

    def iterate_log(
        self, head: str, *, first_parent: bool = False
    ) -> Iterator[tuple[str, CommitHeader | None]]:
        """Yield the commits reachable from `head` in Git's default order, newest first.

        That is the order of committer dates among commits of which a child has been yielded. A
        commit that cannot be read is yielded with None, ordered as if its date were 0; the walk
        goes on without its parents.
        """
        waiting: list[tuple[int, int, str, CommitHeader | None]] = []
        seen: set[str] = set()

        def add_commit(rev: str) -> None:
            """Queue a commit by its date unless it was queued before."""
            if rev not in seen:
                seen.add(rev)
                header = self._get_readable_header(rev)
                date = header.committer_seconds if header else None
                heapq.heappush(waiting, (-(date or 0), len(seen), rev, header))

        add_commit(head)
        while waiting:
            _, _, rev, header = heapq.heappop(waiting)
            yield rev, header
            parents = header.parents if header else ()
            for parent in parents[:1] if first_parent else parents:
                add_commit(parent)

    def load_text(self, rev: str, path: str) -> str | None:
        """Return the text of a file; None if it does not exist.

        Invalid UTF-8 becomes replacement characters.
        """
        entry = self.tree(rev).get(path)
        return self.blob(entry.oid).decode('utf-8', 'replace') if entry else None

    def list_changes(self, old: str, new: str) -> tuple[FileChange, ...]:
        """Return the files that differ, sorted by path; renames are not followed."""
        changes = self._compare_trees(self.header(old).tree, self.header(new).tree)
        return tuple(sorted(changes, key=lambda change: change.path))

    def list_remerge_differences(self, merges: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return, for each two-parent merge, the files that differ from Git's automatic merge of
        its parents.

        Merges that cannot be read are left out.
        """
        try:
            return dict(self._run_remerge(merges))
        except Fatal:
            if len(merges) == 1:
                return {}
        return {
            merge: files
            for each in merges
            for merge, files in self.list_remerge_differences([each]).items()
        }

    def list_combined_changes(self, merge: str) -> tuple[str, ...]:
        """Return the files in which a merge differs from each of its parents."""
        listing = self.run_command(
            'diff-tree', '-c', '-r', '-z', '--name-only', '--no-commit-id', merge
        )
        return tuple(listing.decode('utf-8', 'surrogateescape').split('\0')[:-1])

    def measure_size(self, rev: str) -> int:
        """Return the total size in bytes of a tree's files; unreadable ones count 0."""
        return sum(self.measure_sizes(rev).values())

    def measure_sizes(self, rev: str) -> dict[str, int]:
        """Return the size in bytes of a tree's files by path; unreadable ones are left out."""
        tree = self.tree(rev)
        ids = ''.join(f'{entry.oid}\n' for entry in tree.values())
        listing = self.run_command('cat-file', '--batch-check=%(objectsize)', stdin=ids.encode())
        lines = zip(tree, listing.splitlines(), strict=True)
        return {path: int(line) for path, line in lines if line.isdigit()}

    def list_submodules(self, rev: str) -> tuple[str, ...]:
        """Return the paths of a commit's submodules, whose files are not in this clone."""
        entries = _walk_tree(self.folder, self.header(rev).tree)
        return tuple(path for path, entry in entries if entry.mode == SUBMODULE)

    def list_absent_files(self, rev: str) -> tuple[str, ...]:
        """Return the sorted paths of a commit's files of which the clone lacks the content."""
        if not self.object_ids_absent_at_source:
            return ()
        return tuple(
            sorted(
                p
                for p, entry in self.tree(rev).items()
                if entry.oid in self.object_ids_absent_at_source
            )
        )

    def load_files_changed_by_checkout(self, rev: str) -> Mapping[str, bytes]:
        """Return the files of a commit whose bytes a checkout changes, with the changed bytes.

        A file that Git cannot convert is left out.
        """
        return load_files_changed_by_checkout(self.git_dir, rev, self.tree(rev))

    def materialise(self, rev: str, folder: Path, *, stand_ins: bool = False) -> None:
        """Write the tree of a commit into a new folder.

        Files have the bytes that a checkout would write: those of their blobs, or what
        `.gitattributes` asks for. Links are written only if they stay inside the folder; submodules
        are left out.

        stand_ins  whether files of which the clone lacks the content get that of
                   `make_stand_in`; missing links are left out

        Raises: CorruptObject if a blob cannot be read.
        """
        folder.mkdir(parents=True)
        converted = self.load_files_changed_by_checkout(rev)
        links = []
        for path, entry in self.tree(rev).items():
            target = join_beneath(folder, path)
            if stand_ins and entry.oid in self.object_ids_absent_at_source:
                if entry.mode != LINK:
                    target.create_file(make_stand_in(entry.oid), 0o644)
            elif entry.mode == LINK:
                links.append((target, os.fsdecode(self.blob(entry.oid))))
            else:
                content = converted.get(path)
                target.create_file(
                    self.blob(entry.oid) if content is None else content,
                    0o755 if int(entry.mode, 8) & 0o100 else 0o644,
                )
        folder.chmod(0o755)
        _make_links_staying_inside(folder, links)

    def _compare_trees(self, old: str, new: str) -> Iterator[FileChange]:
        """Yield the changes between two tree objects; equal subtrees are not read."""
        todo: list[tuple[str | None, str | None, str]] = [(old, new, '')]
        while todo:
            yield from self._compare_folders(*todo.pop(), todo)

    def _compare_folders(
        self,
        old: str | None,
        new: str | None,
        prefix: str,
        todo: list[tuple[str | None, str | None, str]],
    ) -> Iterator[FileChange]:
        """Yield the changes directly in two folders; append differing subfolders to `todo`."""
        before = {name: (mode, oid) for mode, name, oid in self.folder(old)} if old else {}
        after = {name: (mode, oid) for mode, name, oid in self.folder(new)} if new else {}
        for name in before.keys() | after.keys():
            ends = before.get(name), after.get(name)
            if ends[0] == ends[1]:
                continue
            folders = [end[1] if end and end[0] == FOLDER else None for end in ends]
            if any(folders):
                todo.append((folders[0], folders[1], f'{prefix}{name}/'))
            files = [end[1] if end and end[0] not in (FOLDER, SUBMODULE) else None for end in ends]
            if any(files):
                yield FileChange(path=prefix + name, old_oid=files[0], new_oid=files[1])

    def _run_remerge(self, merges: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        if not merges:
            return
        listing = self.run_command(
            *('log', '--no-walk=unsorted', '--stdin', '--remerge-diff', '--no-renames'),
            *('--name-only', '-z', '--format=%x00%H'),
            stdin='\n'.join((*merges, '')).encode(),
        )
        # NUL, id, NUL and, where there are any, a line feed and the paths with a NUL each.
        for record in (b'\0' + listing).split(b'\0\0')[1:]:
            merge, _, paths = record.decode('utf-8', 'surrogateescape').partition('\0')
            yield merge, tuple(path for path in paths.removeprefix('\n').split('\0') if path)

    def _get_readable_header(self, rev: str) -> CommitHeader | None:
        try:
            return self.header(rev)
        except CorruptObject:
            return None


Folder = Callable[[str], Sequence[tuple[str, str, str]]]
"""A function that returns (mode, name, id) for the direct entries of a tree object, by its id."""


def _walk_tree(folder: Folder, oid: str) -> Iterator[tuple[str, TreeEntry]]:
    """Yield the files and submodules of a tree by path, in Git's order.

    Trees may be too deep for recursion.
    """
    open_folders = [('', iter(folder(oid)))]
    while open_folders:
        prefix, entries = open_folders[-1]
        entry = next(entries, None)
        if entry is None:
            open_folders.pop()
            continue
        mode, name, child = entry
        if mode == FOLDER:
            open_folders.append((f'{prefix}{name}/', iter(folder(child))))
        else:
            yield prefix + name, TreeEntry(mode=mode, oid=child)


def _load_tree(
    header: Callable[[str], CommitHeader], folder: Folder, rev: str
) -> Mapping[str, TreeEntry]:
    """Return the files of a commit's tree by path, in Git's order, without submodules."""
    entries = _walk_tree(folder, header(rev).tree)
    return {path: entry for path, entry in entries if entry.mode != SUBMODULE}


def _load_folder(reader: ObjectReader, oid: str) -> tuple[tuple[str, str, str], ...]:
    try:
        return tuple(parse_tree(oid, _load_blob(reader, oid)))
    except ValueError as error:
        raise CorruptObject(oid) from error


def _load_blob(reader: ObjectReader, oid: str) -> bytes:
    """Return the content of an object, by its id. Raises: CorruptObject if it is missing."""
    blob = reader.read_id_and_content(oid)
    if blob is None:
        raise CorruptObject(oid)
    return blob[1]


def _load_header(reader: ObjectReader, rev: str) -> CommitHeader:
    commit_object = reader.read_id_and_content(f'{rev}^{{commit}}')
    if commit_object is None:
        raise CorruptObject(rev)
    try:
        return parse_commit(*commit_object)
    except ValueError as error:
        raise CorruptObject(rev) from error


def _make_links_staying_inside(folder: Path, links: list[tuple[SafePath, str]]) -> None:
    """Create the links of a tree, except those that lead out of it directly or through other links.

    Targets that are empty, absolute, too long or contain NUL are skipped.
    """
    standing = set()
    for link, target in links:
        if target and not target.startswith('/') and _can_be_link_target(target):
            link.make_symlink(target)
            standing.add(link)
    root = folder.resolve()
    while leaving := {link for link in standing if not _stays_inside(link.path, root)}:
        for link in leaving:
            link.remove()
        standing -= leaving


def _can_be_link_target(text: str) -> bool:
    return '\0' not in text and len(os.fsencode(text)) <= _LONGEST_TARGET


def _stays_inside(link: Path, root: Path) -> bool:
    # Not `Path.resolve`, which raises an error for circular links.
    return Path(os.path.realpath(link)).is_relative_to(root)


# This file in a clone lists the ids of objects that its source lacks, one a line.

_FILE = 'coevo-missing'


_STAND_IN = b'coevo: no copy of the repository has the content of this file, Git object '


def make_stand_in(oid: str) -> bytes:
    """Return the text that is written in place of a file whose content the clone lacks.

    It names the missing Git object.
    """
    return _STAND_IN + oid.encode() + b'\n'


def find_missing_object_id(content: bytes) -> str | None:
    """Return the id of the missing object if a content contains a text of `make_stand_in`.

    None if it contains none.
    """
    _, marker, rest = content.partition(_STAND_IN)
    return rest.partition(b'\n')[0].decode('ascii', 'replace') if marker else None


def load_absent_object_ids(git_dir: Path) -> frozenset[str]:
    """Return the ids of objects that a clone lacks because its source lacks them, too."""
    file = git_dir / _FILE
    return frozenset(file.read_text(encoding='ascii').split()) if file.exists() else frozenset()


def save_absent_object_ids(git_dir: Path, absent: AbstractSet[str]) -> None:
    """Replace the recorded ids of objects that the clone's source lacks."""
    durable.write_durably(git_dir / _FILE, [f'{oid}\n'.encode() for oid in sorted(absent)])


def load_content(repository: Repository, rev: str, path: str) -> bytes | None:
    """Return the bytes of a file of a revision; None if it does not exist."""
    entry = repository.tree(rev).get(path)
    return repository.blob(entry.oid) if entry else None


def find_old_path(repository: Repository, old_rev: str, new_rev: str, path: str) -> str | None:
    """Return the path at the old revision of a file of the new one; None if there is none.

    If the path does not exist at the old revision, the file has moved from the only path with the
    same file name that is gone at the new revision; with several such paths the answer is None.
    """
    old = repository.tree(old_rev)
    if path in old:
        return path
    name = path.rpartition('/')[2]
    there = repository.tree(new_rev)
    moved_paths = [
        other for other in old if other.rpartition('/')[2] == name and other not in there
    ]
    return moved_paths[0] if len(moved_paths) == 1 else None
