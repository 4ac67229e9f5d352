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
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.judgement import Judgement
from coevo.evaluation.judging.judgement import in_trouble
from coevo.evaluation.judging.judgement import refused
from coevo.evaluation.judging.matching import matched
from coevo.evaluation.judging.neighbours import Neighbours
from coevo.evaluation.judging.neighbours import neighbours
from coevo.evaluation.judging.old_cells import old_cells_of
from coevo.evaluation.judging.outcomes import Seen
from coevo.evaluation.judging.placebos import Placebos
from coevo.evaluation.judging.placebos import with_sight
from coevo.evaluation.judging.preconditions import Held
from coevo.evaluation.judging.preconditions import Preconditions
from coevo.evaluation.judging.runs import on_new
from coevo.evaluation.judging.runs import on_old
from coevo.evaluation.judging.runs import passes
from coevo.evaluation.judging.shown_sources import shown_sources
from coevo.evaluation.judging.steadiness import PASSES
from coevo.evaluation.judging.steadiness import fails_again
from coevo.evaluation.judging.steadiness import passes_again
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Detail
from coevo.languages.cells import Compiled
from coevo.languages.declarations import SourceFile
from coevo.languages.reading import Reading
from coevo.languages.table import reading
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

_RUN_AND_BROKEN = (Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT)


class NotBuilt(RuntimeError):
    """An end of a task does not build here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswers:
    """What is asked once for each task."""

    preconditions: Preconditions = field(default_factory=Preconditions)
    placebos: Placebos = field(default_factory=Placebos)


@dataclass(slots=True, kw_only=True)
class _Run:
    """A judgement under way.

    seconds  that all targets have in common
    """

    context: TaskContext
    patched: bytes
    methods: Mapping[str, TestMethod]
    new_cell: Compiled
    held: Held
    seen: dict[str, Seen]
    cpu_seconds: float
    seconds: float
    old_cell: Compiled | None = None
    others: Neighbours | None = None

    @property
    def assignment(self) -> Assignment:
        return self.context.assignment


def judge(
    context: TaskContext, patched: bytes, methods: Mapping[str, TestMethod], known: KnownAnswers
) -> Judgement:
    """The targets of a patched file; Transient, NotBuilt.

    methods  those that were submitted, by name
    """
    run = _begun(context, patched, methods, known.preconditions)
    if isinstance(run, Judgement):
        return run
    _run_on_new(run)
    if run.assignment.is_generation:
        shadows = _run_on_old(run)
        if shadows:
            return refused(run.assignment, in_place_of_code(shadows), run.cpu_seconds)
    for name in methods:
        _look_again(run, name, known.placebos)
    if any(map(passes, run.seen.values())):
        _run_others(run, known.preconditions.ledger)
    if run.assignment.is_generation:
        run.held = known.preconditions.of(run.context, run.others.passing if run.others else ())
        run.cpu_seconds += run.held.cpu_seconds
    if run.held.lost is not None:
        return in_trouble(run.assignment, Detail.PRECONDITION, f'at the start {run.held.lost}')
    return Judgement(
        seen=run.seen,
        methods=methods,
        runtime=context.built.new.runtime,
        sources=run.context.conditions.sources,
        others=run.others,
        cpu_seconds=run.cpu_seconds,
        seconds=run.seconds,
    )


def _begun(
    context: TaskContext,
    patched: bytes,
    methods: Mapping[str, TestMethod],
    preconditions: Preconditions,
) -> _Run | Judgement:
    """All that comes before the first target is run."""
    began = time.monotonic()
    check_builds(context)
    cpu_seconds = context.built.old.cpu_seconds + context.built.new.cpu_seconds
    file = context.assignment.task.test_file
    new_cell = context.compile(context.pair.new.rev, ((file, patched),))
    shadows = code_shadows(context, new_cell)
    if shadows:
        return refused(context.assignment, in_place_of_code(shadows), cpu_seconds)
    sources, asked = shown_sources(context, preconditions.ledger)
    context = replace(context, conditions=replace(context.conditions, sources=sources))
    held = Held() if context.assignment.is_generation else preconditions.of(context)
    return _Run(
        context=context,
        patched=patched,
        methods=methods,
        new_cell=new_cell,
        held=held,
        seen={
            target.name: Seen(precondition=held.outcomes.get(target.name))
            for target in context.assignment.targets
        },
        cpu_seconds=cpu_seconds + asked + new_cell.cpu_seconds + held.cpu_seconds,
        seconds=time.monotonic() - began,
    )


def _run_on_new(run: _Run) -> None:
    expects = _reading(run.assignment).expected_throws(run.patched)
    conditions = replace(run.context.conditions, observed=True, expects=expects)
    for name, method in run.methods.items():
        run.seen[name] = on_new(run.context, run.new_cell, method, conditions, run.seen[name])


def _run_on_old(run: _Run) -> list[str]:
    """What passes on the new code, on the old; nothing if classes of the patch are in its place, which
    are named."""
    passing = {n: m for n, m in run.methods.items() if passes(run.seen[n])}
    cells = old_cells_of(run.context, run.patched, list(passing.values()))
    if cells is None:
        return []
    shadows = code_shadows(run.context, cells.alone)
    if not shadows:
        run.old_cell = cells.alone
        run.cpu_seconds += cells.cpu_seconds
        on_old(run.context, cells, passing, run.seen)
    return shadows


def _look_again(run: _Run, name: str, placebos: Placebos) -> None:
    """Whether a target does the same each time, and does not look at the text of the code."""
    context, method = run.context, run.methods[name]
    if _has_to_be_steady(context, run.seen[name]):
        run.seen[name] = _steady(context, run.new_cell, run.old_cell, method, run.seen[name])
    if passes(run.seen[name]) and _fails_on_old(run.seen[name]):
        target = run.assignment.target(name)
        looked = placebos.look(context, run.patched, target, method, target.row.dependencies)
        run.seen[name] = with_sight(run.seen[name], looked)


def _run_others(run: _Run, ledger: Ledger | None) -> None:
    """The other tests of the file."""
    began = time.monotonic()
    run.others = neighbours(run.context, run.new_cell, ledger)
    run.cpu_seconds += run.others.cpu_seconds
    run.seconds += time.monotonic() - began


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


def check_builds(context: TaskContext) -> None:
    """NotBuilt; the old end has to be whole where something is run on it."""
    ends = (context.built.old, context.built.new)
    for end in ends if context.assignment.is_generation else ends[1:]:
        trouble = end.trouble(context.module)
        if trouble is not None:
            raise NotBuilt(f'{end.rev[:12]} does not build here: {trouble}')


def code_shadows(context: TaskContext, cell: Compiled) -> list[str]:
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


def in_place_of_code(shadows: Sequence[str]) -> Refusal:
    said = f'{shadows[0]} would stand in the place of production code'
    return Refusal(detail=Detail.PRODUCTION_CODE, said=said)


def _fails_on_old(seen: Seen) -> bool:
    """As chance could have it, or the look of the code: what the compiler says is the same each time."""
    return seen.old is not None and seen.old.outcome in _RUN_AND_BROKEN


def _has_to_be_steady(context: TaskContext, seen: Seen) -> bool:
    """Whether a failure of it on other code is to mean anything; else it has nothing to gain by it."""
    return passes(seen) and (context.measured or _fails_on_old(seen))


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
