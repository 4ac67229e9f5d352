"""Where the assertions of a submitted test file and of its helpers stand."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import PurePosixPath

from tree_sitter import Node
from tree_sitter import Parser

from coevo.git.repository import Repository
from coevo.languages.java.assertions.found import is_oracle
from coevo.languages.java.assertions.found import is_oracle_reference
from coevo.languages.java.reading.calls import call_of
from coevo.languages.java.reading.calls import inside
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.tokens import JAVA
from coevo.languages.java.reading.trees import tree

Lines = dict[str, frozenset[int]]
"""By the binary name of a top-level type."""


def oracle_lines(repository: Repository, rev: str, path: str, content: bytes) -> Lines:
    """The lines of all that may fail a test in a test file, and in files of the tree that it names,
    also through each other."""
    stems = _stems(repository, rev)
    found: Lines = {}
    queue, seen = [(path, content)], {path}
    while queue:
        _, source = queue.pop()
        found |= _by_type(source)
        for name in sorted(parse(source).names & stems.keys()):
            for other in stems[name]:
                if other not in seen:
                    seen.add(other)
                    queue.append((other, repository.blob(repository.tree(rev)[other].oid)))
    return found


def _stems(repository: Repository, rev: str) -> Mapping[str, list[str]]:
    """Java files by their names, but for main sources, which cannot assert."""
    found: dict[str, list[str]] = {}
    files = tree(repository, rev)
    for path in files.entries:
        if path.endswith('.java') and not files.is_source(path):
            found.setdefault(PurePosixPath(path).stem, []).append(path)
    return found


def _by_type(source: bytes) -> Lines:
    lines = frozenset(_lines(Parser(JAVA).parse(source).root_node))
    return dict.fromkeys(top_level_types(source), lines) if lines else {}


def top_level_types(source: bytes) -> tuple[str, ...]:
    """Their binary names."""
    return tuple(type_.name for type_ in parse(source).types if not type_.outer)


def _lines(root: Node) -> Iterator[int]:
    for node in inside(root, classes=True):
        if (
            node.type == 'assert_statement'
            or is_oracle_reference(node)
            or (node.type == 'method_invocation' and is_oracle(call_of(node)))
        ):
            yield from range(node.start_point[0] + 1, node.end_point[0] + 2)
