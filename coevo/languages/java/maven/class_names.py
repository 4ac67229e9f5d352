"""What a class file says of the class around its own (JVM specification, 4.7.6; names by the
language's, 13.1).

A binary name cannot tell: the `$` in `Shop$Open` may stand for nesting or be a part of a name.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

# How long entries of the constant pool are behind their tag; a text says so itself.
_LENGTHS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4}
_LENGTHS |= {15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
_TEXT, _CLASS, _WIDE = 1, 7, (5, 6)


def outermost(content: bytes) -> str:
    """The top-level class that holds a class, or that it is, as `pkg/Outer`.

    ValueError for what is no class file.
    """
    try:
        own, around = _ClassFile(content).nesting()
    except (struct.error, IndexError, KeyError, UnicodeDecodeError) as error:
        raise ValueError('it is no class file') from error
    seen = set[str]()
    while own in around and own not in seen:
        seen.add(own)
        own = around[own]
    return own


class _ClassFile:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 8
        self._texts: dict[int, bytes] = {}
        self._classes: dict[int, int] = {}

    def nesting(self) -> tuple[str, dict[str, str]]:
        """Its own name, and of each class that it names the one around, if there is one."""
        self._read_constants()
        _, own, _, interfaces = self._take('>4H')
        self._at += 2 * interfaces
        for _ in range(2):  # fields, then methods
            for _ in range(self._take('>H')[0]):
                self._at += 6
                for _ in self._attributes():
                    pass
        around: dict[str, str] = {}
        for name, start in self._attributes():
            if name == b'InnerClasses':
                around |= self._inner_classes(start)
        return self._name(own), around

    def _read_constants(self) -> None:
        index, (count,) = 1, self._take('>H')
        while index < count:
            (tag,) = self._take('>B')
            if tag == _TEXT:
                (length,) = self._take('>H')
                self._texts[index] = self._content[self._at : self._at + length]
                self._at += length
            else:
                if tag == _CLASS:
                    (self._classes[index],) = struct.unpack_from('>H', self._content, self._at)
                self._at += _LENGTHS[tag]
            index += 2 if tag in _WIDE else 1

    def _attributes(self) -> Iterator[tuple[bytes, int]]:
        """The name of each, and where its content begins."""
        for _ in range(self._take('>H')[0]):
            name, length = self._take('>HI')
            yield self._texts[name], self._at
            self._at += length

    def _inner_classes(self, start: int) -> Iterator[tuple[str, str]]:
        """A local class, which has no outer one, is called after the one that it stands in."""
        (count,) = struct.unpack_from('>H', self._content, start)
        for at in range(start + 2, start + 2 + 8 * count, 8):
            inner, outer, simple, _ = struct.unpack_from('>4H', self._content, at)
            name = self._name(inner)
            local = name.removesuffix(self._text(simple) if simple else '').rstrip('0123456789')
            yield name, self._name(outer) if outer else local.removesuffix('$')

    def _take(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from(form, self._content, self._at)
        self._at += struct.calcsize(form)
        return found

    def _name(self, index: int) -> str:
        return self._text(self._classes[index])

    def _text(self, index: int) -> str:
        return self._texts[index].decode('utf-8', 'surrogateescape')
