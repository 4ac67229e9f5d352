"""Which names other files of a tree may use of a test file, and which of them it must not declare again."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator

from coevo.git.repository import Repository
from coevo.languages.declarations import SourceFile
from coevo.languages.golang.reading.trees import GoTree
from coevo.languages.golang.reading.trees import tree
from coevo.languages.layout import Side


def names_used_elsewhere(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """All names in test files that see what a file declares, as those of its package do.

    `=name` is one that another file of its package declares: no file can bring it a second time.
    """
    files = tree(repository, rev)
    found: set[str] = set()
    for other in files.paths(Side.TEST):
        if other != path and files.sees(other, path):
            found |= files.file(other).names
    for other in neighbours(files, path):
        found |= {f'={name}' for name in declared_by(files.file(other))}
    return frozenset(found)


def derived(
    repository: Repository, rev: str, path: str, names: Iterable[str]
) -> Iterator[tuple[str, bytes, frozenset[str]]]:
    """None: no type of Go derives from another, and a test belongs to its file alone."""
    return iter(())


def neighbours(files: GoTree, path: str) -> Iterator[str]:
    """The other files of a file's package, of either side."""
    own = files.package_of(path)
    for side in Side:
        for other in files.paths(side):
            if other != path and files.package_of(other) == own:
                yield other


def declared_by(file: SourceFile) -> frozenset[str]:
    """What a file declares at its top; `T.M` is a method of a type."""
    found = {type_.simple for type_ in file.types[1:] if type_.start_byte < type_.end_byte}
    for type_ in file.types:
        before = f'{type_.simple}.' if type_.around else ''
        found |= {f'{before}{m.name}' for m in type_.members if m.kind in ('method', 'field')}
    return frozenset(found - {'init'})
