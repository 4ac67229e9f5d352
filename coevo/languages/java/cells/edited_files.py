"""Edited files on disk, and which class files a source is compiled to."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from coevo.languages.declarations import DeclaredType
from coevo.languages.java.building.build_outputs import link_classes
from coevo.languages.java.cells.class_names import find_outermost_class
from coevo.languages.java.cells.constants import add_constants
from coevo.languages.java.reading.syntax import parse
from coevo.storage.beneath import join_beneath

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
