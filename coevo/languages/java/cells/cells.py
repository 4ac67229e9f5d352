"""Compile test trees against code, each once; those with edits are kept while they are in use."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from coevo.languages.cells import BorrowedSettings, CellEdits, CellKey, CheckedSource, CompiledTests
from coevo.languages.java.building.build_outputs import BuildOutput, link_resources
from coevo.languages.java.building.compilation import (
    CompileReport,
    add_unread_classes,
    is_out_of_space,
    parse_compile_report,
    was_compiled_alone,
)
from coevo.languages.java.building.report import JavaModule, list_javac_options
from coevo.languages.java.building.session import (
    TOO_LONG,
    JvmAnswer,
    JvmDeath,
    JvmSession,
    get_cpu_seconds,
)
from coevo.languages.java.building.settings import (
    JavacSettings,
    list_partial_arguments,
    make_compile_request,
)
from coevo.languages.java.cells.compiled_cells import (
    CompiledCell,
    ReactorRunners,
    find_edited_resources,
    find_roots_of_edited_sources,
    iterate_with_dependencies,
    list_test_class_siblings,
    make_absent_cell,
    make_sibling_key,
    make_uncompilable_cell,
)
from coevo.languages.java.cells.edited_code import CodeEditor, EditedCode
from coevo.languages.java.cells.edited_files import (
    Files,
    is_at_or_below,
    write_files_skipping_deleted,
)
from coevo.languages.java.cells.partial_compilation import (
    JavaTestSources,
    PartialCompilation,
    load_test_sources,
    plan_partial_compilation,
)
from coevo.languages.java.revisions.failures import name_test_class
from coevo.languages.java.revisions.junits import apply_borrowed_settings
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.model.records import compute_short_hash
from coevo.storage.beneath import join_beneath

# The number of edited cells that are kept. Each holds the class files of a whole test tree; a
# removed one is compiled again when it is needed.
MOST_EDITED_CELLS = 6

NO_EDITS = EditedCode()


class JavaCells:
    """The compiled cells of one thread and one JDK, made on demand and kept while in use."""

    def __init__(self, builds: SharedBuilds, session: JvmSession) -> None:
        self._builds, self._session = builds, session
        self._cells: dict[CellKey, CompiledCell] = {}
        self._codes: dict[tuple[str, Files], EditedCode] = {}
        self._ends: frozenset[str] | None = None  # revisions of the current pair
        self._test_sources: dict[
            tuple[str, str], JavaTestSources | None
        ] = {}  # by revision, module
        self.reactor = ReactorRunners(self._get_or_compile, builds.get_output)

    def get_or_compile_cell(self, key: CellKey) -> CompiledCell:
        """Return the cell of a key; compile it unless it is kept. May remove old edited cells."""
        cell = self._get_or_compile(key)
        self._remove_oldest_cells()
        return cell

    def _get_or_compile(self, key: CellKey) -> CompiledCell:
        if key not in self._cells:
            cell = self._compile_cell(key) if key.edits is None else self._compile_edited_cell(key)
            self._cells[key] = cell
        else:
            self._cells[key] = self._cells.pop(key)  # mark as used most recently
        return self._cells[key]

    def find_module(
        self, code_rev: str, module: str, borrowed: BorrowedSettings | None
    ) -> JavaModule | None:
        """Return a module of the code, with `borrowed` settings applied if given.

        Returns None if the code lacks the module. If the revision to borrow from lacks it, the
        settings stay as they are.
        """
        known = self._builds.get_output(code_rev).modules.get(module)
        donor = self._builds.get_output(borrowed.rev).modules.get(module) if borrowed else None
        return (
            apply_borrowed_settings(known, donor, borrowed.scope)
            if known and donor and borrowed
            else known
        )

    def remove_edited_and_other_cells(self, kept_revs: Collection[str]) -> None:
        """Remove all edited cells, and the cells with a revision that is not in `revs`.

        `revs` are the two ends of the current pair. Does nothing if they are the same as at the
        last call.
        """
        if self._ends == frozenset(kept_revs):
            return
        self._ends = frozenset(kept_revs)
        self._test_sources.clear()
        for key in tuple(self._cells):
            if key.edits is not None or not {key.tests_rev, key.code_rev} <= self._ends:
                self._remove_cell(key)
        self._remove_edited_codes(set(self._codes))

    def check_main_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[CheckedSource, ...]:
        """Compile variants of one source file, each by itself; see `CodeEditor.check_variants`."""
        folder = self._builds.locate_folder_creating_parents(
            'checks', compute_short_hash(str(id(self)), code_rev, path)
        )
        try:
            return self._make_editor_in_empty_folder(code_rev, folder).check_variants(
                module, path, variants
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    # -- compiling ---------------------------------------------------------------------------------

    def _compile_cell(self, key: CellKey, code_edits: EditedCode = NO_EDITS) -> CompiledCell:
        code, folder = self._builds.get_output(key.code_rev), self._get_folder(key)
        known = self.find_module(key.code_rev, key.module, key.borrowed)
        if known is None:
            return make_absent_cell(key, folder)
        below = tuple(
            self._get_or_compile(make_sibling_key(key, name))
            for name in list_test_class_siblings(known, code)
        )
        report, cpu_seconds = self._compile_tests(key, known, below, code_edits)
        report = add_unread_classes(report, self._list_unread_classes(key))
        compiled = CompiledTests(
            tests_rev=key.tests_rev,
            code_rev=key.code_rev,
            module=key.module,
            unit_ok=report.unit_ok and all(cell.compiled.unit_ok for cell in below),
            cpu_seconds=cpu_seconds,
            borrowed=key.borrowed,
            edits=key.edits,
            broken=tuple(
                sorted(
                    {
                        *report.broken_names,
                        *(name for dependency in below for name in dependency.compiled.broken),
                    }
                )
            ),
        )
        return CompiledCell(compiled=compiled, report=report, folder=folder, below=below)

    def _compile_tests(
        self,
        key: CellKey,
        known: JavaModule,
        below: Sequence[CompiledCell],
        code_edits: EditedCode,
    ) -> tuple[CompileReport, float]:
        """Compile the test classes of a cell into its folder; return the report and CPU seconds."""
        code, tests = self._builds.get_output(key.code_rev), self._builds.get_output(key.tests_rev)
        locate = self._builds.launcher.locate_in_sandbox
        layer = self._get_layer_folder(key)
        roots = [
            *tests.list_test_source_roots(key.module),
            *find_roots_of_edited_sources(layer, tests, code, key.module),
        ]
        javac = self._make_javac_settings(key, known, below, code_edits)
        request = make_compile_request([locate(root) for root in roots], javac)
        output = self._get_folder(key) / key.module / known.test_classes
        partial = self._plan_partial_compilation(key, below)
        if partial is None:
            answer = self._ask_with_retry(request, output)
            report, cpu_seconds = parse_compile_report(answer), get_cpu_seconds(answer)
        else:
            base_classes = partial.base.folder / key.module / known.test_classes
            report, cpu_seconds = self._compile_partially(
                key, partial, base_classes, request, output
            )
        self._lay_out_resources(key, tests, output)
        return report, cpu_seconds

    def _compile_partially(
        self,
        key: CellKey,
        partial: PartialCompilation,
        base_classes: Path,
        request: Sequence[str],
        output: Path,
    ) -> tuple[CompileReport, float]:
        """Have the changed tests of a cell compiled alone, or all if the compiler has to.

        Returns the report and CPU seconds.

        base_classes  the folder of the base's test classes
        request       the request to compile the whole test tree
        output        the folder of the cell's test classes
        """
        if not partial.sources:  # the tests are those of the base
            shutil.rmtree(output, ignore_errors=True)
            output.mkdir(parents=True)
            partial.link_kept_classes(base_classes, output)
            return partial.base.report, 0.0
        locate, own_folder = self._builds.launcher.locate_in_sandbox, self._get_partial_folder(key)
        try:
            sources, classes = partial.lay_out(own_folder, base_classes)
            answer = self._ask_with_retry(
                (*request, *list_partial_arguments(locate(sources), locate(classes))), output
            )
            report = parse_compile_report(answer)
            if was_compiled_alone(answer):
                partial.link_kept_classes(classes, output)
                report = partial.complete_report(report)
            return report, get_cpu_seconds(answer)
        finally:
            shutil.rmtree(own_folder, ignore_errors=True)

    def _make_javac_settings(
        self,
        key: CellKey,
        known: JavaModule,
        below: Sequence[CompiledCell],
        code_edits: EditedCode,
    ) -> JavacSettings:
        """Return javac's settings for a module's tests, which leave the edited files out."""
        code, tests = self._builds.get_output(key.code_rev), self._builds.get_output(key.tests_rev)
        launcher = self._builds.launcher
        changed = key.edits.tests if key.edits else ()
        siblings = [dependency for cell in below for dependency in cell.test_class_folders]
        places = launcher.list_compile_class_path(known, code, siblings, code_edits.classes)
        return JavacSettings(
            class_path=tuple(places),
            options=tuple(
                list_javac_options(
                    known.compiler,
                    launcher.toolchain,
                    lambda path: launcher.locate_in_sandbox(code.code / path),
                )
            ),
            without=tuple(launcher.locate_in_sandbox(tests.tests / path) for path, _ in changed),
        )

    def _plan_partial_compilation(
        self, key: CellKey, below: Sequence[CompiledCell]
    ) -> PartialCompilation | None:
        """Return how to compile only some tests of a cell; None if all must be compiled.

        The base is that of the kept cells with the same code and the same tests of other modules
        on the class path whose test sources differ least.
        """
        after = self._get_test_sources(key)
        if after is None:
            return None
        candidates = []
        for base_key, base in self._cells.items():
            before = self._get_test_sources(base_key) if _share_code(key, base_key) else None
            folders = [cell.folder for cell in base.below]
            if before is None or [cell.folder for cell in below] != folders:
                continue
            if before.roots == after.roots:
                candidates.append((base, before, before.list_differences(after)))
        for base, before, changed in sorted(candidates, key=lambda candidate: len(candidate[2])):
            plan = plan_partial_compilation(base, before, changed)
            if plan is not None:
                return plan
        return None

    def _get_test_sources(self, key: CellKey) -> JavaTestSources | None:
        """Return the test sources of a cell's module with the cell's edits.

        None if they are not known, as if some are too complex to read, or if code is edited.
        """
        if key.edits is not None and key.edits.code:
            return None
        place = key.tests_rev, key.module
        if place not in self._test_sources:
            unread = self._builds.list_too_nested_tests(key.tests_rev)
            output = self._builds.get_output(key.tests_rev)
            self._test_sources[place] = None if unread else load_test_sources(output, key.module)
        sources = self._test_sources[place]
        return sources.apply_edits(key.edits.tests) if sources and key.edits else sources

    def _list_unread_classes(self, key: CellKey) -> list[str]:
        """Return a module's test classes whose files were left out as unread and are not edited."""
        edited = {path for path, _ in key.edits.tests} if key.edits else set()
        paths = self._builds.list_too_nested_tests(key.tests_rev) - edited
        return [name_test_class(path) for path in sorted(paths) if is_at_or_below(path, key.module)]

    def _ask_with_retry(self, request: Sequence[str], output: Path) -> JvmAnswer | JvmDeath:
        answer = self._session.ask(request, output)
        if isinstance(answer, JvmDeath) and answer.reason in TOO_LONG:
            return answer
        if isinstance(answer, JvmDeath) or is_out_of_space(answer):
            self._session.close()  # earlier builds may have filled the disk of the sandbox
            answer = self._session.ask(request, output)
        return answer

    def _lay_out_resources(self, key: CellKey, tests: BuildOutput, output: Path) -> None:
        """Link a module's test resources into `output`, and write the edited ones there.

        Edited resources are written unprocessed in place of those that Maven processed.
        """
        donor = tests.modules.get(key.module)
        edited = dict(find_edited_resources(key, donor))
        write_files_skipping_deleted(output, edited.items())
        resources = tests.find_test_resources(key.module)
        if resources is not None:
            compiled_by_maven = donor is not None and donor.tests_compiled
            link_resources(resources, output, with_class_files=not compiled_by_maven)
        for name, content in edited.items():
            if content is None:
                join_beneath(output, name).remove()

    # -- edits -------------------------------------------------------------------------------------

    def _compile_edited_cell(self, key: CellKey) -> CompiledCell:
        """Return the cell of a key with edits; reuse the classes of an equivalent cell if possible.

        If the edited code does not compile, the cell says so and has no classes.
        """
        assert key.edits is not None, 'the cell has edits'
        code = self._get_edited_code(key.code_rev, key.edits.code)
        if code.failure is not None:
            return make_uncompilable_cell(key, self._get_folder(key), code)
        layer = self._get_layer_folder(key)
        write_files_skipping_deleted(layer, key.edits.tests)
        bare = self._find_equivalent_key(key, code)
        cell = self._compile_cell(key, code) if bare is None else self._get_or_compile(bare)
        compiled = replace(
            cell.compiled,
            edits=key.edits,
            cpu_seconds=code.cpu_seconds + (cell.compiled.cpu_seconds if bare is None else 0.0),
        )
        removed_paths = tuple(path for path, content in key.edits.tests if content is None)
        return replace(
            cell,
            compiled=compiled,
            edited=(*code.layers, layer),
            sources=code.sources,
            removed=(*code.removed, *removed_paths),
            removed_sources=code.removed_sources,
        )

    def _find_equivalent_key(self, key: CellKey, code: EditedCode) -> CellKey | None:
        """Return the key of a cell with the same test classes; None if this cell must be compiled.

        There is none if edited code changes what other sources see of it. Else, if no test of the
        module is edited, it is the key without edits. Else it is the key with the test edits alone,
        so that these are compiled once for all edits of the code.
        """
        assert key.edits is not None, 'the cell has edits'
        if not code.outside_same:
            return None
        known = self.find_module(key.code_rev, key.module, key.borrowed)
        names = [key.module]
        if known is not None:
            names += list_test_class_siblings(known, self._builds.get_output(key.code_rev))
        if not any(is_at_or_below(path, name) for path, _ in key.edits.tests for name in names):
            return replace(key, edits=None)
        return replace(key, edits=CellEdits(tests=key.edits.tests)) if key.edits.code else None

    def _get_edited_code(self, code_rev: str, files: Files) -> EditedCode:
        if not files:
            return NO_EDITS
        key = (code_rev, files)
        if key not in self._codes:
            self._codes[key] = self._make_editor_in_empty_folder(
                code_rev, self._get_code_folder(key)
            ).compile_edits(files)
            return self._codes[key]
        return replace(self._codes[key], cpu_seconds=0.0)

    def _make_editor_in_empty_folder(self, code_rev: str, folder: Path) -> CodeEditor:
        shutil.rmtree(folder, ignore_errors=True)
        output = self._builds.get_output(code_rev)
        others = [
            self._builds.get_output(rev) for rev in sorted((self._ends or frozenset()) - {code_rev})
        ]
        return CodeEditor(self._builds.launcher, self._session, output, folder, others)

    # -- folders -----------------------------------------------------------------------------------

    def _remove_oldest_cells(self) -> None:
        """Remove the least recently used edited cells, so that MOST_EDITED_CELLS remain.

        A cell is kept if one of these uses its class files.
        """
        edited = [key for key in self._cells if key.edits is not None]
        if len(edited) <= MOST_EDITED_CELLS:
            return
        recent_keys = edited[-MOST_EDITED_CELLS:]
        used = {
            cell.folder
            for key in recent_keys
            for cell in iterate_with_dependencies(self._cells[key])
        }
        for key in edited[:-MOST_EDITED_CELLS]:
            if self._cells[key].folder not in used or self._cells[key].folder != self._get_folder(
                key
            ):
                self._remove_cell(key)
        layers = {layer for cell in self._cells.values() for layer in cell.edited}
        self._remove_edited_codes(
            {key for key, code in self._codes.items() if not layers.intersection(code.layers)}
        )

    def _remove_cell(self, key: CellKey) -> None:
        del self._cells[key]
        for folder in (self._get_folder(key), self._get_layer_folder(key)):
            shutil.rmtree(folder, ignore_errors=True)

    def _remove_edited_codes(self, keys: Collection[tuple[str, Files]]) -> None:
        for key in keys:
            del self._codes[key]
            shutil.rmtree(self._get_code_folder(key), ignore_errors=True)

    def _get_folder(self, key: CellKey) -> Path:
        return self._builds.locate_folder_creating_parents('cells', self._make_name(key))

    def _get_layer_folder(self, key: CellKey) -> Path:
        return self._builds.locate_folder_creating_parents('edits', self._make_name(key))

    def _get_partial_folder(self, key: CellKey) -> Path:
        return self._builds.locate_folder_creating_parents('partial', self._make_name(key))

    def _get_code_folder(self, key: tuple[str, Files]) -> Path:
        return self._builds.locate_folder_creating_parents(
            'code-edits', compute_short_hash(str(id(self)), repr(key))
        )

    def _make_name(self, key: CellKey) -> str:
        return compute_short_hash(str(id(self)), repr(key))


def _share_code(key: CellKey, other: CellKey) -> bool:
    """Return whether two cells differ in their tests alone."""
    return replace(key, tests_rev=other.tests_rev, edits=other.edits) == other
