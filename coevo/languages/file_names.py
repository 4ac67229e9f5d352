"""What files are called: by an observer that is asked for their lines, and by other files that use them."""

from __future__ import annotations

from pathlib import PurePosixPath

from coevo.languages.declarations import SourceFile
from coevo.languages.reading import RevisionTree


def name_by_types(file: SourceFile, path: str) -> tuple[str, ...]:
    """The binary names of its top-level types."""
    return tuple(type_.name for type_ in file.types if not type_.outer)


def name_by_path(file: SourceFile, path: str) -> tuple[str, ...]:
    return (path,)


def name_by_stem(tree: RevisionTree, path: str) -> frozenset[str]:
    """Its own name, where that is a type's or a module's."""
    return frozenset({PurePosixPath(path).stem})


def name_by_declarations(tree: RevisionTree, path: str) -> frozenset[str]:
    """What it declares at its top, where files of a package see each other unnamed, and the package."""
    file = tree.parse_file(path)
    functions = (member.name for type_ in file.types for member in type_.members)
    return frozenset({*functions, *(type_.simple for type_ in file.types)})
