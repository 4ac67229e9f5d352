"""Which files of a revision name what a Go test file declares."""

from __future__ import annotations

from functools import cache

from coevo.git.contents import content
from coevo.git.repository import Repository
from coevo.languages.golang.reading.syntax import parse
from coevo.languages.golang.reading.tests import is_test
from coevo.languages.golang.reading.trees import tree
from coevo.languages.golang.surgery.reach import declared_by
from coevo.languages.layout import Side


class GoNamers:
    """Fulfils `coevo.languages.surgery.Namers` for one revision."""

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository, self._rev = repository, rev
        self._tree = tree(repository, rev)
        self.of = cache(self._of)
        self._declared = cache(self._find_declared)

    def text(self, path: str) -> bytes:
        found = content(self._repository, self._rev, path)
        assert found is not None, 'a file of the revision'
        return found

    def names(self, other: str, text: bytes | None, path: str) -> bool:
        """Whether a text of a file names what another one declares, tests aside, which nobody calls."""
        if text is None or not self._tree.sees(other, path):
            return False
        return not self._declared(path).isdisjoint(parse(text, other).names)

    def _of(self, path: str) -> tuple[str, ...]:
        return tuple(
            other
            for other in self._tree.paths(Side.TEST)
            if other != path and self.names(other, self.text(other), path)
        )

    def _find_declared(self, path: str) -> frozenset[str]:
        file = self._tree.file(path)
        tests = {member.name for type_ in file.types for member in type_.members if is_test(member)}
        return frozenset(name.rpartition('.')[2] for name in declared_by(file)) - tests


def namers(repository: Repository, rev: str) -> GoNamers:
    return GoNamers(repository, rev)
