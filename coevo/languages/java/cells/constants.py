"""Constants of other versions of a class, added to a class file that nobody uses them in.

A test that looks for known names in a class file would notice each edit that takes a call away,
and say nothing of what the class does. So edited classes name all that both ends of the pair name
there: what such a test looks for is still there, and what it must not find is there, too.
(JVM specification, 4.4: nothing asks that a constant is used.)
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from coevo.languages.java.cells.constant_pool import (
    NAMING,
    TEXT,
    TIED,
    Constant,
    parse_constant_pool,
)

_MOST = 65_534
# A text of nothing, which keeps the place of what is left out.
_NOTHING = bytes((TEXT, 0, 0))


def add_constants(edited: bytes, others: Iterable[bytes]) -> bytes:
    """A class file with the constants of others behind its own; as it is where they do not fit in.

    What is no class file, and what counts on more than the pool, is left out.
    """
    try:
        own = parse_constant_pool(edited)
    except ValueError:
        return edited
    places, added = own.places, b''
    for other in others:
        try:
            pool = parse_constant_pool(other)
        except ValueError:
            continue
        if places + pool.places <= _MOST:
            added += b''.join(_shift_constants(pool.constants, places))
            places += pool.places
    count = struct.pack('>H', places + 1)
    before, behind = edited[: own.start], edited[own.start + len(count) : own.end]
    return before + count + behind + added + edited[own.end :]


def _shift_constants(constants: Iterable[Constant], by: int) -> Iterator[bytes]:
    """The same entries so many places later."""
    for constant in constants:
        if constant.tag in TIED:
            yield _NOTHING
            continue
        shifted_content = bytearray(constant.content)
        for at in NAMING.get(constant.tag, ()):
            (index,) = struct.unpack_from('>H', shifted_content, at)
            struct.pack_into('>H', shifted_content, at, index + by)
        yield bytes((constant.tag,)) + shifted_content
