"""Finds the files that use declarations of a Go test file, and the names it must not repeat."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from coevo.git.repository import Repository, load_content
from coevo.languages.declarations import SourceFile
from coevo.languages.golang.reading.syntax import parse
from coevo.languages.golang.reading.tests import is_test
from coevo.languages.golang.reading.trees import GoTree, open_tree
from coevo.languages.layout import Side


def list_names_in_related_files(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """Return all names in the other test files that can see a file's declarations.

    Also return each name that another file of the package declares, code included, as `=name`: no
    file can declare it a second time.
    """
    files = open_tree(repository, rev)
    names: set[str] = set()
    for other in files.list_paths(Side.TEST):
        if other != path and files.can_see(other, path):
            names |= files.parse_file(other).names
    for other in list_other_files_of_package(files, path):
        names |= {f'={name}' for name in list_declared_names(files.parse_file(other))}
    return frozenset(names)


def list_other_files_of_package(files: GoTree, path: str) -> Iterator[str]:
    """Yield the paths of the other files of a file's package, both of code and of tests."""
    own = files.find_package(path)
    for side in Side:
        for other in files.list_paths(side):
            if other != path and files.find_package(other) == own:
                yield other


def list_declared_names(file: SourceFile) -> frozenset[str]:
    """Return the names that a file declares at top level, without `init`.

    `T.M` is a method of a type.
    """
    names = {type_.simple for type_ in file.types[1:] if type_.start_byte < type_.end_byte}
    for type_ in file.types:
        before = f'{type_.simple}.' if type_.around else ''
        names |= {f'{before}{m.name}' for m in type_.members if m.kind in ('method', 'field')}
    return frozenset(names - {'init'})


class GoMentionFinder:
    """A finder of the files of one revision that mention another one; it caches its answers.

    It is a `coevo.languages.surgery.MentionFinder`.

    find_mentioning_files  returns the other test files that mention a declaration of a file
    """

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository, self._rev = repository, rev
        self._tree = open_tree(repository, rev)
        self.find_mentioning_files = cache(self._find_mentioning_files)
        self._declared = cache(self._list_declared_non_test_names)

    def read_text(self, path: str) -> bytes:
        """Return the content of a file of the revision."""
        text = load_content(self._repository, self._rev, path)
        assert text is not None, 'a file of the revision'
        return text

    def mentions(self, other: str, text: bytes | None, path: str) -> bool:
        """Return whether the text of a file names a declaration of the file `path` that it can see.

        The names of tests do not count, since no code calls them. None mentions nothing.

        other  the path of the file with the text
        """
        if text is None or not self._tree.can_see(other, path):
            return False
        return not self._declared(path).isdisjoint(parse(text, other).names)

    def _find_mentioning_files(self, path: str) -> tuple[str, ...]:
        return tuple(
            other
            for other in self._tree.list_paths(Side.TEST)
            if other != path and self.mentions(other, self.read_text(other), path)
        )

    def _list_declared_non_test_names(self, path: str) -> frozenset[str]:
        file = self._tree.parse_file(path)
        tests = {member.name for type_ in file.types for member in type_.members if is_test(member)}
        return frozenset(name.rpartition('.')[2] for name in list_declared_names(file)) - tests


def make_mention_finder(repository: Repository, rev: str) -> GoMentionFinder:
    """Return a finder of the files of a revision that mention declarations of another file."""
    return GoMentionFinder(repository, rev)
