"""The cells of one pair: which project, package and binary each has."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from dataclasses import replace

from coevo.languages.cells import Compiled
from coevo.languages.cells import Scope
from coevo.languages.golang.cells import GoBinary
from coevo.languages.golang.cells import GoCellKey
from coevo.languages.golang.cells import GoCells
from coevo.languages.golang.cells import Variant
from coevo.languages.golang.ends import GoEnd
from coevo.languages.golang.projects import GoProject


@dataclass(frozen=True, slots=True, kw_only=True)
class GoPairCells:
    """all: those of the thread, of other pairs too"""

    ends: tuple[GoEnd, GoEnd]
    all: GoCells

    def end(self, rev: str) -> GoEnd:
        return next(end for end in self.ends if end.build.rev == rev)

    def project(self, key: GoCellKey) -> GoProject:
        """That of the code, with the go.mod of another revision where it is borrowed."""
        own = self.end(key.code_rev).project
        assert own is not None, 'a revision is built before it is used'
        if key.borrowed is None or key.borrowed.scope is Scope.TEST_LIBRARIES:
            return own
        other = self.end(key.borrowed.rev).project
        return own if other is None else replace(own, files=other.files)

    def module_path(self, key: GoCellKey) -> str:
        project = self.project(key)
        return project.paths[project.module_of(key.module)]

    def import_path(self, key: GoCellKey) -> str:
        """Of the package in a cell's folder."""
        below = posixpath.relpath(key.module, self.project(key).module_of(key.module))
        return posixpath.normpath(f'{self.module_path(key)}/{below}')

    def binary(self, key: GoCellKey, variant: Variant | None = None) -> GoBinary:
        return self.all.binary(key, self.project(key), variant or Variant())


def key_of(compiled: Compiled) -> GoCellKey:
    return GoCellKey(
        tests_rev=compiled.tests_rev,
        code_rev=compiled.code_rev,
        module=compiled.module,
        borrowed=compiled.borrowed,
        edits=compiled.edits,
    )
