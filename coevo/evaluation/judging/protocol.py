"""One prediction, judged: the patch on the start state, its targets on new code and on old.

Each target runs in a fresh process of its own, watched from outside (TestEvo-Bench, §4.2, A.2;
ARCHITECTURE, "Submitted patches").
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from coevo.errors import Transient
from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.outcomes import Seen
from coevo.evaluation.judging.preconditions import Preconditions
from coevo.evaluation.judging.submissions import expected
from coevo.evaluation.judging.submissions import located
from coevo.evaluation.judging.trial import Trial
from coevo.evaluation.records import Adequacy
from coevo.evaluation.records import Detail
from coevo.languages.base import Batch
from coevo.languages.base import Build
from coevo.languages.base import Compiled
from coevo.languages.base import Conditions
from coevo.languages.base import Verdict
from coevo.languages.base import Workshop
from coevo.old_pieces import StartStateInvalid
from coevo.reach import names_used_elsewhere
from coevo.records import Outcome
from coevo.records import TestMethod
from coevo.swapped import Files
from coevo.syntax import parse
from coevo.test_files import content
from coevo.test_files import path_at_old
from coevo.transplant import Graft
from coevo.transplant import transplant

# What an observer that was in trouble says. It may have been ours: asked once more.
_UNOBSERVED = 'unobserved'


class NotBuilt(RuntimeError):
    """An end of a task does not build here."""


@dataclass(slots=True, kw_only=True)
class Judgement:
    """What was seen of each target by its name; what all of them cost together.

    methods   the targets as they were submitted
    adequacy  of those of which it was measured
    jdk       with which all was built and run; None where nothing was
    """

    seen: dict[str, Seen]
    methods: Mapping[str, TestMethod] = field(default_factory=dict)
    adequacy: Mapping[str, Adequacy] = field(default_factory=dict)
    jdk: str | None = None
    cpu_seconds: float = 0.0
    seconds: float = 0.0


def judge(trial: Trial, patched: bytes | None, preconditions: Preconditions) -> Judgement:
    """The targets of a patched file, None if it was deleted; Transient, NotBuilt."""
    began = time.monotonic()
    targets = trial.assignment.targets
    methods = _submitted(trial, patched)
    if patched is None or not methods:
        return Judgement(seen={target.name: Seen() for target in targets})
    built = _build(trial)
    cpu_seconds = sum(end.cpu_seconds for end in built)
    conditions = replace(trial.conditions, observed=True, expects=expected(patched))
    new_cell = trial.compile(trial.pair.new.rev, ((trial.assignment.task.test_file, patched),))
    shadows = _shadows(trial, new_cell)
    if shadows:
        said = f'{shadows[0]} would stand in the place of production code'
        return refused(
            trial.assignment, Refusal(detail=Detail.PRODUCTION_CODE, said=said), cpu_seconds
        )
    held = preconditions.of(trial)
    if held.lost is not None:
        return in_trouble(trial.assignment, Detail.PRECONDITION, f'at the start {held.lost}')
    cpu_seconds += new_cell.cpu_seconds + held.cpu_seconds
    common = time.monotonic() - began
    seen = {target.name: Seen(precondition=held.outcomes.get(target.name)) for target in targets}
    for name, method in methods.items():
        seen[name] = _on_new(trial, new_cell, method, conditions, seen[name])
    if trial.assignment.is_generation:
        passing = {n: m for n, m in methods.items() if _passes(seen[n])}
        cpu_seconds += _on_old(trial, patched, passing, seen)
    return Judgement(
        seen=seen, methods=methods, jdk=built[-1].jdk, cpu_seconds=cpu_seconds, seconds=common
    )


def _submitted(trial: Trial, patched: bytes | None) -> dict[str, TestMethod]:
    """The targets that stand in a file; in one that our parser cannot read, all may do."""
    if patched is None:
        return {}
    file = parse(patched)
    found = {}
    for target in trial.assignment.targets:
        method = located(file, target) or (target.method if file.has_error else None)
        if method is not None:
            found[target.name] = method
    return found


def _build(trial: Trial) -> Sequence[Build]:
    """Both ends, of which the old one has to be whole where something is run on it."""
    ends = trial.workshop.build(trial.pair)
    for end in ends if trial.assignment.is_generation else ends[1:]:
        trouble = end.trouble(trial.module)
        if trouble is not None:
            raise NotBuilt(f'{end.rev[:12]} does not build here: {trouble}')
    return ends


def _shadows(trial: Trial, cell: Compiled) -> list[str]:
    """Classes of the patch by which tests would get to see other code than the new revision's.

    What the start state has of the kind, or gold, is the project's own way.
    """
    found = trial.workshop.shadowing(cell)
    if not found:
        return []
    new = trial.pair.new.rev
    before = trial.workshop.shadowing(trial.workshop.compile(new, new, trial.module))
    gold = trial.gold
    own = {type_.name for type_ in parse(gold).types} if gold is not None else set[str]()
    return sorted(found - before - own)


def _passes(seen: Seen) -> bool:
    new = seen.new
    return new is not None and new.outcome is Outcome.PASS and new.tampered is None


# -- running ---------------------------------------------------------------------------------------


def _on_new(
    trial: Trial, cell: Compiled, method: TestMethod, conditions: Conditions, seen: Seen
) -> Seen:
    began = time.monotonic()
    verdict, batch = _alone(trial.workshop, cell, method, conditions)
    return replace(
        seen,
        submitted=True,
        new=verdict,
        new_module_ok=cell.unit_ok,
        output=batch.output,
        cpu_seconds=batch.cpu_seconds,
        seconds=time.monotonic() - began,
    )


def _on_old(
    trial: Trial, patched: bytes, methods: Mapping[str, TestMethod], seen: dict[str, Seen]
) -> float:
    """Run targets in the old tree on old code; the CPU seconds of compiling that."""
    if not methods:
        return 0.0
    files, note = _transplanted(trial, patched, list(methods.values()))
    cell = trial.compile(trial.pair.old.rev, files)
    for name, method in methods.items():
        began = time.monotonic()
        verdict, batch = _alone(trial.workshop, cell, method, trial.conditions)
        seen[name] = replace(
            seen[name],
            old=verdict,
            old_module_ok=cell.unit_ok,
            note=note,
            cpu_seconds=seen[name].cpu_seconds + batch.cpu_seconds,
            seconds=seen[name].seconds + time.monotonic() - began,
        )
    return cell.cpu_seconds


def _alone(
    workshop: Workshop, cell: Compiled, method: TestMethod, conditions: Conditions
) -> tuple[Verdict, Batch]:
    """What the compiler says, else one process; a time limit that is hit is confirmed."""
    told = workshop.compile_verdict(cell, method)
    if told is not None:
        return told, Batch(verdicts=(told,), cpu_seconds=0.0)
    verdict, batch = _once(workshop, cell, method, conditions)
    if verdict.outcome is Outcome.TIMEOUT or verdict.tampered == _UNOBSERVED:
        used = batch.cpu_seconds
        verdict, batch = _once(workshop, cell, method, conditions)
        batch = replace(batch, cpu_seconds=batch.cpu_seconds + used)
    return verdict, batch


def _once(
    workshop: Workshop, cell: Compiled, method: TestMethod, conditions: Conditions
) -> tuple[Verdict, Batch]:
    batch = workshop.run(cell, [method], conditions)
    (verdict,) = batch.verdicts
    assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
    if verdict.outcome is Outcome.INFRA:
        raise Transient(f'a test process did not start: {verdict.message.strip()}')
    return verdict, batch


def _transplanted(trial: Trial, patched: bytes, methods: Sequence[TestMethod]) -> tuple[Files, str]:
    """The old file with the submitted targets and what only they use; else the file as a whole."""
    task, source = trial.assignment.task, trial.source
    place = path_at_old(source, task.old_rev, task.new_rev, task.test_file)
    before = None if place is None else content(source, task.old_rev, place)
    if place != task.test_file or before is None:
        gone: Files = () if place is None else ((place, None),)
        return tuple(sorted((*gone, (task.test_file, patched)), key=lambda f: f[0])), ''
    try:
        text = transplant(
            before,
            patched,
            [Graft(new=method) for method in methods],
            used_elsewhere=names_used_elsewhere(source, task.old_rev, task.test_file),
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
