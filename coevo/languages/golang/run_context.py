"""State that all threads of a run share: a sandbox, a folder, prepared toolchains, projects."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import date

from coevo.git.repository import Repository
from coevo.languages.cells import Build
from coevo.languages.core.cell_files import RevisionTrees
from coevo.languages.core.engines import open_sandbox_and_workspace
from coevo.languages.engine import RunSettings
from coevo.languages.golang.module_listing import ModuleLister
from coevo.languages.golang.projects import (
    GoProject,
    ModuleDescription,
    describe_modules,
    resolve_by_downloading_modules,
)
from coevo.languages.golang.reading.trees import open_tree
from coevo.languages.golang.standard_library import PreparedToolchain, prepare_toolchain
from coevo.languages.golang.supply import GoSupply
from coevo.languages.golang.toolchains import GoToolchain, load_machine_go_settings
from coevo.model.records import Commit

# The extensions of files that the go command reads in every folder that it compiles.
_READ_BY_GO = frozenset(
    (
        *('.go', '.mod', '.sum', '.work', '.s', '.S', '.sx', '.syso'),
        *('.c', '.cc', '.cpp', '.cxx', '.h', '.hh', '.hpp', '.hxx', '.m'),
    )
)

EndKey = tuple[str, str, date | None]
"""Revision, toolchain, day."""

BuiltKey = tuple[str, str, str, frozenset[tuple[str, str]], frozenset[str]]
"""Revision, toolchain, digest of the resolved project, modules that were not resolved, packages."""


class GoRunContext:
    """The sandbox, folder, toolchains and projects that all threads of a run over a repository share.

    It is closed with the stack. Several threads may use it.
    """

    def __init__(
        self,
        run: RunSettings,
        supply: GoSupply,
        stack: ExitStack,
    ) -> None:
        self.repository, self.own_edits, self.supply = run.repository, run.own_edits, supply
        self.trees = RevisionTrees(
            repository=run.repository,
            select_test_paths=_select_test_paths,
            always_read=_READ_BY_GO,
        )
        self.sandbox, self.root = open_sandbox_and_workspace(run.sandbox, stack)
        self.ends: dict[EndKey, tuple[Build, GoProject]] = {}
        self.built: dict[BuiltKey, Mapping[str, str | None]] = {}
        self._projects: dict[tuple[str, str, date | None], GoProject] = {}
        self._described: dict[tuple[str, date | None], ModuleDescription] = {}
        self._prepared: dict[GoToolchain, PreparedToolchain] = {}
        self._lister: ModuleLister | None = None
        self.lock = threading.Lock()

    def remove_builds_of_revision(self, rev: str) -> None:
        """Drop the builds and file lists that are cached for a revision; downloads stay."""
        for key in [key for key in self.ends if key[0] == rev]:
            self.ends.pop(key, None)
        for name in [name for name in self.built if name[0] == rev]:
            self.built.pop(name, None)
        self.trees.forget_revision(rev)

    def get_prepared_toolchain(self, toolchain: GoToolchain) -> PreparedToolchain:
        """Return a toolchain with coevo's program and overlay for it, prepared on first use."""
        with self.lock:
            return self._ensure_toolchain_prepared(toolchain)

    def _ensure_toolchain_prepared(self, toolchain: GoToolchain) -> PreparedToolchain:
        if toolchain not in self._prepared:
            self._prepared[toolchain] = prepare_toolchain(toolchain)
        return self._prepared[toolchain]

    def _get_module_lister(self, toolchain: GoToolchain) -> ModuleLister:
        """Return the lister of this run, made on first use.

        toolchain  runs `go env` then; any toolchain can read the machine's settings
        """
        if self._lister is None:
            self._lister = ModuleLister(self.sandbox, load_machine_go_settings(toolchain))
        return self._lister

    def describe_revision(self, rev: str, name: str, when: Commit) -> ModuleDescription:
        """Return the modules of a revision by its files alone, as of the day of a commit; cached.

        name  of the repository
        when  the commit whose date decides the language level of a tree without go.mod
        """
        key = rev, when.committer_date.date() if when.committer_date else None
        if key not in self._described:
            self._described[key] = describe_modules(self.repository, rev, name, when.committer_date)
        return self._described[key]

    def resolve_project(
        self, rev: str, told: ModuleDescription, toolchain: GoToolchain, when: Commit
    ) -> GoProject:
        """Return the project with its modules downloaded.

        Revisions that need the same on the same day share one project.

        told  the modules of the revision by its files
        when  the commit up to whose date versions are used
        """
        day = when.committer_date.date() if when.committer_date else None
        key = (told.needs, toolchain.version, day)
        with self.lock:
            if key not in self._projects:
                self._projects[key] = resolve_by_downloading_modules(
                    self.repository,
                    rev,
                    told,
                    self._get_module_lister(toolchain),
                    self._ensure_toolchain_prepared(toolchain),
                    self.root / 'listing',
                    when.committer_date,
                )
            return self._projects[key]


def _select_test_paths(repository: Repository, rev: str) -> Iterable[str]:
    seen = open_tree(repository, rev)
    return (path for path in seen.entries if seen.belongs_to_tests(path))
