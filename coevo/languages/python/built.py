"""The modules of a built revision: what their cells need of environment and settings."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.cells import Build
from coevo.languages.core.cell_files import RevisionTrees
from coevo.languages.python import layout
from coevo.languages.python.collection import SETTINGS, is_below, list_folders_upwards
from coevo.languages.python.pytest_options import (
    PytestSettings,
    find_module_settings,
    make_pytest_options,
)
from coevo.languages.python.requirements.reading import BUILD_FILES
from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.resolution import InstalledPackages

# Names of folders with build files that are not projects to test, and the limit of modules.
_ASIDE = frozenset({'docs', 'doc', 'examples', 'example', 'benchmarks', 'vendor', 'third_party'})
_MOST_MODULES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonModule:
    """A folder of a revision with a project whose tests can be run, and all that its runs need.

    folder     '.' for the root
    needs      its requirements
    installed  the packages that satisfy them
    roots      the folders on `sys.path`
    tops       the top-level packages of the code
    options    of pytest
    written    modules that a build would generate, by path; those that the tree has are left out
    compiled   C extensions, by path
    metadata   the files of its .dist-info folder, by path
    others     folders of other projects below it, whose tests do not belong to it
    """

    rev: str
    folder: str
    needs: Needs
    installed: InstalledPackages
    roots: tuple[str, ...]
    tops: frozenset[str]
    options: tuple[str, ...]
    written: tuple[tuple[str, bytes], ...]
    compiled: tuple[tuple[str, bytes], ...] = ()
    metadata: tuple[tuple[str, bytes], ...] = ()
    others: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class BuiltEnd:
    """One built revision of a pair: the record of its build, and its modules that are ready.

    modules   by folder; a module whose build failed is not among them
    is_final  whether a module failed for a requirement that no interpreter can have
    """

    build: Build
    modules: dict[str, PythonModule] = field(default_factory=dict)
    is_final: bool = False

    @property
    def success_and_module_count(self) -> tuple[bool, int]:
        """The build's success and the number of modules that are ready; greater is better."""
        return self.build.failure is None, len(self.modules)


def list_module_folders(trees: RevisionTrees, rev: str) -> tuple[str, ...]:
    """Return the folders with projects to test, sorted; the root is always among them.

    Folders for examples, documentation and vendored code are left out. At most 12 are returned.
    """
    folders = {'.'}
    for folder in list_project_folders(trees, rev):
        if not _ASIDE.intersection(folder.split('/')):
            folders.add(folder)
    return tuple(sorted(folders)[:_MOST_MODULES])


def list_project_folders(trees: RevisionTrees, rev: str) -> tuple[str, ...]:
    """Return all folders below the root that have a build file, sorted.

    A build file among the files of the tests does not count.
    """
    tests, folders = trees.list_test_paths(rev), set[str]()
    for path in trees.repository.tree(rev):
        folder, name = posixpath.split(path)
        if name in BUILD_FILES and folder and path not in tests:
            folders.add(folder)
    return tuple(sorted(folders))


def make_module(
    repository: Repository,
    rev: str,
    folder: str,
    needs: Needs,
    installed: InstalledPackages,
    others: Sequence[str] = (),
    beside: Sequence[str] = (),
) -> PythonModule:
    """Return the module in a folder of a revision, with the settings that its files state.

    Its `compiled` and `metadata` are empty: nothing is built.

    others  the folders of all projects of the revision
    beside  the folders of those projects whose code this one needs: `sys.path` gets them, too
    """
    paths = repository.tree(rev).keys()
    settings = dict(load_settings_files(repository, rev, folder))
    roots = tuple(
        dict.fromkeys(
            root
            for project in (folder, *beside)
            for root in layout.find_import_roots(
                paths, project, dict(load_settings_files(repository, rev, project))
            )
        )
    )
    return PythonModule(
        rev=rev,
        folder=folder,
        needs=needs,
        installed=installed,
        roots=roots,
        tops=layout.find_top_packages(paths, roots),
        options=make_pytest_options(load_module_settings(repository, rev, folder).options),
        others=tuple(project for project in others if is_below(project, folder)),
        written=tuple(
            (path, content)
            for path, content in layout.list_generated_modules(settings.values(), folder)
            if path not in paths
        ),
    )


def find_nearest_folder(folder: str, among: Collection[str]) -> str | None:
    """Return the folder itself or the nearest one above it that is in `among`; None if none is.

    The root '.' is above all folders.
    """
    return next((above for above in list_folders_upwards(folder) if above in among), None)


def load_module_settings(repository: Repository, rev: str, folder: str) -> PytestSettings:
    """Return the settings of pytest for a module of a revision; see `find_module_settings`."""
    tree = repository.tree(rev)
    return find_module_settings(tree, lambda path: repository.blob(tree[path].oid), folder)


def load_settings_files(
    repository: Repository, rev: str, folder: str
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file that may hold settings of pytest in a folder.

    Subfolders are not searched; a symbolic link is skipped.
    """
    tree = repository.tree(rev)
    for name in (*SETTINGS, 'setup.py'):
        path = name if folder == '.' else f'{folder}/{name}'
        if path in tree and tree[path].mode != LINK:
            yield name, repository.blob(tree[path].oid)


# Decide whether a failure is due to a submodule, since submodules are not fetched.
#
# A package that cannot be imported needs one if the missing module or the target of a link would be
# in it. C extensions that cannot be built need one if a build file mentions its folder.

_MISSING = re.compile(r'ModuleNotFoundError@([\w.]+)')


def needs_submodule(
    repository: Repository, module: PythonModule, failure: str, *, of_extensions: bool
) -> bool:
    """Return whether a failed module would need files of a submodule, which coevo does not fetch.

    failure        the error of the import, or why there are no extensions
    of_extensions  whether the build of its C extensions failed, not its import
    """
    submodules = repository.list_submodules(module.rev)
    if not submodules:
        return False
    if of_extensions:
        return any(
            _names_submodule(text, module.folder, submodules)
            for text in _load_build_files(repository, module)
        )
    places = list(_find_module_paths(repository, module, failure))
    return any(
        f'{candidate}/'.startswith(f'{path}/') for candidate in places for path in submodules
    )


def _find_module_paths(repository: Repository, module: PythonModule, failure: str) -> Iterator[str]:
    """Yield the paths that the missing module may have, and the targets of links on the way to it.

    Nothing is yielded if the failure names no missing module.
    """
    match = _MISSING.search(failure)
    if match is None:
        return
    tree = repository.tree(module.rev)
    for root in module.roots:
        path = posixpath.normpath(posixpath.join(root, match[1].replace('.', '/')))
        yield path
        for link in (path, f'{path}.py', posixpath.dirname(path)):
            entry = tree.get(link)
            if entry is not None and entry.mode == LINK:
                target = os.fsdecode(repository.blob(entry.oid))
                yield posixpath.normpath(posixpath.join(posixpath.dirname(link), target))


def _load_build_files(repository: Repository, module: PythonModule) -> Iterator[str]:
    for name in BUILD_FILES:
        path = posixpath.normpath(posixpath.join(module.folder, name))
        yield repository.load_text(module.rev, path) or ''


def _names_submodule(text: str, folder: str, submodules: tuple[str, ...]) -> bool:
    """Return whether a text contains the path of a submodule relative to `folder`."""
    places = (posixpath.relpath(path, folder) for path in submodules)
    return any(re.search(rf'(?<![\w-]){re.escape(relative)}(?![\w-])', text) for relative in places)
