"""Targets on the new code and on the old: what is run, and how the old code gets its tests."""

from __future__ import annotations

import time
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from coevo.evaluation.judging.alone import run_alone
from coevo.evaluation.judging.outcomes import Seen
from coevo.evaluation.judging.steadiness import passes_again
from coevo.evaluation.judging.task_context import TaskContext
from coevo.git.contents import content
from coevo.git.contents import path_at_old
from coevo.languages.cells import Compiled
from coevo.languages.conditions import Conditions
from coevo.languages.surgery import Graft
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.table import surgery
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.added_data import added_data
from coevo.starts.added_data import with_data
from coevo.starts.isolated_cells import Files


def passes(seen: Seen) -> bool:
    new = seen.new
    passes = new is not None and new.outcome is Outcome.PASS and new.tampered is None
    return passes and seen.unstable is None


def on_new(
    context: TaskContext,
    cell: Compiled,
    method: TestMethod,
    conditions: Conditions,
    seen: Seen,
) -> Seen:
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
    return passes_again(context, cell, method, seen, 1) if passes(seen) else seen


def old_cell_of(
    context: TaskContext, patched: bytes, methods: Sequence[TestMethod]
) -> tuple[Compiled | None, str]:
    """Targets in the old tree on old code, and what is to be said of that; None without any.

    With data that they have at the start: for want of it they would fail on any code.
    """
    if not methods:
        return None, ''
    files, note = _transplanted(context, patched, methods)
    task = context.assignment.task
    data = added_data(context.source, task.language, task.old_rev, task.new_rev)
    return context.compile(context.pair.old.rev, with_data(files, data)), note


def on_old(
    context: TaskContext,
    cell: Compiled,
    note: str,
    methods: Mapping[str, TestMethod],
    seen: dict[str, Seen],
) -> None:
    for name, method in methods.items():
        began = time.monotonic()
        verdict, batch = run_alone(context.built, cell, method, context.conditions)
        seen[name] = replace(
            seen[name],
            old=verdict,
            old_module_ok=cell.unit_ok,
            note=note,
            cpu_seconds=seen[name].cpu_seconds + batch.cpu_seconds,
            seconds=seen[name].seconds + time.monotonic() - began,
        )


def _transplanted(
    context: TaskContext, patched: bytes, methods: Sequence[TestMethod]
) -> tuple[Files, str]:
    """The old file with the submitted targets and what only they use; else the file as a whole."""
    task, source = context.assignment.task, context.source
    place = path_at_old(source, task.old_rev, task.new_rev, task.test_file)
    before = None if place is None else content(source, task.old_rev, place)
    if place != task.test_file or before is None:
        gone: Files = () if place is None else ((place, None),)
        return tuple(sorted((*gone, (task.test_file, patched)), key=lambda f: f[0])), ''
    cut = surgery(task.language)
    try:
        text = cut.transplant(
            before,
            patched,
            [Graft(new=method) for method in methods],
            used_elsewhere=cut.names_used_elsewhere(source, task.old_rev, task.test_file),
        )
    except StartStateInvalid as error:
        return ((task.test_file, patched),), f'on old code as a whole file: {error}'
    return ((task.test_file, text),), ''
