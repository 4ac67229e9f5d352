"""Toy as text. Fulfils `coevo.languages.reading.Reading`."""

from __future__ import annotations

from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Member
from coevo.languages.declarations import SourceFile
from coevo.languages.reading import Resolve
from tests.languages.toy.syntax import parse
from tests.languages.toy.trees import SUFFIX
from tests.languages.toy.trees import tree

SUFFIXES = (SUFFIX,)
FIXTURE = '_before'

__all__ = ['SUFFIXES', 'expected_throws', 'find_tests', 'is_fixture', 'parse', 'tree']


def find_tests(file: SourceFile, resolve: Resolve) -> tuple[tuple[DeclaredType, Member], ...]:
    """All lines that are no helpers: files of tests are known by their names."""
    return tuple(
        (type_, member)
        for type_ in file.types
        for member in type_.members
        if not member.name.startswith('_')
    )


def is_fixture(member: Member) -> bool:
    return member.name == FIXTURE


def expected_throws(source: bytes) -> tuple[str, ...]:
    return ()
