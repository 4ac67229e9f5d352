"""Test trees compiled against code, each once; those with edits for as long as they are in use."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from coevo.languages.cells import BorrowedSettings
from coevo.languages.cells import Checked
from coevo.languages.cells import Compiled
from coevo.languages.cells import Edits
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.build_outputs import link_resources
from coevo.languages.java.building.compilation import compile_report
from coevo.languages.java.building.compilation import has_no_room
from coevo.languages.java.building.compilation import without
from coevo.languages.java.building.javac_options import javac_options
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.building.session import TOO_LONG
from coevo.languages.java.building.session import Answer
from coevo.languages.java.building.session import Died
from coevo.languages.java.building.session import Session
from coevo.languages.java.building.settings import Javac
from coevo.languages.java.building.settings import compile_request
from coevo.languages.java.cells.compiled_cells import CompiledCell
from coevo.languages.java.cells.compiled_cells import JavaCellKey
from coevo.languages.java.cells.compiled_cells import absent
from coevo.languages.java.cells.compiled_cells import beside
from coevo.languages.java.cells.compiled_cells import edited_resources
from coevo.languages.java.cells.compiled_cells import edited_roots
from coevo.languages.java.cells.compiled_cells import test_jars
from coevo.languages.java.cells.compiled_cells import uncompilable
from coevo.languages.java.cells.compiled_cells import with_below
from coevo.languages.java.cells.edited_code import CodeEditor
from coevo.languages.java.cells.edited_code import EditedCode
from coevo.languages.java.cells.edited_files import Files
from coevo.languages.java.cells.edited_files import is_below
from coevo.languages.java.cells.edited_files import lay
from coevo.languages.java.revisions.borrowed_settings import with_borrowed
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.revisions.unread_files import class_named
from coevo.model.records import short_hash
from coevo.storage.beneath import beneath

# Each has the class files of a whole test tree. What was removed is compiled again when asked for.
MOST_EDITED_CELLS = 6

NO_EDITS = EditedCode()


class JavaCells:
    """The cells of one thread, compiled in its session."""

    def __init__(self, builds: SharedBuilds, session: Session) -> None:
        self._builds, self._session = builds, session
        self._cells: dict[JavaCellKey, CompiledCell] = {}
        self._codes: dict[tuple[str, Files], EditedCode] = {}
        self._ends: frozenset[str] | None = None  # of the pair in hand

    def get(self, key: JavaCellKey) -> CompiledCell:
        cell = self._get(key)
        self._sweep()
        return cell

    def _get(self, key: JavaCellKey) -> CompiledCell:
        if key not in self._cells:
            cell = self._compile(key) if key.edits is None else self._compile_edited(key)
            self._cells[key] = cell
        else:
            self._cells[key] = self._cells.pop(key)  # used last
        return self._cells[key]

    def of(self, compiled: Compiled) -> CompiledCell:
        return self.get(
            JavaCellKey(
                tests_rev=compiled.tests_rev,
                code_rev=compiled.code_rev,
                module=compiled.module,
                borrowed=compiled.borrowed,
                edits=compiled.edits,
            )
        )

    def module(
        self, code_rev: str, module: str, borrowed: BorrowedSettings | None
    ) -> JavaModule | None:
        """A module as its cells see it; None where the code has none."""
        known = self._builds.output(code_rev).modules.get(module)
        donor = self._builds.output(borrowed.rev).modules.get(module) if borrowed else None
        return (
            with_borrowed(known, donor, borrowed.scope) if known and donor and borrowed else known
        )

    def keep_only(self, revs: Collection[str]) -> None:
        """Remove compiled cells of any other revision than those of the pair in hand."""
        if self._ends == frozenset(revs):
            return
        self._ends = frozenset(revs)
        for key in tuple(self._cells):
            if key.edits is not None or not {key.tests_rev, key.code_rev} <= self._ends:
                self._remove(key)
        self._remove_codes(set(self._codes))

    def check_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[Checked, ...]:
        folder = self._builds.folder('checks', short_hash(str(id(self)), code_rev, path))
        try:
            return self._editor(code_rev, folder).check(module, path, variants)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    # -- compiling ---------------------------------------------------------------------------------

    def _compile(self, key: JavaCellKey, code_edits: EditedCode = NO_EDITS) -> CompiledCell:
        code, tests = self._builds.output(key.code_rev), self._builds.output(key.tests_rev)
        folder = self._folder(key)
        known = self.module(key.code_rev, key.module, key.borrowed)
        if known is None:
            return absent(key, folder)
        below = tuple(self._get(beside(key, name)) for name in test_jars(known, code))
        changed = key.edits.tests if key.edits else ()
        output = folder / key.module / known.test_classes
        launcher = self._builds.launcher
        siblings = [one for cell in below for one in cell.folders]
        places = launcher.compile_places(known, code, siblings, code_edits.classes)
        javac = Javac(
            class_path=tuple(places),
            options=tuple(javac_options(known.compiler, launcher.toolchain)),
            without=tuple(launcher.inside(tests.tests / path) for path, _ in changed),
        )
        roots = [
            *tests.source_roots(key.module),
            *edited_roots(self._layer(key), tests, code, key.module),
        ]
        answer = self._ask(
            compile_request([launcher.inside(root) for root in roots], javac), output
        )
        self._lay_resources(key, tests, output)
        report = without(compile_report(answer), self._unread(key))
        compiled = Compiled(
            tests_rev=key.tests_rev,
            code_rev=key.code_rev,
            module=key.module,
            unit_ok=report.unit_ok and all(cell.compiled.unit_ok for cell in below),
            cpu_seconds=0.0 if isinstance(answer, Died) else answer.cpu_seconds,
            borrowed=key.borrowed,
            edits=key.edits,
            broken=tuple(
                sorted({*report.broken, *(name for one in below for name in one.compiled.broken)})
            ),
        )
        return CompiledCell(compiled=compiled, report=report, folder=folder, below=below)

    def _unread(self, key: JavaCellKey) -> list[str]:
        """Classes of the test files that were left out of the tree, but for those that are edited."""
        edited = {path for path, _ in key.edits.tests} if key.edits else set()
        paths = self._builds.unread(key.tests_rev) - edited
        return [class_named(path) for path in sorted(paths) if is_below(path, key.module)]

    def _ask(self, request: Sequence[str], output: Path) -> Answer | Died:
        answer = self._session.ask(request, output)
        if isinstance(answer, Died) and answer.reason in TOO_LONG:
            return answer
        if isinstance(answer, Died) or has_no_room(answer):
            self._session.close()  # earlier builds may have filled its disk
            answer = self._session.ask(request, output)
        return answer

    def _lay_resources(self, key: JavaCellKey, tests: BuildOutput, output: Path) -> None:
        """A module's test resources, the edited ones as they are instead of what Maven made."""
        donor = tests.modules.get(key.module)
        edited = dict(edited_resources(key, donor))
        lay(output, edited.items())
        resources = tests.test_resources(key.module)
        if resources is not None:
            compiled_by_maven = donor is not None and donor.tests_compiled
            link_resources(resources, output, classes=not compiled_by_maven)
        for name, content in edited.items():
            if content is None:
                beneath(output, name).remove()

    # -- edits -------------------------------------------------------------------------------------

    def _compile_edited(self, key: JavaCellKey) -> CompiledCell:
        """A cell of edits; where they change nothing for its compiler, the classes without them."""
        assert key.edits is not None, 'the cell has edits'
        code = self._edited_code(key.code_rev, key.edits.code)
        if code.failure is not None:
            return uncompilable(key, self._folder(key), code)
        layer = self._layer(key)
        lay(layer, key.edits.tests)
        bare = self._compile_key(key, code)
        cell = self._compile(key, code) if bare is None else self._get(bare)
        compiled = replace(
            cell.compiled,
            edits=key.edits,
            cpu_seconds=code.cpu_seconds + (cell.compiled.cpu_seconds if bare is None else 0.0),
        )
        gone = tuple(path for path, content in key.edits.tests if content is None)
        return replace(
            cell,
            compiled=compiled,
            edited=(*code.layers, layer),
            sources=code.sources,
            removed=(*code.removed, *gone),
            removed_sources=code.removed_sources,
        )

    def _compile_key(self, key: JavaCellKey, code: EditedCode) -> JavaCellKey | None:
        """The key of a cell that has the same classes; None where it has to be compiled.

        Edited tests are compiled once for all edits of the code that show them the same.
        """
        assert key.edits is not None, 'the cell has edits'
        if not code.outside_same:
            return None
        known = self.module(key.code_rev, key.module, key.borrowed)
        names = [key.module]
        if known is not None:
            names += test_jars(known, self._builds.output(key.code_rev))
        if not any(is_below(path, name) for path, _ in key.edits.tests for name in names):
            return replace(key, edits=None)
        return replace(key, edits=Edits(tests=key.edits.tests)) if key.edits.code else None

    def _edited_code(self, code_rev: str, files: Files) -> EditedCode:
        if not files:
            return NO_EDITS
        key = (code_rev, files)
        if key not in self._codes:
            self._codes[key] = self._editor(code_rev, self._code_folder(key)).edit(files)
            return self._codes[key]
        return replace(self._codes[key], cpu_seconds=0.0)

    def _editor(self, code_rev: str, folder: Path) -> CodeEditor:
        shutil.rmtree(folder, ignore_errors=True)
        output = self._builds.output(code_rev)
        others = [
            self._builds.output(rev) for rev in sorted((self._ends or frozenset()) - {code_rev})
        ]
        return CodeEditor(self._builds.launcher, self._session, output, folder, others)

    # -- folders -----------------------------------------------------------------------------------

    def _sweep(self) -> None:
        """Remove the edited cells that were used longest ago, but for what others are built on."""
        edited = [key for key in self._cells if key.edits is not None]
        if len(edited) <= MOST_EDITED_CELLS:
            return
        kept = edited[-MOST_EDITED_CELLS:]
        used = {cell.folder for key in kept for cell in with_below(self._cells[key])}
        for key in edited[:-MOST_EDITED_CELLS]:
            if self._cells[key].folder not in used or self._cells[key].folder != self._folder(key):
                self._remove(key)
        layers = {layer for cell in self._cells.values() for layer in cell.edited}
        self._remove_codes(
            {key for key, code in self._codes.items() if not layers.intersection(code.layers)}
        )

    def _remove(self, key: JavaCellKey) -> None:
        del self._cells[key]
        for folder in (self._folder(key), self._layer(key)):
            shutil.rmtree(folder, ignore_errors=True)

    def _remove_codes(self, keys: Collection[tuple[str, Files]]) -> None:
        for key in keys:
            del self._codes[key]
            shutil.rmtree(self._code_folder(key), ignore_errors=True)

    def _folder(self, key: JavaCellKey) -> Path:
        return self._builds.folder('cells', self._name(key))

    def _layer(self, key: JavaCellKey) -> Path:
        return self._builds.folder('edits', self._name(key))

    def _code_folder(self, key: tuple[str, Files]) -> Path:
        return self._builds.folder('code-edits', short_hash(str(id(self)), repr(key)))

    def _name(self, key: JavaCellKey) -> str:
        return short_hash(str(id(self)), repr(key))
