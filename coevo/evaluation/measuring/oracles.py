"""Where the assertions of a submitted test file and of its helpers stand."""

from __future__ import annotations

from collections.abc import Mapping

from coevo.evaluation.measuring.watched_lines import Lines, list_names_in_source
from coevo.git.repository import Repository
from coevo.languages.assertions import Assertions
from coevo.languages.reading import LanguageReading
from coevo.languages.table import get_measures, get_reading


def find_oracle_lines(
    repository: Repository, language: str, rev: str, path: str, content: bytes
) -> Lines | None:
    """The lines of all that may fail a test in a test file, and in files of the tree that it names,
    also through each other; None where the language offers no assertions."""
    assertions, text = get_measures(language).assertions, get_reading(language)
    if assertions is None:
        return None
    files = _index_files_by_name(text, repository, rev)
    lines: dict[str, frozenset[int]] = {}
    queue, seen = [(path, content)], {path}
    while queue:
        file_path, source = queue.pop()
        lines |= _find_lines_by_type(assertions, text, source, file_path)
        for name in sorted(text.parse(source).names & files.keys()):
            for other in files[name]:
                if other not in seen:
                    seen.add(other)
                    queue.append((other, repository.blob(repository.tree(rev)[other].oid)))
    return lines


def _index_files_by_name(
    text: LanguageReading, repository: Repository, rev: str
) -> Mapping[str, list[str]]:
    """Files of the language by what others call them, but for main sources, which cannot assert."""
    paths_by_name: dict[str, list[str]] = {}
    tree = text.open_tree(repository, rev)
    for path in tree.entries:
        if path.endswith(text.SUFFIXES) and not tree.is_source(path):
            for name in text.list_reference_names(tree, path):
                paths_by_name.setdefault(name, []).append(path)
    return paths_by_name


def _find_lines_by_type(
    assertions: Assertions, text: LanguageReading, source: bytes, path: str
) -> Lines:
    lines = assertions.find_oracle_lines(source)
    return dict.fromkeys(list_names_in_source(text, source, path), lines) if lines else {}
