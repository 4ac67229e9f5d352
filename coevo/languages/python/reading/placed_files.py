"""A file as the revision around it makes it: one object for all revisions that make the same of it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache

from coevo.languages.declarations import Import, SourceFile
from coevo.languages.python.reading.collection import DEFAULT, CollectionRules, PythonFile
from coevo.languages.python.reading.syntax import parse


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFileContext:
    """What a revision says of a file, beside what the file itself says.

    imports     what they mean there
    interfaces  of the module: what it sees without an import
    """

    imports: tuple[Import, ...]
    interfaces: tuple[str, ...] = ()
    rules: CollectionRules = DEFAULT
    collected: bool = False
    extended: frozenset[str] = frozenset()


@dataclass(slots=True)
class _PlacedFileCache:
    file: tuple[PythonFileContext, PythonFile] | None = None


@lru_cache(maxsize=2048)
def _get_cache(source: bytes, path: str) -> _PlacedFileCache:
    """Where to keep what a file was for another revision."""
    return _PlacedFileCache()


def make_placed_file(source: bytes, path: str, around: PythonFileContext) -> PythonFile:
    cache = _get_cache(source, path)
    known = cache.file
    if known is None or known[0] != around:
        known = cache.file = (around, _apply_context(parse(source, path), around))
    return known[1]


def _apply_context(parsed: SourceFile, around: PythonFileContext) -> PythonFile:
    known = {each.name: getattr(parsed, each.name) for each in fields(SourceFile)}
    known['imports'] = around.imports
    if around.interfaces:
        first, others = parsed.types[:1], parsed.types[1:]
        known['types'] = (*(replace(t, interfaces=around.interfaces) for t in first), *others)
    return PythonFile(
        **known, rules=around.rules, collected=around.collected, extended=around.extended
    )
