"""Names of source files: as observers report them, and as other files refer to them."""

from __future__ import annotations

from pathlib import PurePosixPath

from coevo.languages.declarations import SourceFile
from coevo.languages.reading import RevisionTree


def name_by_types(file: SourceFile, path: str) -> tuple[str, ...]:
    """Return the binary names of the top-level types of a file."""
    return tuple(type_.name for type_ in file.types if not type_.outer)


def name_by_path(file: SourceFile, path: str) -> tuple[str, ...]:
    """Return the path itself."""
    return (path,)


def name_by_stem(tree: RevisionTree, path: str) -> frozenset[str]:
    """Return the file name without extension, for languages in which it names a type or module."""
    return frozenset({PurePosixPath(path).stem})


def name_by_declarations(tree: RevisionTree, path: str) -> frozenset[str]:
    """Return the names that a file declares at top level, and its package.

    This fits languages in which the files of a package see each other's names without imports.
    """
    file = tree.parse_file(path)
    functions = (member.name for type_ in file.types for member in type_.members)
    return frozenset({*functions, *(type_.simple for type_ in file.types)})
