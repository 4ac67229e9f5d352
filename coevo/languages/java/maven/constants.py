"""Constants of other versions of a class, added to a class file that nobody uses them in.

A test that looks for known names in a class file would notice each edit that takes a call away,
and say nothing of what the class does. So edited classes name all that both ends of the pair name
there: what such a test looks for is still there, and what it must not find is there, too.
(JVM specification, 4.4: nothing asks that a constant is used.)
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass

_START = 8  # magic and versions come before the count
_MOST = 65_535
_TEXT = 1
_WIDE = (5, 6)  # long and double, which take two places
# How long an entry is behind its tag, and where in it other entries are named.
_PLAIN = {3: 4, 4: 4, 5: 8, 6: 8}
_NAMING = {
    **dict.fromkeys((7, 8, 16), (2, (0,))),  # Class, String, MethodType
    **dict.fromkeys((9, 10, 11, 12), (4, (0, 2))),  # references, NameAndType
    15: (3, (1,)),  # MethodHandle
}
# Dynamic, InvokeDynamic, Module, Package: they count on attributes of their own class file.
_TIED = {17: 4, 18: 4, 19: 2, 20: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pool:
    """count as the file says it: one more than the places; end is where the pool ends."""

    count: int
    entries: tuple[tuple[int, bytes], ...]
    end: int


def with_constants(edited: bytes, others: Iterable[bytes]) -> bytes:
    """A class file with the constants of others behind its own; as it is where they do not fit in.

    What is no class file, and what counts on more than the pool, is left out.
    """
    try:
        own = _pool(edited)
    except (struct.error, KeyError):
        return edited
    count, added = own.count, b''
    for other in others:
        try:
            pool = _pool(other)
        except (struct.error, KeyError):
            continue
        if count + pool.count - 1 <= _MOST:
            added += b''.join(_shifted(pool.entries, count - 1))
            count += pool.count - 1
    start = edited[:_START] + struct.pack('>H', count)
    return start + edited[_START + 2 : own.end] + added + edited[own.end :]


def _pool(content: bytes) -> _Pool:
    (count,) = struct.unpack_from('>H', content, _START)
    at, place, entries = _START + 2, 1, []
    while place < count:
        tag = content[at] if at < len(content) else -1
        if tag == _TEXT:
            length = 2 + struct.unpack_from('>H', content, at + 1)[0]
        else:
            length = _PLAIN.get(tag) or _TIED.get(tag) or _NAMING[tag][0]
        entries.append((tag, content[at + 1 : at + 1 + length]))
        at += 1 + length
        place += 2 if tag in _WIDE else 1
    return _Pool(count=count, entries=tuple(entries), end=at)


def _shifted(entries: Iterable[tuple[int, bytes]], by: int) -> Iterator[bytes]:
    """The same entries so many places later. A text of nothing keeps the place of what is left out."""
    for tag, content in entries:
        if tag in _TIED:
            yield bytes((_TEXT, 0, 0))
            continue
        made = bytearray(content)
        for at in _NAMING.get(tag, (0, ()))[1]:
            (place,) = struct.unpack_from('>H', content, at)
            struct.pack_into('>H', made, at, place + by)
        yield bytes((tag,)) + made
