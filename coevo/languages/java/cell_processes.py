"""What is launched for the targets of one cell: a plan, a process, and what it takes for one method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from coevo.languages.conditions import MainSources, RunConditions
from coevo.languages.java.building.report import remove_own_options
from coevo.languages.java.cells.compiled_cells import CompiledCell
from coevo.languages.java.jdk_worker import JdkWorker
from coevo.languages.java.processes.plan import LaunchPlan
from coevo.languages.java.processes.runner import (
    LEAST_CPU_LIMIT,
    LEAST_ONCE_PASSED,
    SLOWER_THAN_PASSING,
    RunTarget,
    did_not_start,
    run_observed,
    run_targets,
)
from coevo.languages.verdicts import NO_CLOCK, OPTIONS_REFUSED, Verdict, VerdictBatch
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Sandbox

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
