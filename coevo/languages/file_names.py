"""Names of source files: as observers report them, and as other files refer to them."""

from __future__ import annotations

from pathlib import PurePosixPath

from coevo.languages.declarations import SourceFile
from coevo.languages.reading import RevisionTree


def name_by_types(file: SourceFile, path: str) -> tuple[str, ...]:
    """Return the binary names of the top-level types of a file; `path` is not used."""
    return tuple(type_.name for type_ in file.types if not type_.outer)


def name_by_path(file: SourceFile, path: str) -> tuple[str, ...]:
    """Return the repository path of a file as its only name; `file` is not used."""
    return (path,)


def name_by_stem(tree: RevisionTree, path: str) -> frozenset[str]:
    """Return the file name without folder and extension, as the only name.

    For languages in which it names a type or module. The tree is not read.
    """
    return frozenset({PurePosixPath(path).stem})


def name_by_declarations(tree: RevisionTree, path: str) -> frozenset[str]:
    """Return the simple names of a file's types and of their members, with that of its package.

    The package is one of the types. This fits languages in which the files of a package see each
    other's names without imports.
    """
    file = tree.parse_file(path)
    functions = (member.name for type_ in file.types for member in type_.members)
    return frozenset({*functions, *(type_.simple for type_ in file.types)})
