"""A built revision on disk as the sandbox sees it, with code and tests separated.

The sides of a cell are fixed (docs/evidence.md): POMs, main sources and resources and all other files
belong to the code; each module's test sources and test resources belong to the tests.

    code/REV    the tree without its test folders and main sources, with main classes in place
    sources/REV the main sources, at their paths in the tree
    tests/REV   the test folders alone
    built/REV   INDEX/test-classes (processed resources) and INDEX/generated/K (test sources)
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coevo.languages.java.building.report import JavaModule
from coevo.storage.beneath import SafePath, join_beneath

# Suffixes of programming languages. Such a file is a main source wherever it lies, except in test
# folders and among resources (templates of generators).
_SOURCES = ('.java', '.kt', '.groovy', '.scala', '.aj')
RESOURCES = 'src/main/resources'

# The test folders of a build that died before it reported them.
DEFAULT_TEST_FOLDERS = ('src/test',)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOutput:
    """The folders of one built revision, and those of its modules whose POM Maven could read."""

    rev: str
    root: Path  # the workspace
    modules: Mapping[str, JavaModule]
    # build files with the changes that the build needed, by path in the tree
    rewritten: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def code(self) -> Path:
        """The folder of the tree without test folders and main sources, but with main classes."""
        return self.root / 'code' / self.rev  # own name: a commit id

    @property
    def sources(self) -> Path:
        """The folder of the main sources, at their paths in the tree."""
        return self.root / 'sources' / self.rev  # own name: a commit id

    @property
    def tests(self) -> Path:
        """The folder of the test sources and test resources, at their paths in the tree."""
        return self.root / 'tests' / self.rev  # own name: a commit id

    @property
    def built_test_files(self) -> Path:
        """The folder of processed test resources and generated test sources."""
        return self.root / 'built' / self.rev  # own name: a commit id

    def list_main_class_folders(self, module: JavaModule) -> Iterator[Path]:
        """Yield the main class folders of a module and of the sibling modules on its class path.

        Folders of test classes and library jars are left out.
        """
        yield self.code / module.path / module.classes
        for entry in module.class_path:
            if entry.sibling is not None and not entry.tests:
                yield self.code / entry.sibling / str(entry.folder)

    def find_test_resources(self, module: str) -> Path | None:
        """Return the folder of a module's test resources; None if there is none.

        It is the folder of resources that the build processed if it exists, else
        `src/test/resources`.
        """
        known = self.modules.get(module)
        processed = self.built_test_files / str(known.index) / 'test-classes' if known else None
        raw = self.tests / module / 'src/test/resources'
        return next((folder for folder in (processed, raw) if folder and folder.is_dir()), None)

    def list_test_source_roots(self, module: str) -> tuple[Path, ...]:
        """Return the existing folders of a module's test sources, generated ones last."""
        known = self.modules.get(module)
        roots = known.test_source_roots if known else ('src/test/java',)
        folders = [self.tests / module / root for root in roots]
        if known is not None:
            folders += sorted((self.built_test_files / str(known.index) / 'generated').glob('*'))
        return tuple(folder for folder in folders if folder.is_dir())

    def remove(self) -> None:
        """Delete all files of the revision."""
        for folder in (self.code, self.sources, self.tests, self.built_test_files):
            shutil.rmtree(folder, ignore_errors=True)


def is_main_source_by_suffix(path: str) -> bool:
    """Return whether a path of the code's tree is a main source, by its suffix.

    Files below `src/main/resources` are not sources, even if they end in `.java`.
    """
    return path.lower().endswith(_SOURCES) and f'/{RESOURCES}/' not in f'/{path}'


def separate_tests_and_code(output: BuildOutput, module_folders: tuple[str, ...]) -> None:
    """Move the files of a finished build into the folders of `BuildOutput`.

    Test folders go from the code to `tests`, main classes from `built` into the code, and main
    sources from the code to `sources`. Source files that plugins copied among the classes go to
    `sources` too.
    """
    for name in module_folders:
        module = output.modules.get(name)
        for folder in (*DEFAULT_TEST_FOLDERS, *(module.test_folders if module else ())):
            _move_folder_if_absent(
                output.code / name / folder, join_beneath(output.tests, name, folder)
            )  # own name: where it is read from, inside of a tree that was laid out
        if module is not None:
            classes = join_beneath(output.code, name, module.classes)
            classes.remove()
            _move_folder_if_absent(
                output.built_test_files / str(module.index) / 'classes', classes
            )  # own name: a number
    output.tests.mkdir(parents=True, exist_ok=True)
    _move_sources(output.code, output.sources, set(_find_resources_with_source_suffix(output)))


def _find_resources_with_source_suffix(output: BuildOutput) -> Iterator[Path]:
    """Yield the paths, among the classes, of resources with a source's suffix, such as templates.

    They lie in `src/main/resources` with the same name.
    """
    for name, module in output.modules.items():
        raw = output.code / name / RESOURCES
        for file in raw.rglob('*'):
            if file.name.lower().endswith(_SOURCES):
                yield output.code / name / module.classes / file.relative_to(raw)


def _move_sources(code: Path, sources: Path, kept: Container[Path]) -> None:
    """Move the sources of the code tree; remove folders that held nothing else.

    The name of an empty folder would reveal what it contained.
    """
    sources.mkdir(parents=True, exist_ok=True)
    for name, folders, files in os.walk(code, topdown=False):
        here = Path(name)  # own name: os.walk's
        source_names = [
            file
            for file in files
            if is_main_source_by_suffix((here / file).relative_to(code).as_posix())
            and here / file not in kept
        ]
        for file in source_names:
            join_beneath(sources, str(here.relative_to(code)), file).move_here(here / file)
        if (source_names or folders) and here != code and not any(here.iterdir()):
            here.rmdir()


def _move_folder_if_absent(source: Path, target: SafePath) -> None:
    if source.is_dir() and not source.is_symlink() and not target.is_there():
        target.move_here(source)


def link_classes(source: Path, target: Path, wanted: Callable[[str], bool]) -> None:
    """Hard-link the class files of `source` for which `wanted(relative path)` is true to `target`.

    Symbolic links are skipped.
    """
    for folder, _, names in os.walk(source):
        here = Path(folder)
        chosen = [name for name in names if name.endswith('.class')]
        chosen = [name for name in chosen if wanted((here / name).relative_to(source).as_posix())]
        for name in chosen:
            if not (here / name).is_symlink():
                join_beneath(target, str(here.relative_to(source)), name).add_hard_link(here / name)


def link_resources(source: Path, target: Path, *, with_class_files: bool) -> None:
    """Hard-link a folder's regular files without replacing existing ones.

    `classes=False` skips class files, which Maven compiled from another pairing of tests and code.
    """
    for path in sorted(source.rglob('*')):
        destination = join_beneath(target, str(path.relative_to(source)))
        wanted = with_class_files or path.suffix != '.class'
        if wanted and path.is_file() and not path.is_symlink() and not destination.is_there():
            destination.add_hard_link(path)
