"""Compiled cells on disk, and the classes that run a test method in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from coevo.languages.cells import CellEdits, CellKey, CompiledTests
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.compilation import CompileReport, JavaClass
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.cells.edited_code import EditedCode
from coevo.languages.java.cells.edited_files import is_at_or_below
from coevo.languages.verdicts import Verdict, VerdictBatch
from coevo.model.words import Outcome

# Compiled cells on disk, and which edits concern which module.

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


# Find the classes that run a test method, over all modules of a build.
#
# A method is run by every concrete class that has it: its own class or a subclass, in its own
# module or in another one that has its module's test classes on its class path. Methods of a nested
# class are also run by subclasses of a class around it. The worst result of all runners counts, as
# it does for the project's own command.

_WORST_FIRST = tuple(Outcome)

# Source folders whose words are kept; adjacent pairs share a revision.
_MOST_ROOTS = 64

_WORD = re.compile(rb'[A-Za-z_$][\w$]*')


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRunners:
    """The classes of one cell that run a test method, see `CompileReport.find_runners`."""

    cell: CompiledCell
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerTrouble:
    """The reason why a class of another module cannot run a test: `signature` is the error.

    `unbuildable` says whether code is not built, in contrast to tests that do not compile.
    """

    signature: str
    unbuildable: bool


class ReactorRunners:
    """Finds the classes that run a test method in all modules of a build.

    get_cell    returns the cell of a key, compiled if need be
    get_output  returns a built revision
    """

    def __init__(
        self,
        get_cell: Callable[[CellKey], CompiledCell],
        get_output: Callable[[str], BuildOutput],
    ) -> None:
        self._get_cell, self._get_output = get_cell, get_output
        self._words: dict[Path, frozenset[bytes]] = {}

    def find_runners(self, key: CellKey, test_class: str) -> tuple[ModuleRunners, ...]:
        """Return the classes that run a test class's methods, the key's own module first.

        Another module counts if it has this module's test classes on its class path, and its own
        test sources name the class or a class that inherits from it. Modules without a runner are
        left out. May compile the cells of other modules.
        """
        own = self._get_cell(key)
        module_runners = [ModuleRunners(cell=own, classes=own.report.find_runners(test_class))]
        for cell in self._iterate_cells_naming_classes(
            key, own.report.find_enclosing_and_derived_classes(test_class)
        ):
            report = make_report_with_dependencies(cell)
            module_runners.append(ModuleRunners(cell=cell, classes=report.find_runners(test_class)))
        return tuple(runners for runners in module_runners if runners.classes)

    def find_other_module_error(self, key: CellKey, test_class: str) -> RunnerTrouble | None:
        """Return the first error that stops a class of another module from running the tests.

        Returns None if there is none. The classes are those that run the tests on the tests' own
        revision: a class that does not compile against other code would not be found there.
        """
        home = replace(key, code_rev=key.tests_rev, edits=None, borrowed=None)
        if not self._list_modules_using_tests(home):
            return None
        for runners in self.find_runners(home, test_class):
            module = runners.cell.compiled.module
            if module == key.module:
                continue
            code = self._get_output(key.code_rev).modules.get(module)
            if code is not None and code.failure is not None:
                return RunnerTrouble(signature=code.failure, unbuildable=True)
            cell = self._get_cell(replace(key, module=module, borrowed=None))
            error = cell.report.find_first_runner_error(
                runners.classes, runners.cell.report.classes
            )
            if error is not None:
                failed = cell.compiled.code_failure is not None
                return RunnerTrouble(signature=error, unbuildable=failed)
        return None

    def _iterate_cells_naming_classes(
        self, key: CellKey, heirs: Sequence[str]
    ) -> Iterator[CompiledCell]:
        names = {name.rpartition('.')[2].rpartition('$')[2].encode() for name in heirs}
        for module in self._list_modules_using_tests(key):
            if not names.isdisjoint(self._list_test_source_words(key.tests_rev, module)):
                yield self._get_cell(replace(key, module=module, borrowed=None))

    def _list_modules_using_tests(self, key: CellKey) -> list[str]:
        """Return the other modules that have this module's test classes on their class path."""
        return [
            name
            for name, module in sorted(self._get_output(key.code_rev).modules.items())
            if name != key.module
            and any(entry.tests and entry.sibling == key.module for entry in module.class_path)
        ]

    def _list_test_source_words(self, rev: str, module: str) -> frozenset[bytes]:
        """Return all identifiers and keywords in a module's test sources, also in comments."""
        words: set[bytes] = set()
        for root in self._get_output(rev).list_test_source_roots(module):
            if root not in self._words:
                while len(self._words) >= _MOST_ROOTS:
                    del self._words[next(iter(self._words))]
                self._words[root] = frozenset(
                    word for file in root.rglob('*.java') for word in _list_words_of_file(file)
                )
            words |= self._words[root]
        return frozenset(words)


def _list_words_of_file(file: Path) -> Sequence[bytes]:
    if file.is_symlink() or not file.is_file():
        return ()
    return _WORD.findall(file.read_bytes())


def make_report_with_dependencies(cell: CompiledCell) -> CompileReport:
    """Return a cell's report with the classes of the cells that it depends on in its `below`."""
    known: dict[str, JavaClass] = {}
    for dependency in iterate_with_dependencies(cell):
        known = {**dependency.report.classes, **known}
    return replace(cell.report, below=_subtract(known, cell.report.classes))


def _subtract(
    known: Mapping[str, JavaClass], own: Mapping[str, JavaClass]
) -> Mapping[str, JavaClass]:
    return {name: known[name] for name in known.keys() - own.keys()}


def merge_worst_verdicts(batches: Sequence[VerdictBatch], count: int) -> VerdictBatch:
    """Return one batch with the worst verdict of each of `count` methods over all modules' batches.

    `missing` in a module does not count if another module has a result. `infra` in one module
    decides. Else a method has no verdict (None) if it has none in one of the modules. CPU seconds
    are added up.
    """
    verdicts: list[Verdict | None] = []
    for index in range(count):
        in_modules = [batch.verdicts[index] for batch in batches]
        heard = [verdict for verdict in in_modules if verdict is not None]
        results = [verdict for verdict in heard if verdict.outcome is not Outcome.MISSING]
        trouble = [verdict for verdict in results if verdict.outcome is Outcome.INFRA]
        if trouble:
            verdicts.append(trouble[0])
        elif len(heard) < len(in_modules):
            verdicts.append(None)
        elif not results:
            verdicts.append(Verdict(outcome=Outcome.MISSING))
        else:
            worst = min(results, key=lambda verdict: _WORST_FIRST.index(verdict.outcome))
            seconds = sum(verdict.cpu_seconds for verdict in results)
            doubts = (verdict.tampered for verdict in results if verdict.tampered)
            verdicts.append(replace(worst, cpu_seconds=seconds, tampered=next(doubts, None)))
    return VerdictBatch(
        verdicts=tuple(verdicts),
        cpu_seconds=sum(batch.cpu_seconds for batch in batches),
        output=''.join(batch.output for batch in batches),
    )
