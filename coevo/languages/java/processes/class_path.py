"""The order of a test class path: libraries first wherever nobody can tell the difference.

The JVM takes classes from an archive only for libraries at the head of the class path, which
Maven begins with two folders. A library may pass them if they share no file and no package with
it: then each name is still found in the same place. Whether it passes never depends on an archive
being there.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from pathlib import PurePosixPath

from coevo.languages.java.places import TREE
from coevo.storage.bounded_reading import Unreadable
from coevo.storage.bounded_reading import zip_names

# Folders that everyone has and nobody asks for, and a file that the class path gives no meaning.
_COMMON = frozenset({'.', 'META-INF', 'META-INF/services', 'META-INF/maven'})
_NO_RESOURCE = 'module-info.class'


def libraries_first(
    class_path: Sequence[str], layers: Sequence[Path], libraries: Mapping[str, Path]
) -> tuple[str, ...]:
    """A class path with all libraries ahead of all folders, or as it was.

    class_path  places in the sandbox
    layers      folders of the host that make up the sandbox's tree
    libraries   the file of the host for each library of the class path that lies outside the tree
    """
    ahead = [place for place in class_path if place in libraries]
    behind = [place for place in class_path if place not in libraries]
    first_folder = next((i for i, place in enumerate(class_path) if place not in libraries), 0)
    passing = [place for place in class_path[first_folder:] if place in libraries]
    if any(place.endswith('.jar') for place in behind):
        return tuple(class_path)  # the tree's own, of which each revision has another
    taken = frozenset(name for place in behind for name in _names_in_tree(place, tuple(layers)))
    try:
        seen = any(not taken.isdisjoint(names_in_jar(libraries[place])) for place in passing)
    except (OSError, Unreadable):
        return tuple(class_path)
    return tuple(class_path) if seen else (*ahead, *behind)


@functools.lru_cache(maxsize=1024)
def names_in_jar(jar: Path) -> frozenset[str]:
    """Its files, and the folders that hold them."""
    return frozenset(_with_folders(n for n in zip_names(jar) if not n.endswith('/')))


def _names_in_tree(place: str, layers: tuple[Path, ...]) -> Iterator[str]:
    below = PurePosixPath(place).relative_to(TREE)
    for layer in layers:
        yield from _with_folders(_files(layer / below))


def _files(folder: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        here = os.path.relpath(parent, folder)
        for name in names:
            yield os.path.normpath(f'{here}/{name}')


def _with_folders(names: Iterator[str]) -> Iterator[str]:
    for name in names:
        folder, _, base = name.rpartition('/')
        if (folder or '.') not in _COMMON:
            yield folder
        if base != _NO_RESOURCE:
            yield name
