"""Compiled cells on disk, and which edits concern which module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from coevo.languages.cells import CellEdits, CellKey, CompiledTests
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.compilation import CompileReport
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.cells.edited_code import EditedCode
from coevo.languages.java.cells.edited_files import is_at_or_below

MODULE_ABSENT = 'module_absent'


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledCell:
    """A module's compiled tests on disk; `folder` mirrors the tree and can be laid over the code.

    report   the classes, and the errors of those that do not compile
    below    cells of sibling modules whose test classes this one uses
    edited   folders that mirror the tree, with files that differ from their revision's
    sources  folders that mirror the tree, with edited main sources
    removed  files of the tree that are deleted
    removed_sources  main sources that are deleted
    """

    compiled: CompiledTests
    report: CompileReport
    folder: Path
    below: tuple[CompiledCell, ...] = ()
    edited: tuple[Path, ...] = ()
    sources: tuple[Path, ...] = ()
    removed: tuple[str, ...] = ()
    removed_sources: tuple[str, ...] = ()

    @property
    def test_class_folders(self) -> tuple[Path, ...]:
        """The folders of test classes of this cell and of the cells in `below`, its own last."""
        return (*(folder for cell in self.below for folder in cell.test_class_folders), self.folder)


def iterate_with_dependencies(cell: CompiledCell) -> Iterator[CompiledCell]:
    """Yield a cell, then all cells in its `below` and in theirs; one may come twice."""
    yield cell
    for dependency in cell.below:
        yield from iterate_with_dependencies(dependency)


def list_test_class_siblings(module: JavaModule, code: BuildOutput) -> Iterator[str]:
    """Yield the sibling modules whose test classes are on a module's class path.

    Siblings that the code lacks are left out.
    """
    for entry in module.class_path:
        if entry.tests and entry.sibling is not None and entry.sibling in code.modules:
            yield entry.sibling


def make_sibling_key(key: CellKey, module: str) -> CellKey:
    """Return the key of a sibling module's cell with the same revisions and no borrowed settings.

    It keeps all edits of the code, and those edits of tests that lie in the sibling.
    """
    edits = key.edits
    if edits is not None:
        tests = tuple(
            file_edit for file_edit in edits.tests if is_at_or_below(file_edit[0], module)
        )
        edits = CellEdits(tests=tests, code=edits.code) if tests or edits.code else None
    return CellKey(tests_rev=key.tests_rev, code_rev=key.code_rev, module=module, edits=edits)


def find_roots_of_edited_sources(
    layer: Path, tests: BuildOutput, code: BuildOutput, module: str
) -> Iterator[Path]:
    """Yield the folders below `layer` that hold edited test sources of a module, if they exist.

    If the tests' revision has no such module, the module of the code determines the folders.
    """
    known = tests.modules.get(module) or code.modules.get(module)
    for root in known.test_source_roots if known else ():
        folder = layer / module / root
        if folder.is_dir():
            yield folder


def find_edited_resources(
    key: CellKey, module: JavaModule | None
) -> Iterator[tuple[str, bytes | None]]:
    """Yield the path and content of each edited test resource of a module; None if it is removed.

    Paths are relative to the folder of test classes.
    """
    edits = key.edits.tests if key.edits else ()
    folders = set(module.test_folders) - set(module.test_source_roots) if module else set[str]()
    for folder in sorted(folders):
        root = PurePosixPath(key.module, folder)
        for path, content in edits:
            if PurePosixPath(path).is_relative_to(root):
                yield str(PurePosixPath(path).relative_to(root)), content


def make_absent_cell(key: CellKey, folder: Path) -> CompiledCell:
    """Return the cell for a module that the code lacks: none of its tests compiles."""
    compiled = CompiledTests(
        tests_rev=key.tests_rev,
        code_rev=key.code_rev,
        module=key.module,
        unit_ok=False,
        borrowed=key.borrowed,
        edits=key.edits,
        broken=('*',),
    )
    report = CompileReport(unit_ok=False, everything=MODULE_ABSENT)
    return CompiledCell(compiled=compiled, report=report, folder=folder)


def make_uncompilable_cell(key: CellKey, folder: Path, code: EditedCode) -> CompiledCell:
    """Return the cell for edited main code that does not compile: its tests cannot run.

    Its `code_failure` is the error.
    """
    bare = make_absent_cell(key, folder)
    compiled = replace(bare.compiled, code_failure=code.failure, cpu_seconds=code.cpu_seconds)
    report = replace(bare.report, everything=code.failure)
    return replace(bare, compiled=compiled, report=report)
