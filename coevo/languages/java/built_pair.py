"""Both ends of a pair, built with one JDK: compile, run, trace and mutate their tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coevo.languages.cells import (
    BorrowedSettings,
    Build,
    CellEdits,
    CellKey,
    CheckedSource,
    CompiledTests,
)
from coevo.languages.core.test_processes import LEAST_CPU_LIMIT, SLOWER_THAN_PASSING
from coevo.languages.java import pit
from coevo.languages.java.building.compilation import VIA, is_syntax_error
from coevo.languages.java.building.report import remove_project_options, take_suite_parameters
from coevo.languages.java.cells.cells import JavaCells
from coevo.languages.java.cells.compiled_cells import (
    CompiledCell,
    ModuleRunners,
    merge_worst_verdicts,
)
from coevo.languages.java.jdk_worker import JdkWorker
from coevo.languages.java.pit import make_pit_job, run_pit
from coevo.languages.java.processes.plan import LaunchPlan
from coevo.languages.java.processes.runner import (
    LEAST_ONCE_PASSED,
    RunTarget,
    has_infra_verdict,
    run_observed,
    run_targets,
)
from coevo.languages.java.tracing.code_files import find_code_files
from coevo.languages.java.umpire import run_by_maven
from coevo.languages.mutation import ByteCodeMutants
from coevo.languages.verdicts import (
    NO_CLOCK,
    OPTIONS_REFUSED,
    PLAIN,
    MainSources,
    ProjectRun,
    RunConditions,
    Trace,
    TraceBatch,
    Verdict,
    VerdictBatch,
)
from coevo.model.pair_rows import Environment
from coevo.model.quality import PitTrouble
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaBuiltPair:
    """Both ends of a pair; implements `coevo.languages.engine.BuiltPair`.

    others   returns both ends built with the next JDK, None if there is none
    passing  CPU seconds of the slowest passing run of unedited methods in this pair; limits derived
             from other pairs would make a row depend on earlier work
    """

    pair: Pair
    old: Build
    new: Build
    worker: JdkWorker
    others: Callable[[], JavaBuiltPair | None] = lambda: None
    passing: dict[TestMethod, float] = field(default_factory=dict)

    def build_with_other_runtime(self) -> JavaBuiltPair | None:
        """Build both ends with the next JDK and return them; None if there is none."""
        return self.others()

    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None = None,
        edits: CellEdits | None = None,
        methods: Sequence[TestMethod] | None = None,
    ) -> CompiledTests:
        """Compile a module's tests against code, or reuse the cell; see `BuiltPair.compile`.

        `methods` is ignored: the whole module is compiled.
        """
        key = CellKey(
            tests_rev=tests_rev, code_rev=code_rev, module=module, borrowed=borrowed, edits=edits
        )
        return self._cells.get_or_compile_cell(key).compiled

    def check_main_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[CheckedSource, ...]:
        """Compile variants of one source file, each by itself; see `BuiltPair.check_main_sources`."""
        return self._cells.check_main_sources(code_rev, module, path, variants)

    def do_settings_differ(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool:
        """Return whether borrowed settings change anything for a module of the code's revision."""
        return self._cells.find_module(code_rev, module, borrowed) != self._cells.find_module(
            code_rev, module, None
        )

    def find_compile_verdict(self, compiled: CompiledTests, method: TestMethod) -> Verdict | None:
        """Return `compile_error` or `unbuildable` for a method; None if it compiles.

        It is `unbuildable` if edited main code, or another module that runs the method, is not
        built. Errors in all classes that run the method count, also in other modules.
        """
        cell = self._cells.get_or_compile_cell(compiled.key)
        signature = cell.report.find_first_error(method)
        unbuildable = cell.compiled.code_failure is not None
        if signature is None:
            trouble = self._cells.reactor.find_other_module_error(compiled.key, method.test_class)
            if trouble is None:
                return None
            signature, unbuildable = trouble.signature, trouble.unbuildable
        if unbuildable:
            return Verdict(outcome=Outcome.UNBUILDABLE, signature=signature)
        return Verdict(
            outcome=Outcome.COMPILE_ERROR, signature=signature, syntax=is_syntax_error(signature)
        )

    def find_shadowing_classes(self, compiled: CompiledTests) -> frozenset[str]:
        """Return the names of test classes for which a main class of the same name exists.

        Main classes are those of the module and of the modules on its class path. Class files are
        compared, since names in sources can be written with escapes.
        """
        module = self._cells.find_module(compiled.code_rev, compiled.module, compiled.borrowed)
        output = self.worker.builds.get_output(compiled.code_rev)
        folders = [] if module is None else list(output.list_main_class_folders(module))
        return frozenset(
            name
            for name in self._cells.get_or_compile_cell(compiled.key).report.classes
            if any((folder / f'{name.replace(".", "/")}.class').is_file() for folder in folders)
        )

    def digest_run_inputs(self, compiled: CompiledTests) -> str | None:
        """Return a digest of both trees, since a test may read any of their files.

        Returns None if the code lacks the module, or if a tree lacks files that a later clone may
        have.
        """
        module = self._cells.find_module(compiled.code_rev, compiled.module, compiled.borrowed)
        if module is None or any(
            map(self.worker.builds.list_absent_files, _list_code_and_tests_revs(compiled))
        ):
            return None  # a later clone may have what the trees lack now
        junit = self.worker.builds.junits.get_junit_libraries_to_add(module, self.worker.session)
        return self.worker.builds.contents.make_key(compiled, module, junit)

    def run(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        conditions: RunConditions = PLAIN,
    ) -> VerdictBatch:
        """Run methods in a new process for each module that has runners: classes that run them.

        Returns the worst verdict over all runners of a method. A method without a runner is
        `missing`. If edited code does not compile, all are `unbuildable`, and nothing runs.
        """
        cell = self._cells.get_or_compile_cell(compiled.key)
        if cell.compiled.code_failure is not None:
            refused = Verdict(outcome=Outcome.UNBUILDABLE, signature=cell.compiled.code_failure)
            return VerdictBatch(verdicts=(refused,) * len(methods), cpu_seconds=0.0)
        batches = [
            self._run_in_module(runners, methods, conditions)
            for runners in self._group_runners(compiled.key, methods)
        ]
        batch = merge_worst_verdicts(batches, len(methods))
        for method, verdict in zip(methods, batch.verdicts, strict=True):
            if verdict is not None and verdict.outcome is Outcome.PASS and compiled.edits is None:
                slowest = self.passing.get(method, 0.0)
                self.passing[method] = max(slowest, verdict.cpu_seconds)
        return batch

    def _group_runners(
        self, key: CellKey, methods: Sequence[TestMethod]
    ) -> list[dict[int, ModuleRunners]]:
        """Return a list of mappings, one for each module: a method's index to its runners there.

        Modules without runners are left out; the others are sorted by name.
        """
        find = self._cells.reactor.find_runners
        by_class = {name: find(key, name) for name in dict.fromkeys(m.test_class for m in methods)}
        by_module: dict[str, dict[int, ModuleRunners]] = {}
        for index, method in enumerate(methods):
            for runners in by_class[method.test_class]:
                by_module.setdefault(runners.cell.compiled.module, {})[index] = runners
        return [by_module[module] for module in sorted(by_module)]

    def _run_in_module(
        self,
        runners: Mapping[int, ModuleRunners],
        methods: Sequence[TestMethod],
        conditions: RunConditions,
    ) -> VerdictBatch:
        """Run the methods with runners in one module; return `missing` for the other methods."""
        targets = tuple(
            make_run_target(module_runners, methods[index], conditions, self.passing)
            for index, module_runners in runners.items()
        )
        cell = next(iter(runners.values())).cell
        batch = run_cell(self.worker, cell, targets, conditions)
        verdicts: list[Verdict | None] = [Verdict(outcome=Outcome.MISSING)] * len(methods)
        for index, verdict in zip(runners, batch.verdicts, strict=True):
            verdicts[index] = verdict
        return replace(batch, verdicts=tuple(verdicts))

    def run_project(
        self,
        rev: str,
        module: str,
        reported_methods: Sequence[TestMethod],
        awaited: Sequence[TestMethod] = (),
    ) -> ProjectRun:
        """Run all tests of a module once by `mvn test`; see `BuiltPair.run_project`."""
        report = self._cells.get_or_compile_cell(
            CellKey(tests_rev=rev, code_rev=rev, module=module)
        ).report
        by_class = {
            name: report.find_runners(name) for name in {m.test_class for m in reported_methods}
        }
        runners = {
            method: [name.rpartition(VIA)[2] for name in by_class[method.test_class]]
            for method in reported_methods
        }
        return run_by_maven(self.worker.builds, rev, module, runners)

    def trace(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        files: Collection[str],
        conditions: RunConditions = PLAIN,
        *,
        shared: bool = False,
        watched: Mapping[str, Collection[int]] | None = None,
        together: bool = False,
    ) -> TraceBatch:
        """Run methods and return what each executes; see `BuiltPair.trace`.

        They run in one module: their own if it has runners of any of them, else the first by name
        that has. The trace is None for a method without a runner there, and for all methods if
        edited code does not compile or the clock cannot be set.
        """
        groups = self._group_runners(compiled.key, methods)
        traces: list[Trace | None] = [None] * len(methods)
        if not groups or compiled.code_failure is not None:
            return TraceBatch(traces=tuple(traces), cpu_seconds=0.0)
        first = max(groups, key=lambda runners: compiled.module in _list_modules(runners))
        chosen = tuple(first)
        cell = first[chosen[0]].cell
        targets = [
            make_run_target(first[index], methods[index], conditions, self.passing, traced=True)
            for index in chosen
        ]
        plan = make_launch_plan(self.worker, cell, tuple(targets), conditions)
        if plan is None:
            return TraceBatch(traces=tuple(traces), cpu_seconds=0.0)
        plan, making = self.worker.builds.attach_archive_and_count_cpu_seconds(plan)
        modules = self.worker.builds.get_output(compiled.code_rev).modules
        code = find_code_files(plan, modules, self.worker.builds.list_files(compiled.code_rev))
        plan = replace(plan, observed=watched is not None)
        traced = self.worker.tracer.trace(
            plan, code, files, shared=shared, watched=watched, together=together
        )
        for index, trace in zip(chosen, traced.traces, strict=True):
            traces[index] = trace
        return replace(traced, traces=tuple(traces), cpu_seconds=traced.cpu_seconds + making)

    def mutate(
        self,
        compiled: CompiledTests,
        method: TestMethod,
        lines: Mapping[str, Collection[int]],
        conditions: RunConditions = PLAIN,
    ) -> ByteCodeMutants:
        """Run PIT's mutants of the given lines with one test method; see `BuiltPair.mutate`.

        Returns `NOT_COMPILED` as the trouble if the method has no runner or does not compile, or if
        the clock cannot be set. If several modules run the method, the first one is used.
        """
        runners = self._cells.reactor.find_runners(compiled.key, method.test_class)
        if not runners or self.find_compile_verdict(compiled, method):
            return ByteCodeMutants(trouble=PitTrouble.NOT_COMPILED)
        target = make_run_target(runners[0], method, conditions, self.passing, traced=True)
        unobserved = replace(conditions, observed=False)
        plan = make_launch_plan(self.worker, runners[0].cell, (target,), unobserved)
        if plan is None:
            return ByteCodeMutants(trouble=PitTrouble.NOT_COMPILED)
        launcher = self.worker.builds.launcher
        tool = pit.fetch_pit(launcher.toolchain.feature)
        job = make_pit_job(launcher, launcher.arrange_class_path(plan), tool, lines)
        return run_pit(self.worker.builds.sandbox, job)

    def describe_environment(self, rev: str, module: str) -> Environment | None:
        """Return what is needed to build and run a module; None if the module is unknown."""
        return self.worker.builds.contents.describe_environment(rev, module)

    @property
    def _cells(self) -> JavaCells:
        return self.worker.keep_cells_of_revisions({self.old.rev, self.new.rev})


def _list_code_and_tests_revs(compiled: CompiledTests) -> tuple[str, str]:
    return compiled.code_rev, compiled.tests_rev


# Launch the targets of a cell: the plan, the process, and the limits of one method.

Run = Callable[[Sandbox, Job, Sequence[RunTarget]], VerdictBatch]


def run_cell(
    worker: JdkWorker, cell: CompiledCell, targets: tuple[RunTarget, ...], conditions: RunConditions
) -> VerdictBatch:
    """Run targets in a new process and return their verdicts.

    They are `infra` if the clock cannot be set, and `error` if the JVM refuses the project's own
    options.
    """
    plan = make_launch_plan(worker, cell, targets, conditions)
    if plan is None:
        unknown = Verdict(outcome=Outcome.INFRA, signature=NO_CLOCK)
        return VerdictBatch(verdicts=(unknown,) * len(targets), cpu_seconds=0.0)
    plan, making = worker.builds.attach_archive_and_count_cpu_seconds(plan)
    run = run_observed if conditions.observed else run_targets
    batch = run(worker.builds.sandbox, worker.builds.launcher.make_job(plan), targets)
    if has_infra_verdict(batch) and _are_options_refused(worker, plan, run, targets):
        refused = Verdict(outcome=Outcome.ERROR, signature=OPTIONS_REFUSED)
        batch = replace(batch, verdicts=(refused,) * len(targets))
    return replace(batch, cpu_seconds=batch.cpu_seconds + making)


def make_launch_plan(
    worker: JdkWorker, cell: CompiledCell, targets: tuple[RunTarget, ...], conditions: RunConditions
) -> LaunchPlan | None:
    """Return what a test process needs (files, settings, targets); None if the clock cannot be set.

    Makes the packed archive of the tree if it does not exist yet, and starts no process of tests.
    """
    code = worker.builds.get_output(cell.compiled.code_rev)
    module = worker.cells.find_module(
        cell.compiled.code_rev, cell.compiled.module, cell.compiled.borrowed
    )
    assert module is not None, 'what was compiled has a module'
    of_tests = worker.cells.find_module(cell.compiled.tests_rev, cell.compiled.module, None)
    module = take_suite_parameters(module, of_tests)
    tests = worker.builds.get_output(cell.compiled.tests_rev).tests
    clock = (
        {} if conditions.clock is None else worker.builds.clock.make_environment(conditions.clock)
    )
    if clock is None:
        return None
    sources, removed = _select_sources(worker, cell, conditions.sources)
    layers = (code.code, *sources, tests, *cell.edited, *cell.test_class_folders)
    removed_files = (*cell.removed, *removed)
    return LaunchPlan(
        module=module,
        layers=layers,
        tree=worker.trees.get_or_pack_archive(layers, removed_files),
        removed=removed_files,
        stand_ins=worker.builds.find_stand_ins(
            _list_code_and_tests_revs(cell.compiled), layers, removed_files
        ),
        junit=worker.builds.junits.get_junit_libraries_to_add(module, worker.session),
        override=conditions.override,
        targets=targets,
        clock=clock,
        cpu_limit=conditions.process_cpu_limit,
        observed=conditions.observed,
    )


def _select_sources(
    worker: JdkWorker, cell: CompiledCell, shown: MainSources | None
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return the folders of main sources that a test sees, and the source files removed from them.

    If `shown` is None, they are the cell's own sources with its edits. Else they are those of
    `shown.rev`, or none if that is None.
    """
    if shown is None:
        own = worker.builds.get_output(cell.compiled.code_rev).sources
        return (own, *cell.sources), cell.removed_sources
    return () if shown.rev is None else (worker.builds.get_output(shown.rev).sources,), ()


def _are_options_refused(
    worker: JdkWorker, plan: LaunchPlan, run: Run, targets: Sequence[RunTarget]
) -> bool:
    """Return whether a process starts without the project's own options, but not with them.

    Starts a process twice to find out. The JVM may refuse the options, or they may stop the worker:
    `-Djava.security.manager` denies it all reading.
    """
    starts = []
    for each in (plan, replace(plan, module=remove_project_options(plan.module))):
        job = worker.builds.launcher.make_job(each)
        starts.append(not has_infra_verdict(run(worker.builds.sandbox, job, targets)))
    return starts == [False, True]


def make_run_target(
    runners: ModuleRunners,
    method: TestMethod,
    conditions: RunConditions,
    passing: Mapping[TestMethod, float],
    *,
    traced: bool = False,
) -> RunTarget:
    """Return a method as a target for its runners in one module, with its CPU limit.

    passing  CPU seconds of the slowest passing run of each method that has passed
    traced   whether agents run with it, which slow it down
    """
    other = runners.cell.compiled.edits is not None
    slowed = traced or conditions.observed or conditions.clock is not None
    usual = compute_cpu_limit(passing.get(method), comparable=not (other or slowed))
    return RunTarget(
        classes=runners.classes,
        method=method.test_method,
        parameters=method.parameters,
        cpu_limit=usual if conditions.cpu_limit is None else conditions.cpu_limit,
        expects=conditions.expects,
    )


def _list_modules(runners: Mapping[int, ModuleRunners]) -> set[str]:
    return {module_runners.cell.compiled.module for module_runners in runners.values()}


def compute_cpu_limit(passing: float | None, *, comparable: bool) -> float:
    """Return the CPU seconds that a method may use.

    It is a multiple of `passing`, the CPU seconds of its slowest passing run (None if it never
    passed), but not below a minimum. The minimum is lower for a method that has passed if
    `comparable`: it runs now as it did then, unedited and without anything that slows it down.
    """
    least = LEAST_ONCE_PASSED if comparable and passing is not None else LEAST_CPU_LIMIT
    return max(least, SLOWER_THAN_PASSING * (passing or 0.0))
