"""Edited files on disk, and which class files a source is compiled to."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from coevo.languages.declarations import DeclaredType
from coevo.languages.java.building.build_outputs import link_classes
from coevo.languages.java.reading.syntax import parse
from coevo.storage.beneath import join_beneath

# The constants of a class file (JVM specification, 4.4).

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


Files = tuple[tuple[str, bytes | None], ...]
"""Contents by repository path, None where a file is absent."""


def write_files(folder: Path, files: Collection[tuple[str, bytes | None]]) -> None:
    """Write those files that are not absent below a folder, which is ours alone.

    Raises: UnsafePath for a path that leads out of the folder; nothing is written then.
    """
    places = [(join_beneath(folder, path), content) for path, content in files]
    folder.mkdir(parents=True, exist_ok=True)
    for target, content in places:
        if content is not None:
            target.remove()
            target.create_file(content)


def is_below(path: str, folder: str) -> bool:
    """Whether a file lies below a module's folder, '.' being the whole tree."""
    return PurePosixPath(path).is_relative_to(folder) or folder == '.'


def compute_depth(name: str) -> int:
    return len(PurePosixPath(name).parts)


def find_top_level_types(sources: Iterable[bytes]) -> frozenset[str]:
    """The top-level types of sources, as paths without an ending: `pkg/Outer`."""
    return frozenset(_format_type_path(type_) for type_ in _parse_types(sources) if not type_.outer)


def list_type_names(sources: Iterable[bytes]) -> frozenset[str]:
    return frozenset(map(_format_type_path, _parse_types(sources)))


def _parse_types(sources: Iterable[bytes]) -> Iterator[DeclaredType]:
    return (type_ for source in sources for type_ in parse(source).types)


def _format_type_path(type_: DeclaredType) -> str:
    return type_.name.replace('.', '/')


def is_in_family(file: Path, folder: Path, family: frozenset[str]) -> bool:
    """Whether a class file below a class folder holds one of some top-level types or what is in it."""
    name = file.relative_to(folder).as_posix().removesuffix('.class')
    if name in family or not any(name.startswith(f'{outer_type}$') for outer_type in family):
        return name in family
    if file.is_symlink() or not file.is_file():
        return True
    try:
        return find_outermost_class(file.read_bytes()) in family
    except ValueError:
        return True  # nothing that a compiler made: its name is all there is


def move_classes(source: Path, target: Path, versions: Sequence[Path]) -> None:
    """Move class files and nothing else: what processors write beside them speaks of all sources.

    versions  folders of class files whose constants those of the same name get
    """
    target.mkdir(parents=True, exist_ok=True)
    if not source.is_dir():
        return
    link_classes(source, target, lambda name: True)
    shutil.rmtree(source)
    for file in target.rglob('*.class'):
        places = (folder / file.relative_to(target) for folder in versions)
        others = [
            class_file.read_bytes()
            for class_file in places
            if class_file.is_file() and not class_file.is_symlink()
        ]
        if others:
            content = add_constants(file.read_bytes(), others)
            file.unlink()
            file.write_bytes(content)


# Constants of other versions of a class, added to a class file that nobody uses them in.
#
# A test that looks for known names in a class file would notice each edit that takes a call away,
# and say nothing of what the class does. So edited classes name all that both ends of the pair
# name there: what such a test looks for is still there, and what it must not find is there, too.
# (JVM specification, 4.4: nothing asks that a constant is used.)

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


# What a class file says of the class around its own (JVM specification, 4.7.6; names by the
# language's, 13.1).
#
# A binary name cannot tell: the `$` in `Shop$Open` may stand for nesting or be a part of a name.


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
