"""A file as the revision around it makes it: one object for all revisions that make the same of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from coevo.languages.declarations import Import
from coevo.languages.golang.reading.files import GoFile
from coevo.languages.golang.reading.syntax import parse


@dataclass(frozen=True, slots=True, kw_only=True)
class GoFileContext:
    """What a revision says of a file, beside what the file itself says.

    imports     what they mean there
    interfaces  of its package: the packages of the test tree whose names it sees
    """

    imports: tuple[Import, ...]
    interfaces: tuple[str, ...] = ()


@dataclass(slots=True)
class _GoPlacedFileCache:
    file: tuple[GoFileContext, GoFile] | None = None


@lru_cache(maxsize=2048)
def _get_file_cache(source: bytes, path: str) -> _GoPlacedFileCache:
    """Where to keep what a file was for another revision."""
    return _GoPlacedFileCache()


def place_file(source: bytes, path: str, around: GoFileContext) -> GoFile:
    file_cache = _get_file_cache(source, path)
    known = file_cache.file
    if known is None or known[0] != around:
        known = file_cache.file = (around, _apply_context(parse(source, path), around))
    return known[1]


def _apply_context(parsed: GoFile, around: GoFileContext) -> GoFile:
    first, others = parsed.types[:1], parsed.types[1:]
    placed = (replace(type_, interfaces=around.interfaces) for type_ in first)
    return replace(parsed, imports=around.imports, types=(*placed, *others))
