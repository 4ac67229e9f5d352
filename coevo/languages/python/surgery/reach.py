"""Which names other files of a tree may use of a test file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType, SourceFile
from coevo.languages.python.reading.places import module_name
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.reading.trees import open_tree
from coevo.languages.python.surgery.pieces import strip_module_name

_WORDS = re.compile(r'[^\W\d]\w*')


def list_names_used_elsewhere(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """All names in files that mention a module, that see it as their conftest, or in which classes
    stand from which its own derive.

    Main sources cannot see the test tree, so they do not count.
    """
    module = module_name(path).rpartition('.')[2]
    own = list(parse(repository.blob(repository.tree(rev)[path].oid)).types)
    files = _load_other_test_files(repository, rev, path)
    pattern = _make_name_pattern([module])
    below = f'{path.rpartition("/")[0]}/'.lstrip('/') if module == 'conftest' else None
    using_files = {
        other
        for other, content in files.items()
        if pattern.search(content) or (below is not None and other.startswith(below))
    }
    using_files |= _find_base_files(files, own)
    return frozenset(
        name for other in using_files for name in _list_names(parse(files[other], other))
    )


def find_derived_classes(
    repository: Repository, rev: str, path: str, names: Iterable[str]
) -> Iterator[tuple[str, bytes, frozenset[str]]]:
    """Other test files that declare classes below some, by simple names: path, content, and the full names
    of these classes; sorted by path."""
    files = _load_other_test_files(repository, rev, path)
    below: dict[str, set[str]] = {}
    wanted, known = {name for name in names if name}, set[str]()
    while wanted:
        known |= wanted
        types = [
            (other_path, type_)
            for other_path, file in _parse_mentioning(files, wanted).items()
            for type_ in file.types
            if not wanted.isdisjoint(_list_parents(type_))
        ]
        for other_path, type_ in types:
            below.setdefault(other_path, set()).add(strip_module_name(type_.name))
        wanted = {type_.simple for _, type_ in types} - known
    for other_path in sorted(below):
        types_of_place = parse(files[other_path], other_path).types
        theirs = {t.name for t in types_of_place if strip_module_name(t.name) in below[other_path]}
        yield other_path, files[other_path], frozenset(theirs)


def _load_other_test_files(repository: Repository, rev: str, path: str) -> dict[str, bytes]:
    """The Python files of a tree but for one, and for main sources, which cannot see the test tree."""
    files = open_tree(repository, rev)
    return {
        other: repository.blob(entry.oid)
        for other, entry in files.entries.items()
        if other.endswith('.py') and other != path and not files.is_source(other)
    }


def _find_base_files(files: Mapping[str, bytes], own: Iterable[DeclaredType]) -> set[str]:
    """The files that declare what a class derives from: they may call what it overrides."""
    base_files: set[str] = set()
    names = {name for type_ in own for name in _list_parents(type_)}
    while names:
        users = {p: f for p, f in _parse_mentioning(files, names).items() if p not in base_files}
        declared = [(p, t) for p, file in users.items() for t in file.types if t.simple in names]
        base_files |= {path for path, _ in declared}
        names = {name for _, type_ in declared for name in _list_parents(type_)}
    return base_files


def _list_parents(type_: DeclaredType) -> set[str]:
    return {*type_.interfaces, *filter(None, (type_.superclass,))}


def _parse_mentioning(files: Mapping[str, bytes], names: Iterable[str]) -> dict[str, SourceFile]:
    pattern = _make_name_pattern(names)
    return {path: parse(content) for path, content in files.items() if pattern.search(content)}


def _make_name_pattern(names: Iterable[str]) -> re.Pattern[bytes]:
    return re.compile(rf'\b(?:{"|".join(map(re.escape, sorted(names)))})\b'.encode())


def _list_names(file: SourceFile) -> Iterator[str]:
    """Identifiers of a file and the words of its strings."""
    yield from file.names
    yield from (imported.text.rpartition('.')[2] for imported in file.imports)
    for type_ in file.types:
        for member in type_.members:
            for text in member.strings:
                yield from _WORDS.findall(text)
