"""Lines that an observer is asked for: those of some files, by what their language calls these."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Protocol

from coevo.git.contents import content
from coevo.git.repository import Repository
from coevo.languages.reading import Reading
from coevo.languages.table import reading

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


def names_in(text: Reading, source: bytes, path: str) -> tuple[str, ...]:
    return text.watched_as(text.parse(source, path), path)


def names_at(repository: Repository, language: str, rev: str, path: str) -> tuple[str, ...]:
    """Of a file of a revision; none where it is not there."""
    source = content(repository, rev, path)
    return () if source is None else names_in(reading(language), source, path)


def with_ranges(
    lines: Lines, ranges: Iterable[LineRange], named: Callable[[str], Sequence[str]]
) -> dict[str, frozenset[int]]:
    """named: the names of a file"""
    found = dict(lines)
    for one in ranges:
        own = frozenset(range(one.start_line, one.end_line + 1))
        for name in named(one.file):
            found[name] = found.get(name, frozenset()) | own
    return found
