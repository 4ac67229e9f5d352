"""The constants of a class file (JVM specification, 4.4)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

TEXT, CLASS = 1, 7
# Long and double take two places.
WIDE = (5, 6)
# Dynamic, InvokeDynamic, Module, Package: they count on attributes of their own class file.
TIED = (17, 18, 19, 20)
# Where in an entry, behind its tag, other entries of the pool are named.
NAMING = {
    **dict.fromkeys((CLASS, 8, 16), (0,)),  # Class, String, MethodType
    **dict.fromkeys((9, 10, 11, 12), (0, 2)),  # references, NameAndType
    15: (1,),  # MethodHandle
}

_START = 8  # magic and versions come before the count
# How long entries are behind their tag; a text says so itself.
_LENGTHS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4}
_LENGTHS |= {15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """An entry of the pool: its place, its tag, and what is behind that."""

    index: int
    tag: int
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantPool:
    """places are those that are taken, from 1 on; the pool lies from `start` to `end` in its file."""

    places: int
    constants: tuple[Constant, ...]
    start: int
    end: int


def parse_constant_pool(content: bytes) -> ConstantPool:
    """The pool of a class file; ValueError for what is none."""
    try:
        return _parse_pool(content)
    except (struct.error, IndexError, KeyError) as error:
        raise ValueError('it is no class file') from error


def _parse_pool(content: bytes) -> ConstantPool:
    (count,) = struct.unpack_from('>H', content, _START)
    at, index, constants = _START + 2, 1, []
    while index < count:
        tag = content[at]
        if tag == TEXT:
            length = 2 + struct.unpack_from('>H', content, at + 1)[0]
        else:
            length = _LENGTHS[tag]
        constants.append(Constant(index=index, tag=tag, content=content[at + 1 : at + 1 + length]))
        at += 1 + length
        index += 2 if tag in WIDE else 1
    if count == 0 or at > len(content):
        raise ValueError('it is no class file')
    return ConstantPool(places=count - 1, constants=tuple(constants), start=_START, end=at)
