"""The cells of one pair: which project, package and binary each has."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace

from coevo.languages.cells import CellKey, SettingsScope
from coevo.languages.golang.cells import BinaryVariant, GoBinary, GoCells
from coevo.languages.golang.ends import GoBuiltEnd
from coevo.languages.golang.projects import GoProject


@dataclass(frozen=True, slots=True, kw_only=True)
class GoPairCells:
    """all: those of the thread, of other pairs too"""

    ends: tuple[GoBuiltEnd, GoBuiltEnd]
    all: GoCells

    def find_end(self, rev: str) -> GoBuiltEnd:
        return next(end for end in self.ends if end.build.rev == rev)

    def find_project(self, key: CellKey) -> GoProject:
        """That of the code, with the go.mod of another revision where it is borrowed."""
        own = self.find_end(key.code_rev).project
        assert own is not None, 'a revision is built before it is used'
        if key.borrowed is None or key.borrowed.scope is SettingsScope.TEST_LIBRARIES:
            return own
        other = self.find_end(key.borrowed.rev).project
        return own if other is None else replace(own, files=other.files)

    def find_module_path(self, key: CellKey) -> str:
        project = self.find_project(key)
        return project.paths[project.find_module(key.module)]

    def find_import_path(self, key: CellKey) -> str:
        """Of the package in a cell's folder."""
        below = posixpath.relpath(key.module, self.find_project(key).find_module(key.module))
        return posixpath.normpath(f'{self.find_module_path(key)}/{below}')

    def compile_binary(self, key: CellKey, variant: BinaryVariant | None = None) -> GoBinary:
        return self.all.compile_binary(key, self.find_project(key), variant or BinaryVariant())
