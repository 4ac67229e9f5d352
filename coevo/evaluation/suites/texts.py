"""The tests of a file as text: where each stands, and its tokens, blind to comments and formatting."""

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
    """Those found in a file, as `Class#method`; overloads have their parameters, too."""
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


def load_test_texts(
    repository: Repository, language: str, rev: str, module: str, path: str, source: bytes
) -> dict[str, TestText]:
    """By the names that results give them, in the order of the file.

    rev  of the tree that its types are resolved in
    """
    return dict(read_file_text(repository, language, rev, module, path, source).tests)


def read_file_text(
    repository: Repository, language: str, rev: str, module: str, path: str, source: bytes
) -> FileText:
    read = get_reading(language)
    file, tree = read.parse(source, path), read.open_tree(repository, rev)
    test_members = read.find_tests(
        file, lambda simple: [resolved.type for resolved in tree.resolve_type(path, simple)]
    )
    names = index_methods_by_name(module, path, test_members)
    tests = {
        name: TestText(method=method, source=member.source, hash=member.hash, bare=member.bare_hash)
        for (name, method), (_, member) in zip(names.items(), test_members, strict=True)
    }
    own = {(member.owner, member.start_byte) for _, member in test_members}
    return FileText(tests=tests, rest=_list_other_text(file, own), has_error=file.has_error)


def _list_other_text(file: SourceFile, tests: set[tuple[str, int]]) -> tuple[str, ...]:
    """What tests of the file may use: imports, headers of types, helpers and fixtures."""
    members = (
        member.hash
        for type_ in file.types
        for member in type_.members
        if (member.owner, member.start_byte) not in tests
    )
    imports = (f'{imported.text} {imported.name} {imported.static}' for imported in file.imports)
    headers = (f'{type_.name} {type_.header_hash}' for type_ in file.types)
    return tuple(sorted((*members, *imports, *headers)))
