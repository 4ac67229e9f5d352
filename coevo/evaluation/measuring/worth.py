"""The adequacy of what was judged: of those targets that pass on the new code, and of no other."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from coevo.evaluation.judging.outcomes import decide
from coevo.evaluation.judging.protocol import Judgement
from coevo.evaluation.judging.scene import Scene
from coevo.evaluation.judging.submissions import expected
from coevo.evaluation.judging.trial import Trial
from coevo.evaluation.measuring.adequacy import measure
from coevo.evaluation.measuring.gold import gold_methods
from coevo.evaluation.measuring.pit import with_pit
from coevo.snapshot import Opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
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
    measures: Measures, trial: Trial, judgement: Judgement, patched: bytes
) -> Judgement:
    """The judgement with what its passing targets are worth; Transient."""
    track = trial.assignment.task.track
    passing = [
        name for name, seen in judgement.seen.items() if decide(track, seen)[0].passes_on_new
    ]
    if not passing:
        return judgement
    scene = Scene(
        assignment=trial.assignment,
        workshop=trial.workshop,
        repository=trial.repository,
        pair=trial.pair,
        patched=patched,
        methods=judgement.methods,
        conditions=replace(trial.conditions, observed=True, expects=expected(patched)),
    )
    gold = gold_methods(measures.snapshot, trial.assignment)
    measured = measure(scene, {name: gold[name] for name in passing}, measures.kept)
    if measures.pit:
        measured = with_pit(scene, measured, measures.kept_pit)
    return replace(judgement, adequacy=measured)
