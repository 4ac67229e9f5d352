"""Files of a packed tree of which the clone lacks the content, and whether a run read one.

A partial clone lacks objects. In the tree of a cell, a stand-in takes the place of such a file: it
has the file's path and other content. What a test makes of a stand-in says nothing about the
project, so a run that reads one has no result. The kernel notes the time of a file's last reading
(atime). Coevo's program in the sandbox sets these times to the epoch beforehand, and afterwards
confirms that none has changed. A process that is killed leaves no confirmation. Java does the same
in its own trees (`java.processes.stand_ins`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coevo.git.process import CorruptObject
from coevo.git.repository import find_stand_in
from coevo.languages.packed_files import Files

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
        (path, find_stand_in(content))
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
