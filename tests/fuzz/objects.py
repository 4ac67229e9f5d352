"""Git objects written as they are, also those that no Git would make."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.repos import init


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An entry of a folder: a name, Git's mode, and a blob's content, or an id where it has none."""

    name: bytes
    mode: bytes
    content: bytes = b''
    oid: str | None = None


Files = Mapping[bytes, tuple[bytes, bytes]]
"""Mode and content by path."""


class Objects:
    """The loose objects of a new repository."""

    def __init__(self, folder: Path) -> None:
        self.git_dir = init(folder) / '.git'

    def write(self, kind: str, content: bytes) -> str:
        data = f'{kind} {len(content)}'.encode() + b'\0' + content
        oid = hashlib.sha1(data).hexdigest()
        place = self.git_dir / 'objects' / oid[:2] / oid[2:]
        place.parent.mkdir(exist_ok=True)
        if not place.exists():
            place.write_bytes(zlib.compress(data, 1))
        return oid

    def tree(self, files: Files, more: Sequence[Item] = ()) -> str:
        """A tree of files by path; `more` are put at its top as they are."""
        here: dict[bytes, tuple[bytes, str]] = {}
        below: dict[bytes, dict[bytes, tuple[bytes, bytes]]] = {}
        for path, (mode, content) in files.items():
            name, slash, rest = path.partition(b'/')
            if slash:
                below.setdefault(name, {})[rest] = mode, content
            else:
                here[name] = mode, self.write('blob', content)
        for name, inner in below.items():
            here[name] = b'40000', self.tree(inner)
        entries = [(name, mode, oid) for name, (mode, oid) in here.items()]
        for item in more:
            entries.append((item.name, item.mode, item.oid or self.write('blob', item.content)))
        entries.sort(key=lambda one: one[0] + b'/' * (one[1] == b'40000'))
        rows = [b'%b %b\0%b' % (mode, name, bytes.fromhex(oid)) for name, mode, oid in entries]
        return self.write('tree', b''.join(rows))

    def commit(self, tree: str, parents: Sequence[str], header: bytes, message: bytes) -> str:
        """`header` has the lines for author and committer, and whatever else."""
        lines = [f'tree {tree}'.encode(), *(f'parent {one}'.encode() for one in parents), header]
        return self.write('commit', b'\n'.join(lines) + b'\n\n' + message)

    def point(self, ref: str, rev: str) -> None:
        place = self.git_dir / ref
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f'{rev}\n')
