"""Whether the start state of a task is one: its targets broken or absent, its other tests passing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from coevo.kept_tests import kept_tests
from coevo.kept_tests import lost_test
from coevo.languages.base import Compiled
from coevo.old_pieces import Original
from coevo.old_pieces import StartStateInvalid
from coevo.quality import VALID
from coevo.reach import names_used_elsewhere
from coevo.records import TestMethod
from coevo.records import Track
from coevo.start_state import Target
from coevo.start_state import start_file
from coevo.swapped import Bench
from coevo.swapped import Subject
from coevo.swapped import Task
from coevo.swapped import Verdicts
from coevo.swapped import is_broken
from coevo.test_files import content
from coevo.test_files import path_at_old


@dataclass(frozen=True, slots=True, kw_only=True)
class StartState:
    """`why` says of each method that it is `valid`, or why not; `told_cnew` has those reverted."""

    why: Mapping[str, str]
    told_cnew: Verdicts = field(default_factory=dict)


def start_state(bench: Bench, task: Task) -> StartState:
    """The start state of a task, compiled and run (design, "Start state of a task")."""
    names = list(task.methods)
    try:
        start = _start_file(bench, task)
    except StartStateInvalid as error:
        return StartState(why=dict.fromkeys(names, str(error)))
    if task.is_generation:
        return StartState(why=dict.fromkeys(names, _siblings_verdict(bench, task, start)))
    methods = {subject.method_id: _reverted(subject) for subject in task.subjects}
    told = bench.verdicts(_compiled(bench, task, start), methods, is_broken)
    outcomes = {name: verdict.outcome for name, verdict in told.items()}
    return StartState(
        why={name: VALID if it.broken else f'start_{it}' for name, it in outcomes.items()},
        told_cnew=told,
    )


def _start_file(bench: Bench, task: Task) -> bytes | None:
    repository, old, new = bench.repository, bench.pair.old.rev, bench.pair.new.rev
    source = task.source(bench)
    before = path_at_old(repository, old, new, task.test_file)
    return start_file(
        source,
        None if before is None else content(repository, old, before),
        [_target(bench, subject) for subject in task.subjects],
        used_elsewhere=names_used_elsewhere(repository, new, task.test_file),
    )


def _target(bench: Bench, subject: Subject) -> Target:
    if subject.track is Track.GENERATION or subject.old is None:
        return Target(method=subject.new)
    source = content(bench.repository, bench.pair.old.rev, subject.old.test_file)
    assert source is not None, 'what was changed stands in a file of the old revision'
    return Target(method=subject.new, original=Original(method=subject.old, source=source))


def _reverted(subject: Subject) -> TestMethod:
    """A target's identity at the start: its old name and parameters, in its new class."""
    old = subject.old or subject.new
    return replace(subject.new, test_method=old.test_method, parameters=old.parameters)


def _compiled(bench: Bench, task: Task, start: bytes | None) -> Compiled:
    new = bench.pair.new.rev
    return bench.compile(new, new, task.module, ((task.test_file, start),))


def _siblings_verdict(bench: Bench, task: Task, start: bytes | None) -> str:
    """Whether the tests that a start file keeps do what they do in the new file."""
    if start is None:
        return VALID
    kept = kept_tests(start, task.module, task.test_file, bench.pair.pair_id)
    new = bench.pair.new.rev
    lost = lost_test(
        bench,
        kept,
        at_start=lambda: _compiled(bench, task, start),
        as_gold=lambda: bench.workshop.compile(new, new, task.module),
    )
    return lost or VALID
