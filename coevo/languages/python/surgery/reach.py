"""Find the files of a tree that refer to a Python test file, and the names they use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from coevo.git.repository import Repository
from coevo.languages.core.reach import (
    FileMentionFinder,
    MentionRules,
    find_base_type_files,
    find_derived_types,
    load_other_test_files,
    make_name_pattern,
)
from coevo.languages.declarations import SourceFile
from coevo.languages.python.reading.module_paths import derive_module_name
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.reading.trees import open_tree
from coevo.languages.python.surgery.pieces import strip_module_name

_WORDS = re.compile(r'[^\W\d]\w*')


def list_names_in_related_files(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """Return all names in those other test files that may use declarations of a test file.

    These files mention its module, have it as their conftest, or declare base classes of its
    classes. Main sources cannot see the test tree, so they do not count.
    """
    module = derive_module_name(path).rpartition('.')[2]
    own = list(parse(repository.blob(repository.tree(rev)[path].oid)).types)
    files = load_other_test_files(repository, open_tree(repository, rev), path, '.py')
    pattern = make_name_pattern([module])
    below = f'{path.rpartition("/")[0]}/'.lstrip('/') if module == 'conftest' else None
    using_files = {
        other
        for other, content in files.items()
        if pattern.search(content) or (below is not None and other.startswith(below))
    }
    using_files |= find_base_type_files(files, own, parse)
    return frozenset(
        name for other in using_files for name in _list_names(parse(files[other], other))
    )


def find_derived_classes(
    repository: Repository, rev: str, path: str, names: Iterable[str]
) -> Iterator[tuple[str, bytes, frozenset[str]]]:
    """Yield each other test file with subclasses of the named classes of a file, sorted by path.

    A row has its path, its content and the full names of these subclasses.

    path   of the file that declares the named classes
    """
    files = load_other_test_files(repository, open_tree(repository, rev), path, '.py')
    for other, below in find_derived_types(files, names, parse):
        types = parse(files[other], other).types
        placed = {type_.name for type_ in types if strip_module_name(type_.name) in below}
        yield other, files[other], frozenset(placed)


def _list_names(file: SourceFile) -> Iterator[str]:
    """Yield the identifiers of a file and the words of its strings."""
    yield from file.names
    yield from (imported.text.rpartition('.')[2] for imported in file.imports)
    for type_ in file.types:
        for member in type_.members:
            for text in member.strings:
                yield from _WORDS.findall(text)


_SETTINGS = ('.ini', '.cfg', '.toml', '.yml', '.yaml', '.json', '.txt')


def make_mention_finder(repository: Repository, rev: str) -> FileMentionFinder:
    """Return a finder of the files of a revision that mention a test file or its classes."""
    return FileMentionFinder(repository, rev, open_tree(repository, rev), _RULES)


def _list_names_others_mention(path: str, text: bytes) -> frozenset[str]:
    """Return the names by which others mention a file: its module and its top-level classes.

    For a conftest also its functions, which may be fixtures.
    """
    types = parse(text).types
    names = {derive_module_name(path).rpartition('.')[2]}
    names |= {type_.simple for type_ in types if len(type_.around) == 1}
    if 'conftest' in names:
        names |= {m.name for type_ in types[:1] for m in type_.members if m.kind == 'method'}
    return frozenset(names)


_RULES = MentionRules(
    suffix='.py',
    settings=lambda path: path.endswith(_SETTINGS),
    word=re.compile(r'\w+'),
    parse=parse,
    declared=_list_names_others_mention,
)
