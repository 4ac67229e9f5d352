"""Method bodies of single files: which stand in them, and which of them are tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coevo.languages.declarations import Member
from coevo.languages.declarations import SourceFile
from coevo.languages.reading import Reading


@dataclass(frozen=True, slots=True)
class Bodies:
    """The hashes of a file (`Member.bare_hash`, `Member.body_hash`), and its test methods in order."""

    all: frozenset[str]
    tests: tuple[Member, ...]


def parse_bodies(reading: Reading, source: bytes) -> Bodies:
    file = reading.parse_once(source)
    return Bodies(all=frozenset(hashes(file)), tests=tuple(find_tests(reading, file)))


def find_tests(reading: Reading, file: SourceFile) -> Sequence[Member]:
    """The test methods of a file, as it alone tells."""
    return [member for _, member in reading.find_tests(file, lambda name: ())]


def hashes(file: SourceFile) -> list[str]:
    members = [member for type_ in file.types for member in type_.members]
    found = [member.bare_hash for member in members]
    return found + [member.body_hash for member in members if member.body_hash is not None]
