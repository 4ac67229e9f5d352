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

from coevo.languages.java.cells.constant_pool import NAMING
from coevo.languages.java.cells.constant_pool import TEXT
from coevo.languages.java.cells.constant_pool import TIED
from coevo.languages.java.cells.constant_pool import Constant
from coevo.languages.java.cells.constant_pool import constant_pool

_MOST = 65_534
# A text of nothing, which keeps the place of what is left out.
_NOTHING = bytes((TEXT, 0, 0))


def with_constants(edited: bytes, others: Iterable[bytes]) -> bytes:
    """A class file with the constants of others behind its own; as it is where they do not fit in.

    What is no class file, and what counts on more than the pool, is left out.
    """
    try:
        own = constant_pool(edited)
    except ValueError:
        return edited
    places, added = own.places, b''
    for other in others:
        try:
            pool = constant_pool(other)
        except ValueError:
            continue
        if places + pool.places <= _MOST:
            added += b''.join(_shifted(pool.constants, places))
            places += pool.places
    count = struct.pack('>H', places + 1)
    before, behind = edited[: own.start], edited[own.start + len(count) : own.end]
    return before + count + behind + added + edited[own.end :]


def _shifted(constants: Iterable[Constant], by: int) -> Iterator[bytes]:
    """The same entries so many places later."""
    for one in constants:
        if one.tag in TIED:
            yield _NOTHING
            continue
        made = bytearray(one.content)
        for at in NAMING.get(one.tag, ()):
            (place,) = struct.unpack_from('>H', made, at)
            struct.pack_into('>H', made, at, place + by)
        yield bytes((one.tag,)) + made
