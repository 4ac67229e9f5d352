"""Class files read as far as selecting a test needs: names, parents, methods (JVMS, chapter 4)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

_INTERFACE, _ABSTRACT = 0x0200, 0x0400
_HIDDEN = 0x0040 | 0x1000  # bridge, synthetic

# Bytes of a constant behind its tag; 1 (text) has its length in itself.
_CONSTANTS = {
    **dict.fromkeys((3, 4, 9, 10, 11, 12, 17, 18), 4),
    **dict.fromkeys((5, 6), 8),
    **dict.fromkeys((7, 8, 16, 19, 20), 2),
    15: 3,
}
_PRIMITIVES = {
    'B': 'byte',
    'C': 'char',
    'D': 'double',
    'F': 'float',
    'I': 'int',
    'J': 'long',
    'S': 'short',
    'Z': 'boolean',
}


@dataclass(frozen=True, slots=True)
class ClassFile:
    """Names are binary (`pkg.Outer$Inner`); methods as (name, types of the parameters)."""

    name: str
    parents: tuple[str, ...]
    abstract: bool
    methods: tuple[tuple[str, tuple[str, ...]], ...]


def read_classes(folder: Path) -> dict[str, ClassFile]:
    """Read the classes below a folder, by name."""
    classes = (read_class(path.read_bytes()) for path in sorted(folder.rglob('*.class')))
    return {each.name: each for each in classes}


def read_class(data: bytes) -> ClassFile:
    """Read one class file."""
    pool, at = _read_constants(data)

    def name(index: int) -> str:
        return pool[int(pool[index])].replace('/', '.')

    access, this, above, interfaces = struct.unpack_from('>4H', data, at)
    at += 8
    parents = [above, *struct.unpack_from(f'>{interfaces}H', data, at)]
    at += 2 * interfaces
    _, at = _read_members(data, at)
    methods, _ = _read_members(data, at)
    return ClassFile(
        name(this),
        tuple(name(parent) for parent in parents if parent),
        bool(access & (_INTERFACE | _ABSTRACT)),
        tuple((pool[n], _list_types(pool[d])) for flags, n, d in methods if not flags & _HIDDEN),
    )


def _read_constants(data: bytes) -> tuple[dict[int, str], int]:
    """Texts, and for classes the index of their name; then where the pool ends."""
    (count,) = struct.unpack_from('>H', data, 8)
    pool: dict[int, str] = {}
    at, index = 10, 1
    while index < count:
        tag = data[at]
        if tag == 1:
            (size,) = struct.unpack_from('>H', data, at + 1)
            pool[index] = data[at + 3 : at + 3 + size].decode('utf-8', 'replace')
            at += 3 + size
        else:
            if tag == 7:
                pool[index] = str(struct.unpack_from('>H', data, at + 1)[0])
            at += 1 + _CONSTANTS[tag]
        index += 2 if tag in (5, 6) else 1
    return pool, at


def _read_members(data: bytes, at: int) -> tuple[list[tuple[int, int, int]], int]:
    (count,) = struct.unpack_from('>H', data, at)
    at += 2
    members = []
    for _ in range(count):
        flags, name, descriptor, attributes = struct.unpack_from('>4H', data, at)
        members.append((flags, name, descriptor))
        at += 8
        for _ in range(attributes):
            at += 6 + struct.unpack_from('>I', data, at + 2)[0]
    return members, at


def _list_types(descriptor: str) -> tuple[str, ...]:
    """`(ILjava/lang/String;[J)V` -> int, java.lang.String, long[]."""
    types = []
    text = descriptor[1 : descriptor.index(')')]
    while text:
        bare = text.lstrip('[')
        end = bare.index(';') + 1 if bare[0] == 'L' else 1
        name = bare[1 : end - 1].replace('/', '.') if bare[0] == 'L' else _PRIMITIVES[bare[0]]
        types.append(name + '[]' * (len(text) - len(bare)))
        text = bare[end:]
    return tuple(types)
