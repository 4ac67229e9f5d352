"""A bare clone, read without a checkout: history, trees, blobs, differences."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path

from coevo.git.objects import FOLDER, LINK, SUBMODULE, CommitHeader, parse_commit, parse_tree
from coevo.git.process import ENVIRONMENT, CorruptObject, ObjectReader, ask_git, run_git
from coevo.model.errors import Fatal
from coevo.model.records import Commit
from coevo.storage import durable
from coevo.storage.beneath import SafePath, join_beneath

__all__ = ['ENVIRONMENT', 'CorruptObject', 'FileChange', 'Repository', 'TreeEntry']


# Bytes; XFS takes no more, Linux 4,095. On no machine is a tree to be another one than elsewhere.
_LONGEST_TARGET = 1023


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """A file of a tree: Git's mode, such as 100644, and the blob's id."""

    mode: str
    oid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A path that differs between two revisions; an id is None where the file is absent."""

    path: str
    old_oid: str | None
    new_oid: str | None


class Repository:
    """Read-only; safe from several threads. Paths that are not UTF-8 carry surrogates.

    The process that reads its objects, and what it remembers of them, end with the last reference to
    it, or when it is closed.
    """

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        self._objects = reader = ObjectReader(git_dir)
        # Functions of the reader, not methods: a cache that knew the repository would keep it alive
        # until the garbage collector comes by, and its process of Git with it.
        self.blob = lru_cache(maxsize=2048)(partial(_load_blob, reader))
        self.folder = lru_cache(maxsize=1 << 14)(partial(_load_folder, reader))
        self.header = lru_cache(maxsize=None)(partial(_load_header, reader))
        self.tree = lru_cache(maxsize=32)(partial(_load_tree, self.header, self.folder))

    def close(self) -> None:
        """End the process, and forget all objects; it may be read again, as if it were new."""
        self._objects.close()
        for cached in (self.blob, self.folder, self.header, self.tree):
            cached.cache_clear()

    @cached_property
    def holes(self) -> frozenset[str]:
        """Ids of the objects that the clone lacks since its source lacks them, too."""
        return load_holes(self.git_dir)

    def run_command(self, *arguments: str, stdin: bytes = b'') -> bytes:
        """The output of a Git command; Fatal with its first line of complaint."""
        return run_git(self.git_dir, *arguments, stdin=stdin)

    def resolve(self, ref: str) -> str:
        """The commit that a ref or hash names."""
        if not ref or ref.startswith('-') or not ref.isprintable():
            raise Fatal(f'{ref!r} is not a ref; name a branch, a tag or a commit')
        commit_object = self._objects.read(f'{ref}^{{commit}}')
        if commit_object is None:
            raise Fatal(f'there is no commit {ref!r} in {self.git_dir.name}; name another ref')
        return commit_object[0]

    def get_commit(self, rev: str) -> Commit:
        """A commit's parents and dates."""
        return self.header(rev).commit

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Whether a commit can be reached from another one; a commit reaches itself.

        `rev-list ANCESTOR ^DESCENDANT` stops too early where clocks were wrong.
        """
        return ask_git(self.git_dir, 'merge-base', '--is-ancestor', ancestor, descendant)

    def iterate_log(
        self, head: str, *, first_parent: bool = False
    ) -> Iterator[tuple[str, CommitHeader | None]]:
        """Commits reachable from a commit in Git's default order, newest first.

        That is the order of committer dates among those whose child has been seen. A commit that
        cannot be read comes with None, where a date would have put it last, and ends nothing else.
        """
        waiting: list[tuple[int, int, str, CommitHeader | None]] = []
        seen: set[str] = set()

        def add_commit(rev: str) -> None:
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
        """The text of a file; None where it does not exist."""
        entry = self.tree(rev).get(path)
        return self.blob(entry.oid).decode('utf-8', 'replace') if entry else None

    def list_changes(self, old: str, new: str) -> tuple[FileChange, ...]:
        """The files that differ, renames not followed, sorted by path."""
        changes = self._compare_trees(self.header(old).tree, self.header(new).tree)
        return tuple(sorted(changes, key=lambda change: change.path))

    def list_remerge_differences(self, merges: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """By merge of two parents, the files that Git alone would not have made of them.

        A merge that cannot be read is left out.
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
        """The files in which a merge differs from each of its parents."""
        listing = self.run_command(
            'diff-tree', '-c', '-r', '-z', '--name-only', '--no-commit-id', merge
        )
        return tuple(listing.decode('utf-8', 'surrogateescape').split('\0')[:-1])

    def measure_size(self, rev: str) -> int:
        """Bytes of a tree's files; one that cannot be read counts nothing."""
        return sum(self.measure_sizes(rev).values())

    def measure_sizes(self, rev: str) -> dict[str, int]:
        """Bytes of a tree's files by path; those that cannot be read are left out."""
        tree = self.tree(rev)
        ids = ''.join(f'{entry.oid}\n' for entry in tree.values())
        listing = self.run_command('cat-file', '--batch-check=%(objectsize)', stdin=ids.encode())
        lines = zip(tree, listing.splitlines(), strict=True)
        return {path: int(line) for path, line in lines if line.isdigit()}

    def list_submodules(self, rev: str) -> tuple[str, ...]:
        """Where the tree of a commit names one of another repository, whose files are not here."""
        entries = _walk_tree(self.folder, self.header(rev).tree)
        return tuple(path for path, entry in entries if entry.mode == SUBMODULE)

    def materialise(self, rev: str, folder: Path) -> None:
        """Write a tree: blobs as they are, links only if they stay inside, submodules left out."""
        folder.mkdir(parents=True)
        links = []
        for path, entry in self.tree(rev).items():
            target = join_beneath(folder, path)
            if entry.mode == LINK:
                links.append((target, os.fsdecode(self.blob(entry.oid))))
            else:
                target.create_file(
                    self.blob(entry.oid), 0o755 if int(entry.mode, 8) & 0o100 else 0o644
                )
        folder.chmod(0o755)
        _make_links(folder, links)

    def _compare_trees(self, old: str, new: str) -> Iterator[FileChange]:
        """Compare two tree objects; those that are the same below are not read."""
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
        """What differs right in two folders; the folders in them are added to what is to be done."""
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
"""(mode, name, id) of what stands directly in the tree object of that id."""


def _walk_tree(folder: Folder, oid: str) -> Iterator[tuple[str, TreeEntry]]:
    """What is no folder, by path, in Git's order; a tree may be deeper than our stack."""
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
    """Files by path, in Git's order; submodules left out."""
    entries = _walk_tree(folder, header(rev).tree)
    return {path: entry for path, entry in entries if entry.mode != SUBMODULE}


def _load_folder(reader: ObjectReader, oid: str) -> tuple[tuple[str, str, str], ...]:
    try:
        return tuple(parse_tree(oid, _load_blob(reader, oid)))
    except ValueError as error:
        raise CorruptObject(oid) from error


def _load_blob(reader: ObjectReader, oid: str) -> bytes:
    """The bytes of an object."""
    blob = reader.read(oid)
    if blob is None:
        raise CorruptObject(oid)
    return blob[1]


def _load_header(reader: ObjectReader, rev: str) -> CommitHeader:
    commit_object = reader.read(f'{rev}^{{commit}}')
    if commit_object is None:
        raise CorruptObject(rev)
    try:
        return parse_commit(*commit_object)
    except ValueError as error:
        raise CorruptObject(rev) from error


def _make_links(folder: Path, links: list[tuple[SafePath, str]]) -> None:
    """Make the links of a tree, but for those that lead out of it, if only by way of others.

    What is no target, or too long for one, leads nowhere.
    """
    standing = set()
    for link, target in links:
        if target and not target.startswith('/') and _can_be_target(target):
            link.make_symlink(target)
            standing.add(link)
    root = folder.resolve()
    while leaving := {link for link in standing if not _stays_inside(link.path, root)}:
        for link in leaving:
            link.remove()
        standing -= leaving


def _can_be_target(text: str) -> bool:
    return '\0' not in text and len(os.fsencode(text)) <= _LONGEST_TARGET


def _stays_inside(link: Path, root: Path) -> bool:
    # Not `Path.resolve`, which raises for links in a circle.
    return Path(os.path.realpath(link)).is_relative_to(root)


# What a clone is known to lack since its source lacks it, too: ids of objects, a line each.

_FILE = 'coevo-missing'


def load_holes(git_dir: Path) -> frozenset[str]:
    file = git_dir / _FILE
    return frozenset(file.read_text(encoding='ascii').split()) if file.exists() else frozenset()


def save_holes(git_dir: Path, absent: AbstractSet[str]) -> None:
    durable.write_durably(git_dir / _FILE, [f'{oid}\n'.encode() for oid in sorted(absent)])


# What is in a file of a revision, and where it stood before it moved.


def load_content(repository: Repository, rev: str, path: str) -> bytes | None:
    entry = repository.tree(rev).get(path)
    return repository.blob(entry.oid) if entry else None


def find_old_path(repository: Repository, old_rev: str, new_rev: str, path: str) -> str | None:
    """Where a file of the new revision stands at old, also where it has moved since.

    A file has moved where exactly one of its name is gone at new.
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
