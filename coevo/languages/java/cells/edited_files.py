"""Edited files on disk, and the class files that a source is compiled to."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from coevo.languages.declarations import DeclaredType
from coevo.languages.java.building.build_outputs import RESOURCES, link_classes
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.reading.syntax import parse
from coevo.storage.beneath import join_beneath

# Tags of the constants in a class file (JVM specification, 4.4).

TEXT, CLASS = 1, 7
# Long and Double take two indexes.
WIDE = (5, 6)
# Dynamic, InvokeDynamic, Module, Package: they depend on attributes of their own class file.
TIED = (17, 18, 19, 20)
# Offsets after an entry's tag at which it refers to other entries of the pool.
NAMING = {
    **dict.fromkeys((CLASS, 8, 16), (0,)),  # Class, String, MethodType
    **dict.fromkeys((9, 10, 11, 12), (0, 2)),  # references, NameAndType
    15: (1,),  # MethodHandle
}

_START = 8  # the count follows magic number and versions
# Lengths of entries after their tag; a text contains its own length.
_LENGTHS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4}
_LENGTHS |= {15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """An entry of the constant pool: its index, its tag, and the bytes after the tag."""

    index: int
    tag: int
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantPool:
    """A constant pool; it lies from `start` to `end` in its file.

    `places` is the number of indexes in use, counted from 1.
    """

    places: int
    constants: tuple[Constant, ...]
    start: int
    end: int


def parse_constant_pool(content: bytes) -> ConstantPool:
    """Return the pool of a class file; raises ValueError for other files."""
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


def write_files_skipping_deleted(folder: Path, files: Collection[tuple[str, bytes | None]]) -> None:
    """Write files below a folder, replacing existing ones; skip those whose content is None.

    The folder is created and must belong to coevo alone. Raises: UnsafePath for a path that leads
    out of the folder; nothing is written then.
    """
    places = [(join_beneath(folder, path), content) for path, content in files]
    folder.mkdir(parents=True, exist_ok=True)
    for target, content in places:
        if content is not None:
            target.remove()
            target.create_file(content)


def is_at_or_below(path: str, folder: str) -> bool:
    """Return whether a path lies in a module's folder or is that folder; all paths lie in `.`."""
    return PurePosixPath(path).is_relative_to(folder) or folder == '.'


def count_folders_in_path(module_path: str) -> int:
    """Return the number of folders in a module's path."""
    return len(PurePosixPath(module_path).parts)


def find_top_level_type_paths(sources: Iterable[bytes]) -> frozenset[str]:
    """Return the top-level types of sources, as paths without a suffix: `pkg/Outer`."""
    return frozenset(
        _format_type_path(type_) for type_ in _parse_types(sources) if not type_.enclosing_name
    )


def list_type_paths(sources: Iterable[bytes]) -> frozenset[str]:
    """Return all types of sources, as paths without a suffix: `pkg/Outer$Inner`."""
    return frozenset(map(_format_type_path, _parse_types(sources)))


def _parse_types(sources: Iterable[bytes]) -> Iterator[DeclaredType]:
    return (type_ for source in sources for type_ in parse(source).types)


def _format_type_path(type_: DeclaredType) -> str:
    return type_.name.replace('.', '/')


def is_in_family(file: Path, folder: Path, family: frozenset[str]) -> bool:
    """Return whether a class file below `folder` holds a type of `family` or a class nested in one.

    `family` holds top-level types as `pkg/Outer`. Where a `$` makes the name ambiguous, the content
    of the class file decides.
    """
    name = file.relative_to(folder).as_posix().removesuffix('.class')
    if name in family or not any(name.startswith(f'{outer_type}$') for outer_type in family):
        return name in family
    if file.is_symlink() or not file.is_file():
        return True
    try:
        return find_outermost_class(file.read_bytes()) in family
    except ValueError:
        return True  # not made by a compiler, so only its name can decide


def move_classes_adding_constants(source: Path, target: Path, versions: Sequence[Path]) -> None:
    """Move the class files of `source` to `target`, and delete `source` with its other files.

    Other files are dropped, since those of annotation processors may describe all sources. Each
    class file gets the constants of the files with the same name in the folders `versions`, see
    `add_constants`.
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


# Add unused constants of other versions of a class to a class file.
#
# A test that searches a class file for known names would notice every edit that removes a call,
# without testing what the class does. Therefore edited classes contain all names that the class has
# at both ends of the pair. Such a test then finds all names that it looks for, including those that
# must be absent. (JVM specification, 4.4: a constant need not be used.)

_MOST = 65_534
# An empty text, which replaces an entry that cannot be copied.
_NOTHING = bytes((TEXT, 0, 0))


def add_constants(edited: bytes, others: Iterable[bytes]) -> bytes:
    """Return a class file with the constants of other class files appended to its own.

    Returns `edited` unchanged if it is not a class file. Other files are skipped if they are not
    class files or if their constants do not fit. A constant that depends on attributes of its file
    is replaced by an empty text.
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
    """Yield the entries with all references increased by `by`."""
    for constant in constants:
        if constant.tag in TIED:
            yield _NOTHING
            continue
        shifted_content = bytearray(constant.content)
        for at in NAMING.get(constant.tag, ()):
            (index,) = struct.unpack_from('>H', shifted_content, at)
            struct.pack_into('>H', shifted_content, at, index + by)
        yield bytes((constant.tag,)) + shifted_content


# Read the class that encloses a class from its class file (JVM specification, 4.7.6; binary names
# by the language specification, 13.1).
#
# The binary name is ambiguous: the `$` in `Shop$Open` may mean nesting or be a part of the name.


def find_outermost_class(content: bytes) -> str:
    """Return the top-level class, as `pkg/Outer`, that encloses the class of a class file.

    A top-level class gives its own name. Raises: ValueError if the content is not a class file.
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
        """Return the class's own name, and a map from nested classes to their enclosing class.

        The map has those nested classes that the class file mentions.
        """
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
        """Yield the name and the offset of the content of each attribute of one table.

        The table is at the present position: that of a field, of a method or of the class. The
        position moves behind it.
        """
        for _ in range(self._unpack_next('>H')[0]):
            name, length = self._unpack_next('>HI')
            yield self._texts[name], self._at
            self._at += length

    def _parse_inner_classes(self, start: int) -> Iterator[tuple[str, str]]:
        """Yield each entry of an InnerClasses attribute as a class and its enclosing class.

        A local class has no outer class in the attribute. It is named after the class that contains
        it, and this name is used.
        """
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


Texts = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSets:
    """The compiler's result for each set of sources.

    folder  holds the class files, those of set K in its subfolder K
    """

    checked: tuple[Mapping[str, str | None], ...]
    folder: Path
    cpu_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedSources:
    """The texts of a module's edited sources before and after the edit.

    They lie in the folders `before` and `after` of `folder`.
    """

    folder: Path
    before: Texts
    after: Texts

    @property
    def folders_to_compile(self) -> list[Path]:
        """The folders to compile: `before`, then `after`; a folder without sources is left out."""
        both = (('before', self.before), ('after', self.after))
        return [self.folder / name for name, some in both if some]

    @property
    def family(self) -> frozenset[str]:
        """The top-level types that the sources declare before the edit."""
        return find_top_level_type_paths([text for _, text in self.before])

    @property
    def loses_types(self) -> bool:
        """True if the sources declare a type before the edit that they do not declare after it."""
        after = list_type_paths(text for _, text in self.after if text)
        return bool(list_type_paths(text for _, text in self.before) - after)

    def find_compile_error(self, result: CheckedSets) -> str | None:
        """Return the compiler's error in the edited sources; None if they compile.

        Also returns None if all sources were deleted.
        """
        return result.checked[-1]['signature'] if self.after else None

    def keeps_visible_declarations(self, result: CheckedSets) -> bool:
        """Return whether other sources see the same declarations before and after the edit.

        False if the sources are new or deleted, or if what others see is unknown.
        """
        if not self.before or not self.after:
            return False
        was, now = result.checked[0]['outside'], result.checked[-1]['outside']
        return bool(was) and was == now

    def locate_class_files(self, result: CheckedSets) -> Path | None:
        """Return the folder of class files of the edited sources; None if none is left."""
        return result.folder / str(len(self.folders_to_compile) - 1) if self.after else None


def select_java_sources(module: JavaModule, files: Files) -> Files:
    """Return the `.java` files among edited files, except those in `src/main/resources`."""
    root = PurePosixPath(module.path, RESOURCES)
    return tuple(
        edited_file
        for edited_file in files
        if edited_file[0].endswith('.java')
        and not PurePosixPath(edited_file[0]).is_relative_to(root)
    )
