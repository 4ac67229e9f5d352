"""Lines that an observer is asked for: those of some files, by what their language calls these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from coevo.git.repository import Repository, load_content
from coevo.languages.reading import LanguageReading
from coevo.languages.table import get_reading

Lines = Mapping[str, frozenset[int]]
"""By what `Reading.watched_as` calls a file."""


class LineRange(Protocol):
    """Lines of a file, both ends included."""

    @property
    def file(self) -> str: ...

    @property
    def start_line(self) -> int: ...

    @property
    def end_line(self) -> int: ...


def list_names_in_source(text: LanguageReading, source: bytes, path: str) -> tuple[str, ...]:
    return text.list_watch_names(text.parse(source, path), path)


def list_names_at_revision(
    repository: Repository, language: str, rev: str, path: str
) -> tuple[str, ...]:
    """Of a file of a revision; none where it is not there."""
    source = load_content(repository, rev, path)
    return () if source is None else list_names_in_source(get_reading(language), source, path)


def add_ranges(
    lines: Lines, ranges: Iterable[LineRange], named: Callable[[str], Sequence[str]]
) -> dict[str, frozenset[int]]:
    """named: the names of a file"""
    merged = dict(lines)
    for line_range in ranges:
        own = frozenset(range(line_range.start_line, line_range.end_line + 1))
        for name in named(line_range.file):
            merged[name] = merged.get(name, frozenset()) | own
    return merged
