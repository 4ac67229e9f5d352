"""Targets on the new code and on the old: what is run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from coevo.evaluation.judging.alone import run_alone
from coevo.evaluation.judging.old_cells import OldCells
from coevo.evaluation.judging.outcomes import TargetResult
from coevo.evaluation.judging.steadiness import rerun_passing
from coevo.evaluation.judging.task_context import TaskContext
from coevo.languages.cells import CompiledTests
from coevo.languages.conditions import RunConditions
from coevo.languages.verdicts import Verdict
from coevo.model.records import TestMethod
from coevo.model.words import Outcome


def passes(seen: TargetResult) -> bool:
    new = seen.new
    passes = new is not None and new.outcome is Outcome.PASS and new.tampered is None
    return passes and seen.unstable is None


def run_on_new(
    context: TaskContext,
    cell: CompiledTests,
    method: TestMethod,
    conditions: RunConditions,
    seen: TargetResult,
) -> TargetResult:
    """One run that is watched and, if it passes, one that is not."""
    began = time.monotonic()
    verdict, batch = run_alone(context.built, cell, method, conditions)
    seen = replace(
        seen,
        submitted=True,
        new=verdict,
        new_module_ok=cell.unit_ok,
        output=batch.output,
        cpu_seconds=batch.cpu_seconds,
        seconds=time.monotonic() - began,
    )
    return rerun_passing(context, cell, method, seen, 1) if passes(seen) else seen


def run_on_old(
    context: TaskContext,
    cells: OldCells,
    methods: Mapping[str, TestMethod],
    seen: dict[str, TargetResult],
) -> None:
    for name, method in methods.items():
        began = time.monotonic()
        verdict, used = _run_one_on_old(context, cells, method)
        seen[name] = replace(
            seen[name],
            old=verdict,
            old_module_ok=cells.alone.unit_ok,
            note=cells.note,
            cpu_seconds=seen[name].cpu_seconds + used,
            seconds=seen[name].seconds + time.monotonic() - began,
        )


def _run_one_on_old(
    context: TaskContext, cells: OldCells, method: TestMethod
) -> tuple[Verdict, float]:
    """With the CPU seconds."""
    verdict, batch = run_alone(context.built, cells.alone, method, context.conditions)
    if cells.helped is None or not verdict.outcome.is_broken:
        return verdict, batch.cpu_seconds
    helped, more = run_alone(context.built, cells.helped, method, context.conditions)
    used = batch.cpu_seconds + more.cpu_seconds
    return (verdict if helped.outcome.is_broken else helped), used
