"""The order of a test class path: libraries first wherever nobody can tell the difference.

The JVM takes classes from an archive only for libraries at the head of the class path, which
Maven begins with two folders. A library may pass them if they share no file and no package with
it: then each name is still found in the same place. Whether it passes never depends on an archive
being there.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from coevo.languages.java.places import TREE
from coevo.storage.bounded_reading import UnreadableContent, list_zip_names

# Folders that everyone has and nobody asks for, and a file that the class path gives no meaning.
_COMMON = frozenset({'.', 'META-INF', 'META-INF/services', 'META-INF/maven'})
_NO_RESOURCE = 'module-info.class'


def move_libraries_first(
    class_path: Sequence[str], layers: Sequence[Path], libraries: Mapping[str, Path]
) -> tuple[str, ...]:
    """A class path with all libraries ahead of all folders, or as it was.

    class_path  places in the sandbox
    layers      folders of the host that make up the sandbox's tree
    libraries   the file of the host for each library of the class path that lies outside the tree
    """
    ahead = [entry for entry in class_path if entry in libraries]
    behind = [entry for entry in class_path if entry not in libraries]
    first_folder = next((i for i, entry in enumerate(class_path) if entry not in libraries), 0)
    passing = [entry for entry in class_path[first_folder:] if entry in libraries]
    if any(entry.endswith('.jar') for entry in behind):
        return tuple(class_path)  # the tree's own, of which each revision has another
    taken = frozenset(name for entry in behind for name in _list_tree_names(entry, tuple(layers)))
    try:
        seen = any(not taken.isdisjoint(list_jar_names(libraries[entry])) for entry in passing)
    except (OSError, UnreadableContent):
        return tuple(class_path)
    return tuple(class_path) if seen else (*ahead, *behind)


@functools.lru_cache(maxsize=1024)
def list_jar_names(jar: Path) -> frozenset[str]:
    """Its files, and the folders that hold them."""
    return frozenset(_add_folders(n for n in list_zip_names(jar) if not n.endswith('/')))


def _list_tree_names(place: str, layers: tuple[Path, ...]) -> Iterator[str]:
    below = PurePosixPath(place).relative_to(TREE)
    for layer in layers:
        yield from _add_folders(_list_files(layer / below))


def _list_files(folder: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        here = os.path.relpath(parent, folder)
        for name in names:
            yield os.path.normpath(f'{here}/{name}')


def _add_folders(names: Iterator[str]) -> Iterator[str]:
    for name in names:
        folder, _, base = name.rpartition('/')
        if (folder or '.') not in _COMMON:
            yield folder
        if base != _NO_RESOURCE:
            yield name
