"""Cut Java files and put them together again.

Implements `coevo.languages.surgery.FileSurgery`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from coevo.git.repository import Repository
from coevo.languages.core.reach import (
    FileMentionFinder,
    MentionRules,
    find_base_type_files,
    find_derived_types,
    list_parent_names,
    load_other_test_files,
    parse_files_mentioning,
)
from coevo.languages.declarations import DeclaredType, SourceFile
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.trees import open_tree
from coevo.languages.java.surgery.start_state import SURGERY

# Find the other files of a tree that refer to a Java test file, and the names that they use.


def list_names_in_related_files(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """Return all names in the other test files that are related to the types of one file.

    A file is related if it mentions one of the types or their subtypes, or declares a supertype of
    one. Main sources cannot access the test tree, so they do not count.
    """
    own = parse(repository.blob(repository.tree(rev)[path].oid)).types
    files = load_other_test_files(repository, open_tree(repository, rev), path, '.java')
    paths = {*_find_files_using_types(files, own), *find_base_type_files(files, own, parse)}
    return frozenset(name for other in paths for name in parse(files[other]).names)


def find_derived_classes(
    repository: Repository, rev: str, path: str, names: Iterable[str]
) -> Iterator[tuple[str, bytes, frozenset[str]]]:
    """Yield path, content and class names of the other test files with subtypes of some types.

    `names` are the simple names of these types. The class names are the binary names of the
    subtypes. Sorted by path.
    """
    files = load_other_test_files(repository, open_tree(repository, rev), path, '.java')
    for other, below in find_derived_types(files, names, parse):
        yield other, files[other], below


def _find_files_using_types(files: Mapping[str, bytes], own: Iterable[DeclaredType]) -> set[str]:
    """Return the files that mention one of the types or a type derived from one."""
    all_users: dict[str, SourceFile] = {}
    names = {type_.simple for type_ in own}
    while users := parse_files_mentioning(files, names, parse, all_users):
        all_users |= users
        types = [type_ for file in users.values() for type_ in file.types]
        names = {type_.simple for type_ in types if not names.isdisjoint(list_parent_names(type_))}
    return set(all_users)


_SETTINGS = (
    *('.xml', '.properties', '.yml', '.yaml', '.json', '.toml', '.gradle', '.kts'),
    *('.groovy', '.kt', '.scala'),
)


def make_mention_finder(repository: Repository, rev: str) -> FileMentionFinder:
    """Return a finder of files that mention the types of other files."""
    return FileMentionFinder(repository, rev, open_tree(repository, rev), _RULES)


def _is_settings_file(path: str) -> bool:
    return path.endswith(_SETTINGS) or '/META-INF/' in f'/{path}'


def _find_top_level_types(_: str, text: bytes) -> frozenset[str]:
    return frozenset(type_.simple for type_ in parse(text).types if '$' not in type_.name)


_RULES = MentionRules(
    suffix='.java',
    settings=_is_settings_file,
    word=re.compile(r'[\w$]+'),
    parse=parse,
    declared=_find_top_level_types,
)


# Cut Java files and put them together again.

add_helpers = SURGERY.add_helpers
list_other_tests = SURGERY.list_other_tests
make_start_file = SURGERY.make_start_file
transplant_tests_into_old = SURGERY.transplant_tests_into_old
