"""Method bodies of single files: which stand in them, and which of them are tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coevo.languages.declarations import Member, SourceFile
from coevo.languages.reading import LanguageReading


@dataclass(frozen=True, slots=True)
class FileBodies:
    """The hashes of a file (`Member.bare_hash`, `Member.body_hash`), and its test methods in order."""

    all: frozenset[str]
    tests: tuple[Member, ...]


def parse_bodies(reading: LanguageReading, source: bytes) -> FileBodies:
    file = reading.parse_uncached(source)
    return FileBodies(all=frozenset(list_hashes(file)), tests=tuple(find_tests(reading, file)))


def find_tests(reading: LanguageReading, file: SourceFile) -> Sequence[Member]:
    """The test methods of a file, as it alone tells."""
    return [member for _, member in reading.find_tests(file, lambda name: ())]


def list_hashes(file: SourceFile) -> list[str]:
    members = [member for type_ in file.types for member in type_.members]
    bare_hashes = [member.bare_hash for member in members]
    return bare_hashes + [member.body_hash for member in members if member.body_hash is not None]
