"""The tests of a file as text: where each is, and its tokens without comments and formatting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.table import get_reading
from coevo.model.records import TestMethod


def index_methods_by_name(
    module: str, test_file: str, found: Iterable[tuple[DeclaredType, Member]]
) -> dict[str, TestMethod]:
    """Return the tests found in a file as `Class#method`; overloads have their parameters added."""
    methods = [
        TestMethod(
            module=module,
            test_file=test_file,
            test_class=type_.name,
            test_method=member.name,
            parameters=member.parameters,
        )
        for type_, member in found
    ]
    names = [f'{method.test_class.rpartition(".")[2]}#{method.test_method}' for method in methods]
    counts = Counter(names)
    return {
        name if counts[name] == 1 else f'{name}({",".join(method.parameters)})': method
        for name, method in zip(names, methods, strict=True)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TestText:
    """The text of a test.

    hash  digest of its tokens
    bare  the same without its own name and that of its class, so that a renamed test is recognised
    """

    __test__ = False  # pytest would collect the class as a test

    method: TestMethod
    source: str
    hash: str
    bare: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """The tests of a file.

    tests      by name
    rest       digests of all other code of the file: imports, headers of types, helpers and
               fixtures
    has_error  whether the parser could not read all of the file
    """

    tests: Mapping[str, TestText]
    rest: tuple[str, ...]
    has_error: bool


def load_test_texts(
    repository: Repository, language: str, rev: str, module: str, path: str, source: bytes
) -> dict[str, TestText]:
    """Return the tests of a file, by the names that results give them, in the order of the file.

    rev  the revision of the tree in which types are resolved
    """
    return dict(read_file_text(repository, language, rev, module, path, source).tests)


def read_file_text(
    repository: Repository, language: str, rev: str, module: str, path: str, source: bytes
) -> FileText:
    """Return the tests of a file and its other code; see `load_test_texts`."""
    read = get_reading(language)
    file, tree = read.parse(source, path), read.open_tree(repository, rev)
    test_members = read.find_tests(
        file, lambda simple: [resolved.type for resolved in tree.resolve_test_type(path, simple)]
    )
    names = index_methods_by_name(module, path, test_members)
    tests = {
        name: TestText(method=method, source=member.source, hash=member.hash, bare=member.bare_hash)
        for (name, method), (_, member) in zip(names.items(), test_members, strict=True)
    }
    own = {(member.owner, member.start_byte) for _, member in test_members}
    return FileText(tests=tests, rest=_hash_other_code(file, own), has_error=file.has_error)


def _hash_other_code(file: SourceFile, tests: set[tuple[str, int]]) -> tuple[str, ...]:
    """Return digests of the code beside the tests: imports, headers of types, helpers, fixtures.

    The digests are sorted.
    tests  the owner and the start byte of each test
    """
    members = (
        member.hash
        for type_ in file.types
        for member in type_.members
        if (member.owner, member.start_byte) not in tests
    )
    imports = (f'{imported.text} {imported.name} {imported.static}' for imported in file.imports)
    headers = (f'{type_.name} {type_.header_hash}' for type_ in file.types)
    return tuple(sorted((*members, *imports, *headers)))
