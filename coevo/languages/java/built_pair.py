"""Both ends of a pair, built with one JDK: compiled, run, traced, mutated."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coevo.languages.builds import Build
from coevo.languages.cells import BorrowedSettings, CellEdits, CellKey, CheckedSource, CompiledTests
from coevo.languages.conditions import PLAIN, MainSources, RunConditions
from coevo.languages.core.test_processes import LEAST_CPU_LIMIT, SLOWER_THAN_PASSING
from coevo.languages.java.building.compilation import is_syntax_error
from coevo.languages.java.building.report import remove_own_options
from coevo.languages.java.cells.cells import JavaCells
from coevo.languages.java.cells.compiled_cells import CompiledCell
from coevo.languages.java.jdk_worker import JdkWorker
from coevo.languages.java.pit.run import make_pit_job, run_pit
from coevo.languages.java.processes.plan import LaunchPlan
from coevo.languages.java.processes.runner import (
    LEAST_ONCE_PASSED,
    RunTarget,
    did_not_start,
    run_observed,
    run_targets,
)
from coevo.languages.java.tools import pit
from coevo.languages.java.tracing.code_files import find_code_files
from coevo.languages.mutation_tools import ByteCodeMutants
from coevo.languages.traces import Trace, TraceBatch
from coevo.languages.verdicts import NO_CLOCK, OPTIONS_REFUSED, Verdict, VerdictBatch
from coevo.model.environments import Environment
from coevo.model.quality import PitTrouble
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaBuiltPair:
    """Fulfils `coevo.languages.engine.BuiltPair`.

    others   gives both ends as the next JDK builds them
    passing  CPU seconds of the slowest run of methods that passed as they stand, in this pair: a limit
             that came from others would make a row depend on what was run before
    """

    pair: Pair
    old: Build
    new: Build
    worker: JdkWorker
    others: Callable[[], JavaBuiltPair | None] = lambda: None
    passing: dict[TestMethod, float] = field(default_factory=dict)

    def build_with_other_runtime(self) -> JavaBuiltPair | None:
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
        key = CellKey(
            tests_rev=tests_rev, code_rev=code_rev, module=module, borrowed=borrowed, edits=edits
        )
        return self._cells.get_cell(key).compiled

    def check_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[CheckedSource, ...]:
        return self._cells.check_sources(code_rev, module, path, variants)

    def do_settings_differ(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool:
        return self._cells.find_module(code_rev, module, borrowed) != self._cells.find_module(
            code_rev, module, None
        )

    def find_compile_verdict(self, compiled: CompiledTests, method: TestMethod) -> Verdict | None:
        cell = self._cells.get_cell(compiled.key)
        signature = cell.report.find_first_error(method)
        if signature is None:
            return None
        if cell.compiled.code_failure is not None:
            return Verdict(outcome=Outcome.UNBUILDABLE, signature=signature)
        return Verdict(
            outcome=Outcome.COMPILE_ERROR, signature=signature, syntax=is_syntax_error(signature)
        )

    def find_shadowing_classes(self, compiled: CompiledTests) -> frozenset[str]:
        """By what was compiled, not by what sources look like: names can be written in escapes."""
        module = self._cells.find_module(compiled.code_rev, compiled.module, compiled.borrowed)
        output = self.worker.builds.get_output(compiled.code_rev)
        folders = [] if module is None else list(output.list_class_folders(module))
        return frozenset(
            name
            for name in self._cells.get_cell(compiled.key).report.classes
            if any((folder / f'{name.replace(".", "/")}.class').is_file() for folder in folders)
        )

    def digest_content(self, compiled: CompiledTests) -> str | None:
        """Of whole trees: a test may read any file that is laid out beside it."""
        module = self._cells.find_module(compiled.code_rev, compiled.module, compiled.borrowed)
        if module is None:
            return None
        junit = self.worker.builds.junits.get_junit(module, self.worker.session)
        return self.worker.builds.contents.make_key(compiled, module, junit)

    def run(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        conditions: RunConditions = PLAIN,
    ) -> VerdictBatch:
        """A method of which no concrete class was compiled is missing; no process is asked."""
        cell = self._cells.get_cell(compiled.key)
        if cell.compiled.code_failure is not None:
            refused = Verdict(outcome=Outcome.UNBUILDABLE, signature=cell.compiled.code_failure)
            return VerdictBatch(verdicts=(refused,) * len(methods), cpu_seconds=0.0)
        targets = [make_run_target(cell, method, conditions, self.passing) for method in methods]
        chosen = [index for index, target in enumerate(targets) if target.classes]
        verdicts: list[Verdict | None] = [Verdict(outcome=Outcome.MISSING)] * len(methods)
        if not chosen:
            return VerdictBatch(verdicts=tuple(verdicts), cpu_seconds=0.0)
        batch = run_cell(self.worker, cell, tuple(targets[index] for index in chosen), conditions)
        for index, verdict in zip(chosen, batch.verdicts, strict=True):
            verdicts[index] = verdict
            if verdict is not None and verdict.outcome is Outcome.PASS and compiled.edits is None:
                slowest = self.passing.get(methods[index], 0.0)
                self.passing[methods[index]] = max(slowest, verdict.cpu_seconds)
        return replace(batch, verdicts=tuple(verdicts))

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
        """None, too, for a method of which no concrete class was compiled."""
        cell = self._cells.get_cell(compiled.key)
        targets = [
            make_run_target(cell, method, conditions, self.passing, traced=True)
            for method in methods
        ]
        chosen = [index for index, target in enumerate(targets) if target.classes]
        traces: list[Trace | None] = [None] * len(methods)
        if not chosen or compiled.code_failure is not None:
            return TraceBatch(traces=tuple(traces), cpu_seconds=0.0)
        plan = make_launch_plan(
            self.worker, cell, tuple(targets[index] for index in chosen), conditions
        )
        if plan is None:
            return TraceBatch(traces=tuple(traces), cpu_seconds=0.0)
        plan, making = self.worker.builds.attach_archive(plan)
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
        cell = self._cells.get_cell(compiled.key)
        target = make_run_target(cell, method, conditions, self.passing, traced=True)
        plan = make_launch_plan(self.worker, cell, (target,), replace(conditions, observed=False))
        if plan is None or not target.classes or self.find_compile_verdict(compiled, method):
            return ByteCodeMutants(trouble=PitTrouble.NOT_COMPILED)
        launcher = self.worker.builds.launcher
        tool = pit.fetch_pit(launcher.toolchain.feature)
        job = make_pit_job(launcher, launcher.arrange_class_path(plan), tool, lines)
        return run_pit(self.worker.builds.sandbox, job)

    def describe_environment(self, rev: str, module: str) -> Environment | None:
        return self.worker.builds.contents.describe_environment(rev, module)

    @property
    def _cells(self) -> JavaCells:
        return self.worker.get_cells_for({self.old.rev, self.new.rev})


# What is launched for the targets of one cell: a plan, a process, and what it takes for one
# method.

Run = Callable[[Sandbox, Job, Sequence[RunTarget]], VerdictBatch]


def run_cell(
    worker: JdkWorker, cell: CompiledCell, targets: tuple[RunTarget, ...], conditions: RunConditions
) -> VerdictBatch:
    """What targets do in a fresh process of their own."""
    plan = make_launch_plan(worker, cell, targets, conditions)
    if plan is None:
        unknown = Verdict(outcome=Outcome.INFRA, signature=NO_CLOCK)
        return VerdictBatch(verdicts=(unknown,) * len(targets), cpu_seconds=0.0)
    plan, making = worker.builds.attach_archive(plan)
    run = run_observed if conditions.observed else run_targets
    batch = run(worker.builds.sandbox, worker.builds.launcher.make_job(plan), targets)
    if did_not_start(batch) and _are_options_refused(worker, plan, run, targets):
        refused = Verdict(outcome=Outcome.ERROR, signature=OPTIONS_REFUSED)
        batch = replace(batch, verdicts=(refused,) * len(targets))
    return replace(batch, cpu_seconds=batch.cpu_seconds + making)


def make_launch_plan(
    worker: JdkWorker, cell: CompiledCell, targets: tuple[RunTarget, ...], conditions: RunConditions
) -> LaunchPlan | None:
    """What is launched for targets; None where the clock cannot be set."""
    code = worker.builds.get_output(cell.compiled.code_rev)
    module = worker.cells.find_module(
        cell.compiled.code_rev, cell.compiled.module, cell.compiled.borrowed
    )
    assert module is not None, 'what was compiled has a module'
    tests = worker.builds.get_output(cell.compiled.tests_rev).tests
    clock = (
        {} if conditions.clock is None else worker.builds.clock.make_environment(conditions.clock)
    )
    if clock is None:
        return None
    sources, removed = _select_sources(worker, cell, conditions.sources)
    layers = (code.code, *sources, tests, *cell.edited, *cell.folders)
    removed_files = (*cell.removed, *removed)
    return LaunchPlan(
        module=module,
        layers=layers,
        tree=worker.trees.get_archive(layers, removed_files),
        removed=removed_files,
        junit=worker.builds.junits.get_junit(module, worker.session),
        override=conditions.override,
        targets=targets,
        clock=clock,
        cpu_limit=conditions.process_cpu_limit,
        observed=conditions.observed,
    )


def _select_sources(
    worker: JdkWorker, cell: CompiledCell, shown: MainSources | None
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Layers of main sources, and files of them that are gone."""
    if shown is None:
        own = worker.builds.get_output(cell.compiled.code_rev).sources
        return (own, *cell.sources), cell.removed_sources
    return () if shown.rev is None else (worker.builds.get_output(shown.rev).sources,), ()


def _are_options_refused(
    worker: JdkWorker, plan: LaunchPlan, run: Run, targets: Sequence[RunTarget]
) -> bool:
    """Whether a process starts without the project's own options and properties, but not with them.

    A JVM may refuse them, or our worker may: `-Djava.security.manager` lets it read nothing.
    """
    starts = []
    for each in (plan, replace(plan, module=remove_own_options(plan.module))):
        job = worker.builds.launcher.make_job(each)
        starts.append(not did_not_start(run(worker.builds.sandbox, job, targets)))
    return starts == [False, True]


def make_run_target(
    cell: CompiledCell,
    method: TestMethod,
    conditions: RunConditions,
    passing: Mapping[TestMethod, float],
    *,
    traced: bool = False,
) -> RunTarget:
    """A method of a cell with what it may use.

    passing  CPU seconds of its slowest run that passed, of those methods that have passed
    traced   whether agents run with it, which make it slower
    """
    other = cell.compiled.edits is not None
    slowed = traced or conditions.observed or conditions.clock is not None
    usual = compute_cpu_limit(passing.get(method), comparable=not (other or slowed))
    return RunTarget(
        classes=cell.report.find_concrete_classes(method.test_class),
        method=method.test_method,
        parameters=method.parameters,
        cpu_limit=usual if conditions.cpu_limit is None else conditions.cpu_limit,
        expects=conditions.expects,
    )


def compute_cpu_limit(passing: float | None, *, comparable: bool) -> float:
    """CPU seconds for a method, by its slowest passing run if it has passed.

    comparable  whether it is run as it was then: the same text, with nothing that slows it
    """
    least = LEAST_ONCE_PASSED if comparable and passing is not None else LEAST_CPU_LIMIT
    return max(least, SLOWER_THAN_PASSING * (passing or 0.0))
