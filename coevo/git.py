"""A bare clone, read without a checkout: trees and blobs through one `git cat-file --batch`."""

from __future__ import annotations

import os
import subprocess
import threading
import weakref
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from pathlib import PurePosixPath

from coevo.errors import Fatal
from coevo.records import Commit

# Only the clone decides what Git says: no user's or system's configuration, no replaced objects,
# no fetching of what is missing, no prompt.
ENVIRONMENT = {
    'PATH': os.environ.get('PATH', '/usr/bin:/bin'),
    'HOME': '/nonexistent',
    'LC_ALL': 'C',
    'GIT_CONFIG_GLOBAL': os.devnull,
    'GIT_CONFIG_NOSYSTEM': '1',
    'GIT_NO_REPLACE_OBJECTS': '1',
    'GIT_NO_LAZY_FETCH': '1',
    'GIT_TERMINAL_PROMPT': '0',
    'GIT_OPTIONAL_LOCKS': '0',
}

_LINK, _EXECUTABLE, _FOLDER = '120000', '100755', '40000'
_SUBMODULE = '160000'


class CorruptObject(Fatal):
    """An object is missing or cannot be read."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f'object {name} is missing or corrupt in the clone; delete the clone and run again'
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
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
    """Read-only; safe from several threads. Paths that are not UTF-8 carry surrogates."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        self._lock = threading.Lock()
        self._batch: subprocess.Popen[bytes] | None = None
        self.tree = lru_cache(maxsize=32)(self._tree)
        self.blob = lru_cache(maxsize=2048)(self._blob)
        self.commit = lru_cache(maxsize=None)(self._commit)

    def git(self, *arguments: str, stdin: bytes = b'') -> bytes:
        """The output of a Git command; Fatal with its first line of complaint."""
        done = subprocess.run(
            ['git', f'--git-dir={self.git_dir}', *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            env=ENVIRONMENT,
        )
        if done.returncode:
            lines = done.stderr.decode('utf-8', 'replace').strip().splitlines()
            raise Fatal(f'git {arguments[0]} failed: {lines[0] if lines else done.returncode}')
        return done.stdout

    def resolve(self, ref: str) -> str:
        """The commit that a ref or hash names."""
        if ref.startswith('-'):
            raise Fatal(f'{ref!r} is not a ref; name a branch, a tag or a commit')
        header, _ = self._object(f'{ref}^{{commit}}')
        if header is None:
            raise Fatal(f'there is no commit {ref!r} in {self.git_dir.name}; name another ref')
        return header

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Whether a commit can be reached from another one; a commit reaches itself."""
        found = self.git('rev-list', '--max-count=1', ancestor, f'^{descendant}', '--')
        return not found

    def log(self, head: str, *options: str) -> Iterator[str]:
        """Commits reachable from a commit in Git's default order, newest first; it may be left."""
        command = ['git', f'--git-dir={self.git_dir}', 'rev-list', *options, head, '--']
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT
        ) as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    yield line.decode().strip()
                if process.wait():
                    raise CorruptObject(f'of the history of {head[:12]}')
            finally:
                process.stdout.close()
                process.terminate()

    def differs(self, old: str, new: str, suffix: str) -> bool:
        """Whether any file of that ending differs between two revisions."""
        found = self.git('diff-tree', '-r', '-z', '--no-renames', '--name-only', old, new, '--')
        return any(path.endswith(os.fsencode(suffix)) for path in found.split(b'\0'))

    def remerge_diff(self, merge: str) -> tuple[str, ...]:
        """Files in which a merge of two parents differs from what Git alone makes of them."""
        found = self.git('show', '--remerge-diff', '--name-only', '-z', '--format=', merge, '--')
        return tuple(path for path in found.decode('utf-8', 'surrogateescape').split('\0') if path)

    def text(self, rev: str, path: str) -> str | None:
        """The text of a file; None where it does not exist."""
        entry = self.tree(rev).get(path)
        return self.blob(entry.oid).decode('utf-8', 'replace') if entry else None

    def changed(self, old: str, new: str) -> tuple[FileChange, ...]:
        """The files that differ, renames not followed, sorted by path."""
        before, after = self.tree(old), self.tree(new)
        paths = sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p))
        return tuple(
            FileChange(
                path=path,
                old_oid=before[path].oid if path in before else None,
                new_oid=after[path].oid if path in after else None,
            )
            for path in paths
        )

    def materialise(self, rev: str, folder: Path) -> None:
        """Write a tree: blobs as they are, links only if they stay inside, submodules left out."""
        folder.mkdir(parents=True)
        for path, entry in self.tree(rev).items():
            place = folder / os.fsencode(path).decode('utf-8', 'surrogateescape')
            place.parent.mkdir(parents=True, exist_ok=True)
            content = self.blob(entry.oid)
            if entry.mode == _LINK:
                _link(path, content, place)
            else:
                place.write_bytes(content)
                place.chmod(0o755 if entry.mode == _EXECUTABLE else 0o644)

    def _tree(self, rev: str) -> Mapping[str, Entry]:
        """Files by path, sorted; submodules left out."""
        tree = {}
        listing = self.git('ls-tree', '-r', '-z', '--full-tree', rev)
        for line in listing.decode('utf-8', 'surrogateescape').split('\0')[:-1]:
            meta, path = line.split('\t', 1)
            mode, _, oid = meta.split()
            if mode != _SUBMODULE:
                tree[path] = Entry(mode=mode, oid=oid)
        return tree

    def _blob(self, oid: str) -> bytes:
        header, content = self._object(oid)
        if header is None:
            raise CorruptObject(oid)
        return content

    def _commit(self, rev: str) -> Commit:
        header, content = self._object(f'{rev}^{{commit}}')
        if header is None:
            raise CorruptObject(rev)
        return parse_commit(header, content)

    def _object(self, name: str) -> tuple[str | None, bytes]:
        """An object's id and content; None as its id if there is no such object."""
        with self._lock:
            batch = self._running()
            assert batch.stdin is not None and batch.stdout is not None
            batch.stdin.write(name.encode('utf-8', 'surrogateescape') + b'\n')
            batch.stdin.flush()
            header = batch.stdout.readline().split()
            if not header:
                batch.wait()
                raise CorruptObject(name)
            if len(header) != 3 or not header[2].isdigit():
                return None, b''
            content = batch.stdout.read(int(header[2]))
            batch.stdout.read(1)
            return header[0].decode(), content

    def _running(self) -> subprocess.Popen[bytes]:
        if self._batch is None or self._batch.poll() is not None:
            self._batch = subprocess.Popen(
                ['git', f'--git-dir={self.git_dir}', 'cat-file', '--batch'],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
            )
            weakref.finalize(self, _end, self._batch)
        return self._batch


def _end(batch: subprocess.Popen[bytes]) -> None:
    """Close its input, upon which `cat-file` ends by itself."""
    batch.communicate()


def parse_commit(rev: str, content: bytes) -> Commit:
    """A commit object's parents and dates."""
    parents, dates = [], {}
    for line in content.partition(b'\n\n')[0].split(b'\n'):
        name, _, value = line.partition(b' ')
        if name == b'parent':
            parents.append(value.decode())
        elif name in (b'author', b'committer') and name not in dates:
            dates[name] = _date(value)
    return Commit(
        rev=rev,
        parents=tuple(parents),
        author_date=dates.get(b'author'),
        committer_date=dates.get(b'committer'),
    )


def _date(person: bytes) -> datetime | None:
    """The moment in `Name <mail> seconds zone`, in UTC; None if it is none that can be written."""
    try:
        return datetime.fromtimestamp(int(person.rsplit(b' ', 2)[1]), tz=UTC)
    except (ValueError, IndexError, OverflowError, OSError):
        return None


def _link(path: str, target: bytes, place: Path) -> None:
    """A link that stays inside the tree; any other is left out."""
    text = os.fsdecode(target)
    if text.startswith('/') or '\0' in text:
        return
    depth = 0
    for part in (*PurePosixPath(path).parent.parts, *PurePosixPath(text).parts):
        depth += -1 if part == '..' else part != '.'
        if depth < 0:
            return
    place.symlink_to(text)
