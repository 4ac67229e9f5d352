"""The class files of a cell's code, and the repository file that each was compiled from."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.places import TREE
from coevo.languages.java.processes.plan import LaunchPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFiles:
    """The class folders of a module and its sibling modules, and where their sources are.

    The folders are in the order of the class path; of several layers with the same folder, the
    upper one comes first.

    folders  class folders on the host
    roots    source roots of each folder's module, as repository paths
    tree     repository paths of all files of the code
    removed  class files in the folders that are not part of the test process's tree
    places_at_run_time  the class folders' paths in the test process
    """

    folders: tuple[Path, ...]
    roots: tuple[tuple[str, ...], ...]
    tree: Collection[str]
    removed: tuple[Path, ...]
    places_at_run_time: tuple[str, ...]

    def find_source(self, folder: int, name: str, file: str | None) -> str | None:
        """Return the repository path of a class's source file; None if the tree has no such file.

        This is so for generated sources.

        folder  index in `folders` of the folder with the class
        name    binary name of the class
        file    file name in the class file; if None, the class's own name gives the file name
        """
        package, _, simple = name.rpartition('.')
        for name_of_file in (file,) if file else _list_file_names(simple):
            for root in self.roots[folder]:
                path = posixpath.normpath(f'{root}/{package.replace(".", "/")}/{name_of_file}')
                if path in self.tree:
                    return path
        return None

    def list_indexed_source_paths(self, files: Collection[str]) -> Iterator[str]:
        """Yield `INDEX:PATH` for each class folder and source file of its module.

        INDEX is the number of the class folder, PATH the file's path below its source root.
        """
        for path in sorted(files):
            for index, roots in enumerate(self.roots):
                for root in roots:
                    if path.startswith(f'{root}/'):
                        yield f'{index}:{path.removeprefix(f"{root}/")}'


def _list_file_names(simple: str) -> Iterator[str]:
    """Yield the file names that may declare a class: `A$B.java` and `A.java` for `A$B`."""
    while simple:
        yield f'{simple}.java'
        simple = simple.rpartition('$')[0]


def find_code_files(
    plan: LaunchPlan, modules: Mapping[str, JavaModule], tree: Collection[str]
) -> CodeFiles:
    """Return the class files of the code that a plan's tests run, those of their module first.

    `modules` are those of the code's revision, `tree` has the paths of its files.
    """
    siblings = [entry.sibling or '' for entry in plan.module.class_path if not entry.tests]
    known = [
        plan.module,
        *(modules[entry] for entry in dict.fromkeys(siblings) if entry in modules),
    ]
    folders_with_roots = [
        (folder, tuple(posixpath.normpath(f'{module.path}/{root}') for root in module.source_roots))
        for module in known
        for layer in reversed(plan.layers)
        if (folder := layer / module.path / module.classes).is_dir()
    ]
    places = [f'{TREE}/{module.path}/{module.classes}' for module in known]
    return CodeFiles(
        folders=tuple(folder for folder, _ in folders_with_roots),
        roots=tuple(roots for _, roots in folders_with_roots),
        tree=tree,
        removed=tuple(layer / path for layer in plan.layers for path in plan.removed),
        places_at_run_time=tuple(places),
    )
