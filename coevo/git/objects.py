"""Parsers for the bytes of Git's commit and tree objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from coevo.model.records import Commit

FOLDER, LINK, SUBMODULE = '40000', '120000', '160000'


@dataclass(frozen=True, slots=True)
class CommitHeader:
    """The header of a commit object; seconds since the epoch are None if they are not a number."""

    rev: str
    tree: str
    parents: tuple[str, ...]
    author_seconds: int | None
    committer_seconds: int | None

    @property
    def commit(self) -> Commit:
        """The record `Commit` with the same data and dates in UTC."""
        return Commit(
            rev=self.rev,
            parents=self.parents,
            author_date=_make_date(self.author_seconds),
            committer_date=_make_date(self.committer_seconds),
        )


def parse_commit(rev: str, content: bytes) -> CommitHeader:
    """Return the header of a commit object.

    Raises: ValueError if it names no tree.
    """
    tree, parents, seconds = '', [], dict[bytes, int | None]()
    for line in content.partition(b'\n\n')[0].split(b'\n'):
        name, _, value = line.partition(b' ')
        if name == b'tree' and not tree:
            tree = value.decode('ascii')
        elif name == b'parent':
            parents.append(value.decode('ascii'))
        elif name in (b'author', b'committer') and name not in seconds:
            seconds[name] = _parse_seconds(value)
    if not tree:
        raise ValueError('a commit without a tree')
    return CommitHeader(
        rev, tree, tuple(parents), seconds.get(b'author'), seconds.get(b'committer')
    )


def parse_tree(oid: str, content: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield (mode, name, id) for a tree's entries in order. Bytes that are not UTF-8 become
    surrogates.

    Raises: ValueError for a duplicate name or one that no file may have (empty, `.`, `..`, `.git`,
    with a slash). Git itself never writes such trees.
    """
    size, at, seen = len(oid) // 2, 0, set[str]()
    while at < len(content):
        space = content.index(b' ', at)
        zero = content.index(b'\0', space)
        mode = content[at:space].decode('ascii').lstrip('0')
        name = content[space + 1 : zero].decode('utf-8', 'surrogateescape')
        at = zero + 1 + size
        if name.lower() in ('', '.', '..', '.git') or '/' in name or name in seen:
            raise ValueError(f'a tree with an entry {name!r}')
        seen.add(name)
        yield mode, name, content[zero + 1 : at].hex()


def _parse_seconds(person: bytes) -> int | None:
    """Return the seconds in `Name <mail> seconds zone`; None if they are not a number."""
    try:
        return int(person.rsplit(b' ', 2)[1])
    except (ValueError, IndexError):
        return None


def _make_date(seconds: int | None) -> datetime | None:
    """Return the time in UTC; None if it is out of range."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None
