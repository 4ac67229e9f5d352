"""By which names an observer is asked for lines of a file (`BuiltPair.trace(watched=)`), one way for each engine."""

from __future__ import annotations

from coevo.languages.declarations import SourceFile


def by_type(file: SourceFile, path: str) -> tuple[str, ...]:
    """The binary names of its top-level types."""
    return tuple(type_.name for type_ in file.types if not type_.outer)


def by_path(file: SourceFile, path: str) -> tuple[str, ...]:
    return (path,)
