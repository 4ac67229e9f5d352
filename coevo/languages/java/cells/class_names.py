"""What a class file says of the class around its own (JVM specification, 4.7.6; names by the
language's, 13.1).

A binary name cannot tell: the `$` in `Shop$Open` may stand for nesting or be a part of a name.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from coevo.languages.java.cells.constant_pool import CLASS, TEXT, parse_constant_pool


def find_outermost_class(content: bytes) -> str:
    """The top-level class that holds a class, or that it is, as `pkg/Outer`.

    ValueError for what is no class file.
    """
    try:
        own, around = _ClassFile(content).parse_nesting()
    except (struct.error, IndexError, KeyError, UnicodeDecodeError) as error:
        raise ValueError('it is no class file') from error
    seen = set[str]()
    while own in around and own not in seen:
        seen.add(own)
        own = around[own]
    return own


class _ClassFile:
    def __init__(self, content: bytes) -> None:
        pool = parse_constant_pool(content)
        self._content = content
        self._at = pool.end
        self._texts = {
            constant.index: constant.content[2:]
            for constant in pool.constants
            if constant.tag == TEXT
        }
        self._classes = {
            constant.index: int.from_bytes(constant.content)
            for constant in pool.constants
            if constant.tag == CLASS
        }

    def parse_nesting(self) -> tuple[str, dict[str, str]]:
        """Its own name, and of each class that it names the one around, if there is one."""
        _, own, _, interfaces = self._unpack_next('>4H')
        self._at += 2 * interfaces
        for _ in range(2):  # fields, then methods
            for _ in range(self._unpack_next('>H')[0]):
                self._at += 6
                for _ in self._iterate_attributes():
                    pass
        around: dict[str, str] = {}
        for name, start in self._iterate_attributes():
            if name == b'InnerClasses':
                around |= self._parse_inner_classes(start)
        return self._look_up_class_name(own), around

    def _iterate_attributes(self) -> Iterator[tuple[bytes, int]]:
        """The name of each, and where its content begins."""
        for _ in range(self._unpack_next('>H')[0]):
            name, length = self._unpack_next('>HI')
            yield self._texts[name], self._at
            self._at += length

    def _parse_inner_classes(self, start: int) -> Iterator[tuple[str, str]]:
        """A local class, which has no outer one, is called after the one that it stands in."""
        (count,) = struct.unpack_from('>H', self._content, start)
        for at in range(start + 2, start + 2 + 8 * count, 8):
            inner, outer, simple, _ = struct.unpack_from('>4H', self._content, at)
            name = self._look_up_class_name(inner)
            local = name.removesuffix(self._look_up_text(simple) if simple else '').rstrip(
                '0123456789'
            )
            yield name, self._look_up_class_name(outer) if outer else local.removesuffix('$')

    def _unpack_next(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from(form, self._content, self._at)
        self._at += struct.calcsize(form)
        return values

    def _look_up_class_name(self, index: int) -> str:
        return self._look_up_text(self._classes[index])

    def _look_up_text(self, index: int) -> str:
        return self._texts[index].decode('utf-8', 'surrogateescape')
