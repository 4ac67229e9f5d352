"""Which files of a revision name what a Go test file declares."""

from __future__ import annotations

from functools import cache

from coevo.git.repository import Repository, load_content
from coevo.languages.golang.reading.syntax import parse
from coevo.languages.golang.reading.tests import is_test
from coevo.languages.golang.reading.trees import open_tree
from coevo.languages.golang.surgery.reach import list_declared_names
from coevo.languages.layout import Side


class GoMentionFinder:
    """Fulfils `coevo.languages.surgery.MentionFinder` for one revision."""

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository, self._rev = repository, rev
        self._tree = open_tree(repository, rev)
        self.find_mentioning_files = cache(self._find_mentioning_files)
        self._declared = cache(self._find_declared)

    def read_text(self, path: str) -> bytes:
        text = load_content(self._repository, self._rev, path)
        assert text is not None, 'a file of the revision'
        return text

    def mentions(self, other: str, text: bytes | None, path: str) -> bool:
        """Whether a text of a file names what another one declares, tests aside, which nobody calls."""
        if text is None or not self._tree.can_see(other, path):
            return False
        return not self._declared(path).isdisjoint(parse(text, other).names)

    def _find_mentioning_files(self, path: str) -> tuple[str, ...]:
        return tuple(
            other
            for other in self._tree.list_paths(Side.TEST)
            if other != path and self.mentions(other, self.read_text(other), path)
        )

    def _find_declared(self, path: str) -> frozenset[str]:
        file = self._tree.parse_file(path)
        tests = {member.name for type_ in file.types for member in type_.members if is_test(member)}
        return frozenset(name.rpartition('.')[2] for name in list_declared_names(file)) - tests


def make_mention_finder(repository: Repository, rev: str) -> GoMentionFinder:
    return GoMentionFinder(repository, rev)
