"""Runs tests in the cells of one pair, and once as the project's own developers do."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import ceil

from coevo.languages.cells import CellKey, CompiledTests, SettingsScope
from coevo.languages.core.test_runs import PassingTimes
from coevo.languages.golang.cells import BinaryVariant, GoBinary, GoCells
from coevo.languages.golang.channel import make_test_key, make_verdicts
from coevo.languages.golang.ends import GoBuiltEnd
from coevo.languages.golang.launch import MODULE_FLAGS, OTHER_PROCESSORS, PROCESSORS
from coevo.languages.golang.projects import GoProject
from coevo.languages.golang.reading.trees import open_tree
from coevo.languages.golang.runner import GoCellLayout, GoRunResult, GoTestRun
from coevo.languages.verdicts import ProjectRun, RunConditions
from coevo.model.records import TestMethod
from coevo.model.words import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class GoPairCells:
    """The compiled cells of one pair, with its two ends.

    all  the cells of the thread, including those of other pairs
    """

    ends: tuple[GoBuiltEnd, GoBuiltEnd]
    all: GoCells

    def find_end(self, rev: str) -> GoBuiltEnd:
        """Return the end of the pair that is a revision; it must be one of the two."""
        return next(end for end in self.ends if end.build.rev == rev)

    def find_project(self, key: CellKey) -> GoProject:
        """Return the project of a cell's code, with the go.mod and go.sum that the cell borrows.

        Unless it borrows all settings, these are the project's own: test libraries cannot be
        borrowed alone.
        """
        own = self.find_end(key.code_rev).project
        assert own is not None, 'a revision is built before it is used'
        if key.borrowed is None or key.borrowed.scope is SettingsScope.TEST_LIBRARIES:
            return own
        other = self.find_end(key.borrowed.rev).project
        return own if other is None else replace(own, files=other.files)

    def find_module_import_path(self, key: CellKey) -> str:
        """Return the import path of the Go module that contains a cell's folder."""
        project = self.find_project(key)
        return project.import_path_by_folder[project.find_module_folder(key.module)]

    def find_import_path(self, key: CellKey) -> str:
        """Return the import path of the package in a cell's folder."""
        below = posixpath.relpath(key.module, self.find_project(key).find_module_folder(key.module))
        return posixpath.normpath(f'{self.find_module_import_path(key)}/{below}')

    def compile_binary(self, key: CellKey, variant: BinaryVariant | None = None) -> GoBinary:
        """Return the test binary of a cell, compiled now or before; a plain one by default."""
        return self.all.compile_binary(key, self.find_project(key), variant or BinaryVariant())


@dataclass(frozen=True, slots=True, kw_only=True)
class GoPairRuns:
    """Runs the tests of a pair, each in a process with its limits and variables.

    passing  the longest times of tests that have passed
    alone    the number of times that a test ran alone in a cell without edits
    """

    cells: GoPairCells
    passing: PassingTimes = field(default_factory=PassingTimes)
    alone: dict[tuple[CellKey, TestMethod], int] = field(default_factory=dict)

    def run_methods(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        conditions: RunConditions,
        variant: BinaryVariant | None = None,
        *,
        files: tuple[str, ...] | None = None,
        lines: Mapping[str, Collection[int]] | None = None,
    ) -> GoRunResult:
        """Run tests in one process with the limits and the clock that the conditions require.

        The binary is compiled first if need be. A session is used if neither edits nor the
        conditions could reveal to a test which run it is in.

        variant  build options of the binary
        files    the files whose executed lines are reported; None for no report
        lines    lines to watch, by path
        """
        key = compiled.key
        project = self.cells.find_project(key)
        clock = make_clock_variables(conditions.clock)
        binary = self.cells.compile_binary(
            key, replace(variant or BinaryVariant(), clock=bool(clock))
        )
        assert binary.path is not None, 'what does not compile is not run'
        tree = self.cells.all.pack_tree(key, project, conditions.sources)
        run = GoTestRun(
            ground=GoCellLayout(
                prepared=self.cells.all.compiler.prepared,
                tree=tree,
                stand_ins=self.cells.all.get_stand_ins(tree),
                packages=self.cells.all.find_standard_library_if_needed(tree),
                binary=(binary.path, binary.name),
                root=project.root_in_sandbox,
                folder=compiled.module,
            ),
            limits={
                make_test_key(method): conditions.cpu_limit or self.passing.choose_cpu_limit(method)
                for method in methods
            },
            cpu_seconds=conditions.process_cpu_limit,
            variables={
                **clock,
                'GOFLAGS': ' '.join(project.list_flags(key.module)) or MODULE_FLAGS,
                'GOMAXPROCS': str(self._choose_processor_count(key, methods)),
            },
            files=files,
            sources=self._load_compiled_sources(key, files or ()) if conditions.sources else {},
            watched=self.cells.find_import_path(key) if conditions.observed else None,
            lines=lines or {},
        )
        may_share = key.edits is None and conditions.sources is None
        shared = (may_share or self.cells.all.context.own_edits) and not conditions.observed
        return self.cells.all.run_test_process(run, shared=shared)

    def _load_compiled_sources(self, key: CellKey, files: Iterable[str]) -> dict[str, bytes]:
        here = open_tree(self.cells.all.context.repository, key.code_rev)
        edited = dict(key.edits.code) if key.edits else {}
        sources = {path: here.read_content(path) for path in files if path in here.entries}
        sources |= {path: text for path in files if (text := edited.get(path)) is not None}
        return dict(sorted(sources.items()))

    def _choose_processor_count(self, key: CellKey, methods: Sequence[TestMethod]) -> int:
        """Return the number of processors that the Go runtime assumes, 4 or 1.

        For a single test it alternates between runs, which exposes tests that depend on it. For
        several tests and in edited cells it is always 4: submitted code could detect from it which
        run it is in.
        """
        if len(methods) > 1 or key.edits is not None:
            return PROCESSORS
        count = self.alone.get((key, methods[0]), 0)
        self.alone[key, methods[0]] = count + 1
        return OTHER_PROCESSORS if count % 2 else PROCESSORS


def make_clock_variables(start: datetime | None) -> Mapping[str, str]:
    """Return the variables of a process whose clock starts at a date; none for the machine's clock.

    Only dates are shifted, see `standard_library`; durations and waiting times stay real.
    """
    if start is None:
        return {}
    # Rounded up, so that the clock never starts before the date: it starts less than a second after
    # it.
    return {'COEVO_CLOCK_SHIFT': str(ceil((start - datetime.now(UTC)).total_seconds()))}


# CPU seconds for compiling, and for all of a package's tests together.
_COMPILING, _RUNNING = 300.0, 600.0

_FAILED = 'exit:1'
_ENDED = ('exit:0', _FAILED)


def run_go_test(
    cells: GoPairCells, rev: str, module: str, reported_methods: Sequence[TestMethod]
) -> ProjectRun:
    """Run all tests of a package once by `go test` in its folder, and return their outcomes.

    The command has no flags, so it includes vet. The outcomes come over the channel of the package
    testing, as in other runs. If the code of the package did not build for coevo either, and the
    command ends before any test, all its tests are unbuildable. Other tests that do not compile, or
    at which vet complains, have none: the run failed with the status of the command.

    module            the package folder
    reported_methods  the tests by which outcomes are named
    """
    end = cells.find_end(rev)
    if end.project is None:
        return ProjectRun(outcomes={}, failure='not_laid_out')
    key = CellKey(tests_rev=rev, code_rev=rev, module=module)
    tree = cells.all.pack_tree(key, end.project)
    run = GoTestRun(
        ground=GoCellLayout(
            prepared=cells.all.compiler.prepared,
            tree=tree,
            stand_ins=cells.all.get_stand_ins(tree),
            packages=cells.all.compiler.standard,
            binary=None,
            root=end.project.root_in_sandbox,
            folder=module,
        ),
        limits=dict.fromkeys(map(make_test_key, reported_methods), _RUNNING),
        cpu_seconds=_COMPILING + _RUNNING,
        variables={'GOFLAGS': '', 'GOMAXPROCS': str(PROCESSORS)},
        loading=_COMPILING,
    )
    done = cells.all.run_test_process(run, shared=False)
    verdicts = make_verdicts(done.heard, list(run.limits), done.status, done.noise)
    outcomes = dict(zip(run.limits, verdicts, strict=True))
    failure = _find_command_failure(done)
    if failure == _FAILED and end.build.find_trouble(module) is not None:
        return ProjectRun(
            outcomes=dict.fromkeys(reported_methods, Outcome.UNBUILDABLE),
            cpu_seconds=done.cpu_seconds,
        )
    return ProjectRun(
        outcomes={
            method: verdict.outcome
            for method in reported_methods
            if (verdict := outcomes[make_test_key(method)]) is not None
            and verdict.outcome not in (Outcome.MISSING, Outcome.INFRA)
        },
        failure=failure,
        cpu_seconds=done.cpu_seconds,
    )


def _find_command_failure(done: GoRunResult) -> str | None:
    """Return the status of a command that did not end by itself, or failed before any test began.

    None for any other command, even if tests failed.
    """
    has_begun = any(test.begun for test in done.heard.tests.values())
    if done.status not in _ENDED:
        return done.status
    return None if has_begun or done.status == 'exit:0' else done.status
