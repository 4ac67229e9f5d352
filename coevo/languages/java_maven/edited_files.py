"""Edited files on disk, and which class files a source is compiled to."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from collections.abc import Iterable
from pathlib import Path
from pathlib import PurePosixPath

from coevo.languages.java_maven.images import link_classes
from coevo.syntax import parse

Files = tuple[tuple[str, bytes | None], ...]
"""Contents by repository path, None where a file is absent."""


def lay(folder: Path, files: Collection[tuple[str, bytes | None]]) -> None:
    """Write those files that are not absent below a folder, which is ours alone."""
    for path, _ in files:
        parts = PurePosixPath(path).parts
        if path.startswith('/') or '..' in parts or not parts:
            raise ValueError(f'{path!r} leads out of the tree')
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in files:
        if content is not None:
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def is_below(path: str, folder: str) -> bool:
    """Whether a file lies below a module's folder, '.' being the whole tree."""
    return PurePosixPath(path).is_relative_to(folder) or folder == '.'


def depth(name: str) -> int:
    return len(PurePosixPath(name).parts)


def families(sources: Iterable[bytes]) -> frozenset[str]:
    """The top-level types of sources, as paths without an ending: `pkg/Outer`."""
    return frozenset(name for name in type_names(sources) if '$' not in name.rpartition('/')[2])


def type_names(sources: Iterable[bytes]) -> frozenset[str]:
    files = map(parse, sources)
    return frozenset(type_.name.replace('.', '/') for file in files for type_ in file.types)


def is_of(path: str, family: frozenset[str]) -> bool:
    """Whether a class file holds one of some top-level types or what is in it."""
    name = path.removesuffix('.class')
    folder, _, base = name.rpartition('/')
    parts = base.split('$')
    heads = ('$'.join(parts[: end + 1]) for end in range(len(parts)))
    return any((f'{folder}/{head}' if folder else head) in family for head in heads)


def take_classes(source: Path, target: Path) -> None:
    """Move class files and nothing else: what processors write beside them speaks of all sources."""
    target.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        link_classes(source, target, lambda name: True)
        shutil.rmtree(source)
