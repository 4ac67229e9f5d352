"""One prediction, judged: the patch on the start state, its targets on new code and on old.

Each target runs in a fresh process of its own, watched from outside (TestEvo-Bench, §4.2, A.2;
docs/trust.md, "Submitted patches").
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.alone import run_alone
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.matching import matched
from coevo.evaluation.judging.neighbours import Neighbours
from coevo.evaluation.judging.neighbours import neighbours
from coevo.evaluation.judging.outcomes import Seen
from coevo.evaluation.judging.placebos import Placebos
from coevo.evaluation.judging.placebos import with_sight
from coevo.evaluation.judging.preconditions import Held
from coevo.evaluation.judging.preconditions import Preconditions
from coevo.evaluation.judging.shown_sources import shown_sources
from coevo.evaluation.judging.steadiness import PASSES
from coevo.evaluation.judging.steadiness import fails_again
from coevo.evaluation.judging.steadiness import passes_again
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.records import Adequacy
from coevo.evaluation.records import Detail
from coevo.git.contents import content
from coevo.git.contents import path_at_old
from coevo.languages.cells import Compiled
from coevo.languages.conditions import Conditions
from coevo.languages.conditions import MainSources
from coevo.languages.declarations import SourceFile
from coevo.languages.reading import Reading
from coevo.languages.surgery import Graft
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.table import reading
from coevo.languages.table import surgery
from coevo.model.records import Outcome
from coevo.model.records import TestMethod
from coevo.starts.isolated_cells import Files

_RUN_AND_BROKEN = (Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT)


class NotBuilt(RuntimeError):
    """An end of a task does not build here."""


@dataclass(slots=True, kw_only=True)
class Judgement:
    """What was seen of each target by its name; what all of them cost together.

    methods   the targets as they were submitted
    adequacy  of those of which it was measured
    runtime   with which all was built and run; None where nothing was
    sources   that lay beside the tests in every cell; None where nothing was run
    others    the other tests of the file; None where no target passes on the new code
    """

    seen: dict[str, Seen]
    methods: Mapping[str, TestMethod] = field(default_factory=dict)
    adequacy: Mapping[str, Adequacy] = field(default_factory=dict)
    runtime: str | None = None
    sources: MainSources | None = None
    others: Neighbours | None = None
    cpu_seconds: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswers:
    """What is asked once for each task."""

    preconditions: Preconditions = field(default_factory=Preconditions)
    placebos: Placebos = field(default_factory=Placebos)


def judge(
    context: TaskContext, patched: bytes, methods: Mapping[str, TestMethod], known: KnownAnswers
) -> Judgement:
    """The targets of a patched file; Transient, NotBuilt.

    methods  those that were submitted, by name
    """
    began = time.monotonic()
    targets = context.assignment.targets
    _check_builds(context)
    cpu_seconds = context.built.old.cpu_seconds + context.built.new.cpu_seconds
    new_cell = context.compile(
        context.pair.new.rev, ((context.assignment.task.test_file, patched),)
    )
    shadows = _shadows(context, new_cell)
    if shadows:
        return refused(context.assignment, _in_place_of_code(shadows), cpu_seconds)
    sources, asked = shown_sources(context, known.preconditions.ledger)
    context = replace(context, conditions=replace(context.conditions, sources=sources))
    conditions = replace(
        context.conditions,
        observed=True,
        expects=_reading(context.assignment).expected_throws(patched),
    )
    cpu_seconds += asked
    held = Held() if context.assignment.is_generation else known.preconditions.of(context)
    cpu_seconds += new_cell.cpu_seconds + held.cpu_seconds
    common = time.monotonic() - began
    seen = {target.name: Seen(precondition=held.outcomes.get(target.name)) for target in targets}
    for name, method in methods.items():
        seen[name] = _on_new(context, new_cell, method, conditions, seen[name])
    old_cell: Compiled | None = None
    if context.assignment.is_generation:
        passing = {n: m for n, m in methods.items() if _passes(seen[n])}
        old_cell, note = _old_cell(context, patched, list(passing.values()))
        shadows = _shadows(context, old_cell) if old_cell else []
        if shadows:
            return refused(context.assignment, _in_place_of_code(shadows), cpu_seconds)
        if old_cell:
            cpu_seconds += old_cell.cpu_seconds
            _on_old(context, old_cell, note, passing, seen)
    for name, method in methods.items():
        if _has_to_be_steady(context, seen[name]):
            seen[name] = _steady(context, new_cell, old_cell, method, seen[name])
        if _passes(seen[name]) and _fails_on_old(seen[name]):
            target = context.assignment.target(name)
            looked = known.placebos.look(context, patched, target, method, target.row.dependencies)
            seen[name] = with_sight(seen[name], looked)
    others = None
    if any(map(_passes, seen.values())):
        began = time.monotonic()
        others = neighbours(context, new_cell, known.preconditions.ledger)
        cpu_seconds += others.cpu_seconds
        common += time.monotonic() - began
    if context.assignment.is_generation:
        held = known.preconditions.of(context, others.passing if others is not None else ())
        cpu_seconds += held.cpu_seconds
    if held.lost is not None:
        return in_trouble(context.assignment, Detail.PRECONDITION, f'at the start {held.lost}')
    return Judgement(
        seen=seen,
        methods=methods,
        runtime=context.built.new.runtime,
        sources=sources,
        others=others,
        cpu_seconds=cpu_seconds,
        seconds=common,
    )


def submitted(
    assignment: Assignment, start: bytes | None, patched: bytes | None
) -> dict[str, TestMethod]:
    """The targets that stand in a file, None if it was deleted; in one that our parser cannot read,
    all may do."""
    if patched is None:
        return {}
    file = _parsed(assignment, patched)
    targets = assignment.targets
    unread = {target.name: target.method for target in targets} if file.has_error else {}
    return unread | matched(file, targets, start)


def _parsed(assignment: Assignment, source: bytes) -> SourceFile:
    return _reading(assignment).parse(source, assignment.task.test_file)


def _reading(assignment: Assignment) -> Reading:
    return reading(assignment.task.language)


def _check_builds(context: TaskContext) -> None:
    """NotBuilt; the old end has to be whole where something is run on it."""
    ends = (context.built.old, context.built.new)
    for end in ends if context.assignment.is_generation else ends[1:]:
        trouble = end.trouble(context.module)
        if trouble is not None:
            raise NotBuilt(f'{end.rev[:12]} does not build here: {trouble}')


def _shadows(context: TaskContext, cell: Compiled) -> list[str]:
    """Classes of the patch by which tests would get to see other code than the cell's revision's.

    What that end's own test tree has of the kind, or gold, is the project's own way.
    """
    found = context.built.shadowing(cell)
    if not found:
        return []
    rev = cell.code_rev
    before = context.built.shadowing(context.built.compile(rev, rev, context.module))
    gold = context.gold
    own = (
        {type_.name for type_ in _parsed(context.assignment, gold).types}
        if gold is not None
        else set[str]()
    )
    return sorted(found - before - own)


def _in_place_of_code(shadows: Sequence[str]) -> Refusal:
    said = f'{shadows[0]} would stand in the place of production code'
    return Refusal(detail=Detail.PRODUCTION_CODE, said=said)


def _passes(seen: Seen) -> bool:
    new = seen.new
    passes = new is not None and new.outcome is Outcome.PASS and new.tampered is None
    return passes and seen.unstable is None


def _fails_on_old(seen: Seen) -> bool:
    """As chance could have it, or the look of the code: what the compiler says is the same each time."""
    return seen.old is not None and seen.old.outcome in _RUN_AND_BROKEN


def _has_to_be_steady(context: TaskContext, seen: Seen) -> bool:
    """Whether a failure of it on other code is to mean anything; else it has nothing to gain by it."""
    return _passes(seen) and (context.measured or _fails_on_old(seen))


def _steady(
    context: TaskContext,
    new_cell: Compiled,
    old_cell: Compiled | None,
    method: TestMethod,
    seen: Seen,
) -> Seen:
    """The runs on both codes in turns: who goes by the time of day passes and fails for a while."""
    if old_cell is not None and _fails_on_old(seen):
        seen = passes_again(context, new_cell, method, seen, PASSES - 1)
        seen = fails_again(context, old_cell, method, seen)
    return passes_again(context, new_cell, method, seen)


# -- running ---------------------------------------------------------------------------------------


def _on_new(
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
    return passes_again(context, cell, method, seen, 1) if _passes(seen) else seen


def _old_cell(
    context: TaskContext, patched: bytes, methods: Sequence[TestMethod]
) -> tuple[Compiled | None, str]:
    """Targets in the old tree on old code, and what is to be said of that; None without any."""
    if not methods:
        return None, ''
    files, note = _transplanted(context, patched, methods)
    return context.compile(context.pair.old.rev, files), note


def _on_old(
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


def refused(assignment: Assignment, refusal: Refusal, cpu_seconds: float = 0.0) -> Judgement:
    """A patch that cannot be judged fails all targets alike; nothing is run."""
    seen = {target.name: Seen(refusal=refusal) for target in assignment.targets}
    return Judgement(seen=seen, cpu_seconds=cpu_seconds)


def in_trouble(assignment: Assignment, detail: Detail, said: str) -> Judgement:
    """Trouble of ours, which is no verdict on any target."""
    trouble = Refusal(detail=detail, said=said)
    return Judgement(seen={target.name: Seen(trouble=trouble) for target in assignment.targets})
