"""The tests of a file as text: where each stands, and its tokens, blind to comments and formatting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coevo.evaluation.suites.methods import methods_by_name
from coevo.git.repository import Repository
from coevo.languages.declarations import SourceFile
from coevo.languages.table import reading
from coevo.model.records import TestMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class TestText:
    """A test: hashes are over tokens, `bare` is blind to its own name and that of its class."""

    __test__ = False  # it is no test of ours

    method: TestMethod
    source: str
    hash: str
    bare: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """Tests by name, and a digest of all that stands beside them; whether it can be read at all."""

    tests: Mapping[str, TestText]
    rest: tuple[str, ...]
    has_error: bool


def texts_of(
    repository: Repository, language: str, rev: str, module: str, path: str, source: bytes
) -> dict[str, TestText]:
    """By the names that results give them, in the order of the file.

    rev  of the tree that its types are resolved in
    """
    return dict(file_text(repository, language, rev, module, path, source).tests)


def file_text(
    repository: Repository, language: str, rev: str, module: str, path: str, source: bytes
) -> FileText:
    read = reading(language)
    file, tree = read.parse(source, path), read.tree(repository, rev)
    found = read.find_tests(file, lambda simple: [one.type for one in tree.resolve(path, simple)])
    names = methods_by_name(module, path, found)
    tests = {
        name: TestText(method=method, source=member.source, hash=member.hash, bare=member.bare_hash)
        for (name, method), (_, member) in zip(names.items(), found, strict=True)
    }
    own = {(member.owner, member.start_byte) for _, member in found}
    return FileText(tests=tests, rest=_rest(file, own), has_error=file.has_error)


def _rest(file: SourceFile, tests: set[tuple[str, int]]) -> tuple[str, ...]:
    """What tests of the file may use: imports, headers of types, helpers and fixtures."""
    members = (
        member.hash
        for type_ in file.types
        for member in type_.members
        if (member.owner, member.start_byte) not in tests
    )
    imports = (f'{one.text} {one.name} {one.static}' for one in file.imports)
    headers = (f'{type_.name} {type_.header_hash}' for type_ in file.types)
    return tuple(sorted((*members, *imports, *headers)))
