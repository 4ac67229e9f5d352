"""Which names other files of a tree may use of a test file, and which of them it must not declare again."""

from __future__ import annotations

from collections.abc import Iterator

from coevo.git.repository import Repository
from coevo.languages.declarations import SourceFile
from coevo.languages.golang.reading.trees import GoTree, open_tree
from coevo.languages.layout import Side


def list_names_used_elsewhere(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """All names in test files that see what a file declares, as those of its package do.

    `=name` is one that another file of its package declares: no file can bring it a second time.
    """
    files = open_tree(repository, rev)
    names: set[str] = set()
    for other in files.list_paths(Side.TEST):
        if other != path and files.can_see(other, path):
            names |= files.parse_file(other).names
    for other in list_neighbours(files, path):
        names |= {f'={name}' for name in list_declared_names(files.parse_file(other))}
    return frozenset(names)


def list_neighbours(files: GoTree, path: str) -> Iterator[str]:
    """The other files of a file's package, of either side."""
    own = files.find_package(path)
    for side in Side:
        for other in files.list_paths(side):
            if other != path and files.find_package(other) == own:
                yield other


def list_declared_names(file: SourceFile) -> frozenset[str]:
    """What a file declares at its top; `T.M` is a method of a type."""
    names = {type_.simple for type_ in file.types[1:] if type_.start_byte < type_.end_byte}
    for type_ in file.types:
        before = f'{type_.simple}.' if type_.around else ''
        names |= {f'{before}{m.name}' for m in type_.members if m.kind in ('method', 'field')}
    return frozenset(names - {'init'})
