"""Lines for an observer to watch, by the names that the language's runtime uses for their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from coevo.git.repository import Repository, load_content
from coevo.languages.reading import LanguageReading
from coevo.languages.table import get_reading

Lines = Mapping[str, frozenset[int]]
"""Line numbers by the names that `LanguageReading.list_watch_names` gives a file."""


class LineRange(Protocol):
    """A range of lines of a file, including both ends."""

    @property
    def file(self) -> str:
        """The path of the file."""

    @property
    def start_line(self) -> int:
        """The first line."""

    @property
    def end_line(self) -> int:
        """The last line."""


def list_names_in_source(text: LanguageReading, source: bytes, path: str) -> tuple[str, ...]:
    """Return the names that an observer uses for a source file."""
    return text.list_watch_names(text.parse(source, path), path)


def list_names_at_revision(
    repository: Repository, language: str, rev: str, path: str
) -> tuple[str, ...]:
    """Return the names that an observer uses for a file of a revision; none if it is absent."""
    source = load_content(repository, rev, path)
    return () if source is None else list_names_in_source(get_reading(language), source, path)


def add_ranges(
    lines: Lines, ranges: Iterable[LineRange], named: Callable[[str], Sequence[str]]
) -> dict[str, frozenset[int]]:
    """Return a copy of `lines` with the lines of some ranges added.

    named  returns the names that an observer uses for a file
    """
    merged = dict(lines)
    for line_range in ranges:
        own = frozenset(range(line_range.start_line, line_range.end_line + 1))
        for name in named(line_range.file):
            merged[name] = merged.get(name, frozenset()) | own
    return merged
