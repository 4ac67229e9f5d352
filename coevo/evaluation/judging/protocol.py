"""The grading of one prediction: its targets run on new code and, for generation, on old code.

Each target runs in a fresh process of its own, watched from outside (TestEvo-Bench, §4.2, A.2;
docs/trust.md, "What a submitted patch cannot do").
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.neighbours import NeighbourResult, check_neighbours
from coevo.evaluation.judging.outcomes import (
    GradingResult,
    TargetResult,
    make_refused_result,
    make_trouble_result,
)
from coevo.evaluation.judging.placebos import PlaceboRunner, PlaceboSubject
from coevo.evaluation.judging.preconditions import PreconditionChecker, PreconditionResult
from coevo.evaluation.judging.submitted_tests import (
    PASSES,
    OldCells,
    choose_shown_sources_with_cpu_seconds,
    compile_old_cells,
    match_targets,
    rerun_failing,
    rerun_passing,
    run_alone,
)
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Detail
from coevo.languages.cells import CompiledTests
from coevo.languages.declarations import SourceFile
from coevo.languages.reading import LanguageReading
from coevo.languages.table import get_reading
from coevo.languages.verdicts import RunConditions, Verdict
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

_RUN_AND_BROKEN = (Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT)


class BuildFailure(RuntimeError):
    """A revision that a task needs does not build on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChecks:
    """The checks that are made once for each task, whatever is submitted."""

    preconditions: PreconditionChecker = field(default_factory=PreconditionChecker)
    placebos: PlaceboRunner = field(default_factory=PlaceboRunner)


@dataclass(slots=True, kw_only=True)
class _TargetGrading:
    """The state of one grading while it runs.

    seconds  elapsed time that all targets share
    """

    context: TaskContext
    patched: bytes
    methods: Mapping[str, TestMethod]
    new_cell: CompiledTests
    precondition: PreconditionResult
    seen: dict[str, TargetResult]
    cpu_seconds: float
    seconds: float
    old_cell: CompiledTests | None = None
    others: NeighbourResult | None = None

    @property
    def assignment(self) -> Assignment:
        """The task that is graded."""
        return self.context.assignment


def grade_targets(
    context: TaskContext, patched: bytes, methods: Mapping[str, TestMethod], known: TaskChecks
) -> GradingResult:
    """Grade the targets of a patched file.

    The patch is refused if its classes would replace production code. If a kept test does not pass
    in the start state of a generation task, the result is trouble (`infra`).
    methods  the submitted targets by name
    Raises: Transient if a test process does not start; BuildFailure if an end does not build.
    """
    run = _start_grading(context, patched, methods, known.preconditions)
    if isinstance(run, GradingResult):
        return run
    _run_targets_on_new(run)
    if run.assignment.must_fail_on_old_code:
        shadows = _run_on_old_or_list_shadows(run)
        if shadows:
            return make_refused_result(
                run.assignment, make_shadow_refusal(shadows), run.cpu_seconds
            )
    for name in methods:
        _recheck_target(run, name, known.placebos)
    if any(map(passes, run.seen.values())):
        _run_neighbours(run, known.preconditions.ledger)
    if run.assignment.is_generation:
        run.precondition = known.preconditions.check(
            run.context, run.others.passing if run.others else ()
        )
        run.cpu_seconds += run.precondition.cpu_seconds
    if run.precondition.lost is not None:
        return make_trouble_result(
            run.assignment, Detail.PRECONDITION, f'at the start {run.precondition.lost}'
        )
    return GradingResult(
        seen=run.seen,
        methods=methods,
        runtime=context.built.new.runtime,
        sources=run.context.conditions.sources,
        others=run.others,
        cpu_seconds=run.cpu_seconds,
        seconds=run.seconds,
    )


def _start_grading(
    context: TaskContext,
    patched: bytes,
    methods: Mapping[str, TestMethod],
    preconditions: PreconditionChecker,
) -> _TargetGrading | GradingResult:
    """Do everything before the first target runs: builds, checks of the patch, the precondition.

    Return the grading to go on with, or its result if classes of the patch would replace production
    code.
    """
    began = time.monotonic()
    check_builds(context)
    cpu_seconds = context.built.old.cpu_seconds + context.built.new.cpu_seconds
    file = context.assignment.task.test_file
    new_cell = context.compile(context.pair.new.rev, ((file, patched),))
    shadows = find_code_shadows(context, new_cell)
    if shadows:
        return make_refused_result(context.assignment, make_shadow_refusal(shadows), cpu_seconds)
    sources, sources_cpu_seconds = choose_shown_sources_with_cpu_seconds(
        context, preconditions.ledger
    )
    context = replace(context, conditions=replace(context.conditions, sources=sources))
    precondition = (
        PreconditionResult() if context.assignment.is_generation else preconditions.check(context)
    )
    return _TargetGrading(
        context=context,
        patched=patched,
        methods=methods,
        new_cell=new_cell,
        precondition=precondition,
        seen={
            target.name: TargetResult(precondition=precondition.outcomes.get(target.name))
            for target in context.assignment.targets
        },
        cpu_seconds=cpu_seconds
        + sources_cpu_seconds
        + new_cell.cpu_seconds
        + precondition.cpu_seconds,
        seconds=time.monotonic() - began,
    )


def _run_targets_on_new(run: _TargetGrading) -> None:
    expects = _get_reading(run.assignment).list_expected_throws(run.patched)
    conditions = replace(run.context.conditions, observed=True, expects=expects)
    for name, method in run.methods.items():
        run.seen[name] = run_on_new(run.context, run.new_cell, method, conditions, run.seen[name])


def _run_on_old_or_list_shadows(run: _TargetGrading) -> list[str]:
    """Run on the old code those targets that pass on the new code.

    If classes of the patch would replace production code, run nothing and return their names.
    """
    passing = {n: m for n, m in run.methods.items() if passes(run.seen[n])}
    cells = compile_old_cells(run.context, run.patched, list(passing.values()))
    if cells is None:
        return []
    shadows = find_code_shadows(run.context, cells.alone)
    if not shadows:
        run.old_cell = cells.alone
        run.cpu_seconds += cells.cpu_seconds
        run_on_old(run.context, cells, passing, run.seen)
    return shadows


def _recheck_target(run: _TargetGrading, name: str, placebos: PlaceboRunner) -> None:
    """Check that a target always behaves the same and does not depend on the text of the code."""
    context, method = run.context, run.methods[name]
    if _has_to_be_steady(context, run.seen[name]):
        run.seen[name] = _rerun_in_turns(
            context, run.new_cell, run.old_cell, method, run.seen[name]
        )
    if passes(run.seen[name]) and _ran_and_failed_on_old(run.seen[name]):
        target = run.assignment.find_target(name)
        subject = PlaceboSubject(
            context=context,
            patched=run.patched,
            target=target,
            method=method,
            slowest=run.seen[name].slowest,
        )
        run.seen[name] = placebos.run_target_with_placebos(
            subject, run.seen[name], [target.row.dependencies]
        )


def _run_neighbours(run: _TargetGrading, ledger: Ledger | None) -> None:
    """Run the other tests of the file."""
    began = time.monotonic()
    run.others = check_neighbours(run.context, run.new_cell, ledger)
    run.cpu_seconds += run.others.cpu_seconds
    run.seconds += time.monotonic() - began


def find_submitted_targets(
    assignment: Assignment, start: bytes | None, patched: bytes | None
) -> dict[str, TestMethod]:
    """Return the targets that a submitted file has, by name; none if it was deleted (None).

    If the parser cannot read the whole file, all targets are assumed to be in it.
    """
    if patched is None:
        return {}
    file = _parse_source(assignment, patched)
    targets = assignment.targets
    unread = {target.name: target.method for target in targets} if file.has_error else {}
    return unread | match_targets(file, targets, start)


def _parse_source(assignment: Assignment, source: bytes) -> SourceFile:
    return _get_reading(assignment).parse(source, assignment.task.test_file)


def _get_reading(assignment: Assignment) -> LanguageReading:
    return get_reading(assignment.task.language)


def check_builds(context: TaskContext) -> None:
    """Check that the ends build: the new one and, if tests have to fail there, the old one.

    Raises: BuildFailure if one does not.
    """
    ends = (context.built.old, context.built.new)
    for end in ends if context.assignment.must_fail_on_old_code else ends[1:]:
        trouble = end.find_trouble(context.module)
        if trouble is not None:
            raise BuildFailure(f'{end.rev[:12]} does not build on this machine: {trouble}')


def find_code_shadows(context: TaskContext, cell: CompiledTests) -> list[str]:
    """Return the classes of a patch that would hide production code from tests.

    Such a class is allowed if the revision's own test tree or gold has it, since the project itself
    then replaces that code.
    """
    shadowing_types = context.built.find_shadowing_classes(cell)
    if not shadowing_types:
        return []
    rev = cell.code_rev
    before = context.built.find_shadowing_classes(context.built.compile(rev, rev, context.module))
    gold = context.gold
    own = (
        {type_.name for type_ in _parse_source(context.assignment, gold).types}
        if gold is not None
        else set[str]()
    )
    return sorted(shadowing_types - before - own)


def make_shadow_refusal(shadows: Sequence[str]) -> Refusal:
    """Return the refusal of a patch whose classes would replace production code."""
    message = f'{shadows[0]} would stand in the place of production code'
    return Refusal(detail=Detail.PRODUCTION_CODE, message=message)


def _ran_and_failed_on_old(seen: TargetResult) -> bool:
    """Return whether a target ran on the old code and failed there.

    Such a failure may be due to chance or to the text of the code. A compile error is not: it is
    the same each time.
    """
    return seen.old is not None and seen.old.outcome in _RUN_AND_BROKEN


def _has_to_be_steady(context: TaskContext, seen: TargetResult) -> bool:
    """Return whether to re-run a target for flakiness: if a failure on other code will count."""
    return passes(seen) and (context.measured or _ran_and_failed_on_old(seen))


def _rerun_in_turns(
    context: TaskContext,
    new_cell: CompiledTests,
    old_cell: CompiledTests | None,
    method: TestMethod,
    seen: TargetResult,
) -> TargetResult:
    """Alternate runs on the new and the old code, so that time-dependent tests are exposed.

    Such a test passes for a while and then fails for a while.
    """
    if old_cell is not None and _ran_and_failed_on_old(seen):
        seen = rerun_passing(context, new_cell, method, seen, PASSES - 1)
        seen = rerun_failing(context, old_cell, method, seen)
    return rerun_passing(context, new_cell, method, seen)


# Runs of targets on the new code and on the old code.


def passes(seen: TargetResult) -> bool:
    """Return whether a target passes on the new code, untampered and without runs that disagree."""
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
    """Run a target once under observation and, if it passes, once without."""
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
    """Run targets on the old code, and put the results into `seen`."""
    for name, method in methods.items():
        began = time.monotonic()
        verdict, used = _run_on_old_with_cpu_seconds(context, cells, method)
        seen[name] = replace(
            seen[name],
            old=verdict,
            old_module_ok=cells.alone.unit_ok,
            note=cells.note,
            cpu_seconds=seen[name].cpu_seconds + used,
            seconds=seen[name].seconds + time.monotonic() - began,
        )


def _run_on_old_with_cpu_seconds(
    context: TaskContext, cells: OldCells, method: TestMethod
) -> tuple[Verdict, float]:
    """Return the verdict of a target on the old code, with the CPU seconds.

    If it is broken both with and without added helpers, the verdict without them counts.
    """
    verdict, batch = run_alone(context.built, cells.alone, method, context.conditions)
    if cells.helped is None or not verdict.outcome.is_broken:
        return verdict, batch.cpu_seconds
    helped, more = run_alone(context.built, cells.helped, method, context.conditions)
    used = batch.cpu_seconds + more.cpu_seconds
    return (verdict if helped.outcome.is_broken else helped), used
