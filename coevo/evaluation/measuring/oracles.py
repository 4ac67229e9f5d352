"""Where the assertions of a submitted test file and of its helpers stand."""

from __future__ import annotations

from collections.abc import Mapping

from coevo.evaluation.measuring.watched_lines import Lines
from coevo.evaluation.measuring.watched_lines import names_in
from coevo.git.repository import Repository
from coevo.languages.assertions import Assertions
from coevo.languages.reading import Reading
from coevo.languages.table import measures
from coevo.languages.table import reading


def oracle_lines(
    repository: Repository, language: str, rev: str, path: str, content: bytes
) -> Lines | None:
    """The lines of all that may fail a test in a test file, and in files of the tree that it names,
    also through each other; None where the language offers no assertions."""
    assertions, text = measures(language).assertions, reading(language)
    if assertions is None:
        return None
    files = _by_name(text, repository, rev)
    found: dict[str, frozenset[int]] = {}
    queue, seen = [(path, content)], {path}
    while queue:
        place, source = queue.pop()
        found |= _by_type(assertions, text, source, place)
        for name in sorted(text.parse(source).names & files.keys()):
            for other in files[name]:
                if other not in seen:
                    seen.add(other)
                    queue.append((other, repository.blob(repository.tree(rev)[other].oid)))
    return found


def _by_name(text: Reading, repository: Repository, rev: str) -> Mapping[str, list[str]]:
    """Files of the language by what others call them, but for main sources, which cannot assert."""
    found: dict[str, list[str]] = {}
    tree = text.tree(repository, rev)
    for path in tree.entries:
        if path.endswith(text.SUFFIXES) and not tree.is_source(path):
            for name in text.named_as(tree, path):
                found.setdefault(name, []).append(path)
    return found


def _by_type(assertions: Assertions, text: Reading, source: bytes, path: str) -> Lines:
    lines = assertions.oracle_lines(source)
    return dict.fromkeys(names_in(text, source, path), lines) if lines else {}
