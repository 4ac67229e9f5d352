"""Build, compile and run for one thread: a session of its own over build outputs that all share."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from coevo.languages.base import OPTIONS_REFUSED
from coevo.languages.base import PLAIN
from coevo.languages.base import Batch
from coevo.languages.base import BorrowedSettings
from coevo.languages.base import Build
from coevo.languages.base import Checked
from coevo.languages.base import Compiled
from coevo.languages.base import Conditions
from coevo.languages.base import Edits
from coevo.languages.base import MainSources
from coevo.languages.base import Verdict
from coevo.languages.java.maven.cells import JavaCells
from coevo.languages.java.maven.code_files import code_files
from coevo.languages.java.maven.compilation import is_of_the_parser
from coevo.languages.java.maven.compiled_cells import CompiledCell
from coevo.languages.java.maven.compiled_cells import JavaCellKey
from coevo.languages.java.maven.packed_trees import PackedTrees
from coevo.languages.java.maven.pit_run import pit_job
from coevo.languages.java.maven.pit_run import run_pit
from coevo.languages.java.maven.plan import LaunchPlan
from coevo.languages.java.maven.report import without_own_options
from coevo.languages.java.maven.runner import LEAST_CPU_LIMIT
from coevo.languages.java.maven.runner import SLOWER_THAN_PASSING
from coevo.languages.java.maven.runner import RunTarget
from coevo.languages.java.maven.runner import did_not_start
from coevo.languages.java.maven.runner import run_observed
from coevo.languages.java.maven.runner import run_targets
from coevo.languages.java.maven.shared_builds import SharedBuilds
from coevo.languages.java.maven.tracing import Tracer
from coevo.languages.java.maven.workarounds import workaround
from coevo.languages.java.tools import pit
from coevo.languages.mutation_tools import ByteCodeMutants
from coevo.languages.traces import Trace
from coevo.languages.traces import Traced
from coevo.model.quality import PitTrouble
from coevo.model.records import Environment
from coevo.model.records import Outcome
from coevo.model.records import TestMethod
from coevo.sandboxes.sandbox import Job
from coevo.sandboxes.sandbox import Sandbox

Run = Callable[[Sandbox, Job, Sequence[RunTarget]], Batch]

# The signature of tests that were to run under a clock that cannot be set here.
NO_CLOCK = 'no_clock'


class JavaWorkshop:
    """What a thread does with one JDK: all of `coevo.languages.base.Workshop` but pairs."""

    def __init__(self, builds: SharedBuilds) -> None:
        self._builds = builds
        self._session = builds.session()
        self._cells = JavaCells(builds, self._session)
        self._tracer = Tracer(builds)
        self._trees = PackedTrees(builds.folder('trees', secrets.token_hex(8)))
        self._slowest: dict[TestMethod, float] = {}

    def build(self, rev: str) -> Build:
        return self._builds.build(rev, self._session)

    def keep_only(self, revs: Collection[str]) -> None:
        """Remove compiled cells of any other revision."""
        self._cells.keep_only(revs)

    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None = None,
        edits: Edits | None = None,
    ) -> Compiled:
        key = JavaCellKey(
            tests_rev=tests_rev, code_rev=code_rev, module=module, borrowed=borrowed, edits=edits
        )
        return self._cells.get(key).compiled

    def check_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[Checked, ...]:
        return self._cells.check_sources(code_rev, module, path, variants)

    def differs(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool:
        return self._cells.module(code_rev, module, borrowed) != self._cells.module(
            code_rev, module, None
        )

    def compile_verdict(self, compiled: Compiled, method: TestMethod) -> Verdict | None:
        cell = self._cells.of(compiled)
        signature = cell.report.why_broken(method)
        if signature is None:
            return None
        if cell.compiled.code_failure is not None:
            return Verdict(outcome=Outcome.UNBUILDABLE, signature=signature)
        return Verdict(
            outcome=Outcome.COMPILE_ERROR, signature=signature, syntax=is_of_the_parser(signature)
        )

    def shadowing(self, compiled: Compiled) -> frozenset[str]:
        """By what was compiled, not by what sources look like: names can be written in escapes."""
        module = self._cells.module(compiled.code_rev, compiled.module, compiled.borrowed)
        output = self._builds.output(compiled.code_rev)
        folders = [] if module is None else list(output.class_folders(module))
        return frozenset(
            name
            for name in self._cells.of(compiled).report.classes
            if any((folder / f'{name.replace(".", "/")}.class').is_file() for folder in folders)
        )

    def content(self, compiled: Compiled) -> str | None:
        """Of whole trees: a test may read any file that is laid out beside it."""
        module = self._cells.module(compiled.code_rev, compiled.module, compiled.borrowed)
        if module is None:
            return None
        junit = self._builds.junit(module, self._session)
        return self._builds.content(compiled, module, junit)

    def run(
        self, compiled: Compiled, methods: Sequence[TestMethod], conditions: Conditions = PLAIN
    ) -> Batch:
        """A method of which no concrete class was compiled is missing; no process is asked."""
        cell = self._cells.of(compiled)
        if cell.compiled.code_failure is not None:
            refused = Verdict(outcome=Outcome.UNBUILDABLE, signature=cell.compiled.code_failure)
            return Batch(verdicts=(refused,) * len(methods), cpu_seconds=0.0)
        targets = [self._target(cell, method, conditions) for method in methods]
        chosen = [place for place, target in enumerate(targets) if target.classes]
        verdicts: list[Verdict | None] = [Verdict(outcome=Outcome.MISSING)] * len(methods)
        if not chosen:
            return Batch(verdicts=tuple(verdicts), cpu_seconds=0.0)
        batch = self._process(cell, tuple(targets[place] for place in chosen), conditions)
        for place, verdict in zip(chosen, batch.verdicts, strict=True):
            verdicts[place] = verdict
            if verdict is not None and verdict.outcome is Outcome.PASS:
                slowest = self._slowest.get(methods[place], 0.0)
                self._slowest[methods[place]] = max(slowest, verdict.cpu_seconds)
        return replace(batch, verdicts=tuple(verdicts))

    def trace(
        self,
        compiled: Compiled,
        methods: Sequence[TestMethod],
        files: Collection[str],
        conditions: Conditions = PLAIN,
        *,
        shared: bool = False,
        watched: Mapping[str, Collection[int]] | None = None,
    ) -> Traced:
        """None, too, for a method of which no concrete class was compiled."""
        cell = self._cells.of(compiled)
        targets = [self._target(cell, method, conditions) for method in methods]
        chosen = [place for place, target in enumerate(targets) if target.classes]
        traces: list[Trace | None] = [None] * len(methods)
        if not chosen or compiled.code_failure is not None:
            return Traced(traces=tuple(traces), cpu_seconds=0.0)
        plan = self._plan(cell, tuple(targets[place] for place in chosen), conditions)
        if plan is None:
            return Traced(traces=tuple(traces), cpu_seconds=0.0)
        plan, making = self._builds.with_archive(plan)
        modules = self._builds.output(compiled.code_rev).modules
        code = code_files(plan, modules, self._builds.files(compiled.code_rev))
        plan = replace(plan, observed=watched is not None)
        traced = self._tracer.trace(plan, code, files, shared=shared, watched=watched)
        for place, trace in zip(chosen, traced.traces, strict=True):
            traces[place] = trace
        return Traced(traces=tuple(traces), cpu_seconds=traced.cpu_seconds + making)

    def mutate(
        self,
        compiled: Compiled,
        method: TestMethod,
        lines: Mapping[str, Collection[int]],
        conditions: Conditions = PLAIN,
    ) -> ByteCodeMutants:
        if self._builds.toolchain.feature < pit.OLDEST_JDK:
            return ByteCodeMutants(trouble=PitTrouble.OLD_RUNTIME)
        cell = self._cells.of(compiled)
        target = self._target(cell, method, conditions)
        plan = self._plan(cell, (target,), replace(conditions, observed=False))
        if plan is None or not target.classes or self.compile_verdict(compiled, method):
            return ByteCodeMutants(trouble=PitTrouble.NOT_COMPILED)
        launcher = self._builds.launcher
        job = pit_job(launcher, launcher.arranged(plan), pit.fetch(), lines)
        return run_pit(self._builds.sandbox, job)

    def _process(
        self, cell: CompiledCell, targets: tuple[RunTarget, ...], conditions: Conditions
    ) -> Batch:
        plan = self._plan(cell, targets, conditions)
        if plan is None:
            unknown = Verdict(outcome=Outcome.INFRA, signature=NO_CLOCK)
            return Batch(verdicts=(unknown,) * len(targets), cpu_seconds=0.0)
        plan, making = self._builds.with_archive(plan)
        run = run_observed if conditions.observed else run_targets
        batch = run(self._builds.sandbox, self._builds.launcher.job(plan), targets)
        if did_not_start(batch) and self._is_refused(plan, run, targets):
            refused = Verdict(outcome=Outcome.ERROR, signature=OPTIONS_REFUSED)
            batch = replace(batch, verdicts=(refused,) * len(targets))
        return replace(batch, cpu_seconds=batch.cpu_seconds + making)

    def _plan(
        self, cell: CompiledCell, targets: tuple[RunTarget, ...], conditions: Conditions
    ) -> LaunchPlan | None:
        """None where its clock cannot be set."""
        code = self._builds.output(cell.compiled.code_rev)
        module = self._cells.module(
            cell.compiled.code_rev, cell.compiled.module, cell.compiled.borrowed
        )
        assert module is not None, 'what was compiled has a module'
        tests = self._builds.output(cell.compiled.tests_rev).tests
        clock = {} if conditions.clock is None else self._builds.clock.environment(conditions.clock)
        if clock is None:
            return None
        sources, removed = self._sources(cell, conditions.sources)
        layers = (code.code, *sources, tests, *cell.edited, *cell.folders)
        gone = (*cell.removed, *removed)
        return LaunchPlan(
            module=module,
            layers=layers,
            tree=self._trees.of(layers, gone),
            removed=gone,
            junit=self._builds.junit(module, self._session),
            override=conditions.override,
            targets=targets,
            clock=clock,
            cpu_limit=conditions.process_cpu_limit,
            observed=conditions.observed,
        )

    def _sources(
        self, cell: CompiledCell, shown: MainSources | None
    ) -> tuple[tuple[Path, ...], tuple[str, ...]]:
        """Layers of main sources, and files of them that are gone."""
        if shown is None:
            own = self._builds.output(cell.compiled.code_rev).sources
            return (own, *cell.sources), cell.removed_sources
        return () if shown.rev is None else (self._builds.output(shown.rev).sources,), ()

    def _is_refused(self, plan: LaunchPlan, run: Run, targets: Sequence[RunTarget]) -> bool:
        """Whether a process starts without the project's own options and properties, but not with them.

        A JVM may refuse them, or our worker may: `-Djava.security.manager` lets it read nothing.
        """
        starts = []
        for each in (plan, replace(plan, module=without_own_options(plan.module))):
            job = self._builds.launcher.job(each)
            starts.append(not did_not_start(run(self._builds.sandbox, job, targets)))
        return starts == [False, True]

    def workaround(self, verdict: Verdict) -> str | None:
        return workaround(verdict)

    def environment(self, rev: str, module: str) -> Environment | None:
        return self._builds.environment(rev, module)

    def close(self) -> None:
        self._session.close()
        self._tracer.close()
        self._trees.close()

    def _target(self, cell: CompiledCell, method: TestMethod, conditions: Conditions) -> RunTarget:
        usual = max(LEAST_CPU_LIMIT, SLOWER_THAN_PASSING * self._slowest.get(method, 0.0))
        return RunTarget(
            classes=cell.report.concrete_classes(method.test_class),
            method=method.test_method,
            parameters=method.parameters,
            cpu_limit=usual if conditions.cpu_limit is None else conditions.cpu_limit,
            expects=conditions.expects,
        )
