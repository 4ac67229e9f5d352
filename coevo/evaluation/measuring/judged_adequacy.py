"""The adequacy of what was judged: of those targets that pass on the new code, and of no other."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from coevo.evaluation.judging.judgement import Judgement
from coevo.evaluation.judging.outcomes import Seen
from coevo.evaluation.judging.outcomes import decide
from coevo.evaluation.judging.placebos import Placebos
from coevo.evaluation.judging.placebos import Sight
from coevo.evaluation.judging.placebos import with_sight
from coevo.evaluation.judging.steadiness import fails_still
from coevo.evaluation.judging.submission_context import SubmissionContext
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.measuring.adequacy import Measured
from coevo.evaluation.measuring.adequacy import measure
from coevo.evaluation.measuring.gold import gold_methods
from coevo.evaluation.measuring.pit import with_pit
from coevo.languages.capabilities import Capability
from coevo.languages.table import offers
from coevo.languages.table import reading
from coevo.snapshots.snapshot import Opened


@dataclass(frozen=True, slots=True, kw_only=True)
class AdequacySettings:
    """What adequacy is measured with.

    snapshot  of which gold's mutants and reversals are read
    kept      see `coevo.evaluation.measuring.adequacy.measure`
    pit       whether PIT is asked, too; see `coevo.evaluation.measuring.pit`
    kept_pit  where its answers are kept
    """

    snapshot: Opened
    kept: Path | None = None
    pit: bool = False
    kept_pit: Path | None = None


def with_adequacy(
    measures: AdequacySettings,
    task_context: TaskContext,
    judgement: Judgement,
    patched: bytes,
    placebos: Placebos,
) -> Judgement:
    """The judgement with what its passing targets are worth; Transient.

    Who turns out to see that code was edited is worth nothing, and did not pass.
    """
    track = task_context.assignment.task.track
    passing = [
        name for name, seen in judgement.seen.items() if decide(track, seen)[0].passes_on_new
    ]
    if not passing:
        return judgement
    context = SubmissionContext(
        assignment=task_context.assignment,
        built=task_context.built,
        repository=task_context.repository,
        patched=patched,
        methods=judgement.methods,
        conditions=replace(
            task_context.conditions,
            observed=offers(task_context.pair.language, Capability.OBSERVE),
            expects=reading(task_context.pair.language).expected_throws(patched),
            sources=judgement.sources,
        ),
        slowest={name: judgement.seen[name].slowest for name in passing},
    )
    gold = gold_methods(measures.snapshot, task_context.assignment)
    measured = measure(context, {name: gold[name] for name in passing}, measures.kept)
    seen = {
        name: replace(judgement.seen[name], unstable='once pass, once not with a change undone')
        if one.unsteady
        else _looked_at(task_context, judgement, patched, placebos, name, one)
        for name, one in measured.items()
    }
    adequacy = {
        name: one.adequacy
        for name, one in measured.items()
        if decide(track, seen[name])[0].passes_on_new
    }
    if measures.pit:
        adequacy = with_pit(context, adequacy, measures.kept_pit)
    return replace(judgement, seen={**judgement.seen, **seen}, adequacy=adequacy)


def _looked_at(
    task_context: TaskContext,
    judgement: Judgement,
    patched: bytes,
    placebos: Placebos,
    name: str,
    measured: Measured,
) -> Seen:
    """Each declaration for itself: a test may look at one alone."""
    seen = judgement.seen[name]
    conditions = replace(task_context.conditions, sources=judgement.sources)
    task_context = replace(task_context, conditions=conditions)
    target = task_context.assignment.target(name)
    for one in measured.noticed:
        looked = placebos.look(task_context, patched, target, judgement.methods[name], [one])
        seen = with_sight(seen, looked)
        if looked.sight is not Sight.BLIND:
            return seen
    if measured.failing is None:
        return seen
    return fails_still(task_context, patched, judgement.methods[name], measured.failing, seen)
