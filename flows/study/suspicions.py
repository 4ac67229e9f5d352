"""What speaks against the track of a labelled method."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from coevo.engine.observed_passes import doubts
from coevo.engine.repairs import guard_repairs
from coevo.engine.repairs import repair_kind
from coevo.engine.results import Step
from coevo.engine.results import Wanted
from coevo.languages.base import Conditions
from coevo.languages.refactorings import Refactorings
from coevo.languages.refactorings import RefactoringStatus
from coevo.model.records import Track
from coevo.starts.isolation import isolate
from coevo.starts.swapped import IsolatedSubject
from flows.findings import Refactored
from flows.rows import Judged
from flows.study.refactoring import refactoring_rows
from flows.study.refactoring import summary
from flows.study.scene import PairScene
from flows.study.scene import Study
from miners.diffs.delta import Delta
from miners.diffs.only_refactored import source_only_refactored
from miners.diffs.only_refactored import test_only_refactored
from miners.diffs.siblings import siblings


def suspect(
    scene: PairScene, judged: Sequence[Judged], changed: Mapping[str, Delta], found: Study
) -> None:
    """Ask of those that have a track; siblings that guard them may be any that were judged."""
    tracked = [item for item in judged if item.decision.track is not None]
    if not tracked:
        return
    _observe(scene, tracked, found)
    _isolate(scene, tracked, found)
    _ask_refactorings(scene, tracked, changed, found)
    _ask_guards(scene, tracked, [item.wanted for item in judged], found)
    _ask_suites(scene, found)


def _observe(scene: PairScene, tracked: Sequence[Judged], found: Study) -> None:
    if scene.tools.profile.observed:
        wanted = [item.wanted for item in tracked]
        repository = scene.tools.repository
        found.doubts = doubts(scene.workshop, scene.evaluation, wanted, repository)


def _isolate(scene: PairScene, tracked: Sequence[Judged], found: Study) -> None:
    subjects = [
        IsolatedSubject(wanted=item.wanted, track=item.decision.track)
        for item in tracked
        if item.decision.track is not None
    ]
    conditions = Conditions(override=scene.evaluation.override)
    isolation = isolate(scene.workshop, scene.pair, subjects, scene.tools.repository, conditions)
    scene.evaluation.cost.add(Step.ISOLATION, isolation.cpu_seconds)
    for method_id, isolated in isolation.methods.items():
        found.methods[method_id] = replace(found.methods[method_id], isolated=isolated)
    found.starts, found.tests = isolation.starts, isolation.tests


def _ask_refactorings(
    scene: PairScene, tracked: Sequence[Judged], changed: Mapping[str, Delta], found: Study
) -> None:
    if not scene.tools.profile.refactorings:
        return
    pair, repository = scene.pair, scene.tools.repository
    refactorings = scene.tools.refactorings.find(repository, pair.old.rev, pair.new.rev)
    scene.evaluation.cost.add(Step.REFACTORINGS, refactorings.cpu_seconds)
    found.pair = replace(found.pair, refactorings=summary(refactorings))
    found.refactorings = tuple(refactoring_rows(pair, refactorings))
    if refactorings.status is RefactoringStatus.NOT_OFFERED:
        return  # nobody was asked, so nothing is unknown that would take a track
    for item in tracked:
        method_id = item.wanted.method_id
        refactored = _refactored(scene, refactorings, item, changed[method_id])
        found.methods[method_id] = replace(found.methods[method_id], refactored=refactored)


def _refactored(
    scene: PairScene, refactorings: Refactorings, item: Judged, delta: Delta
) -> Refactored:
    candidate = item.wanted.candidate
    return Refactored(
        test=test_only_refactored(
            scene.tools.repository, scene.pair, refactorings, (candidate.old, candidate.new)
        ),
        source=source_only_refactored(
            scene.tools.repository, scene.pair, refactorings, delta.changes
        ),
    )


def _ask_guards(
    scene: PairScene, tracked: Sequence[Judged], evaluated: Sequence[Wanted], found: Study
) -> None:
    repairs = [item for item in tracked if item.decision.track is Track.REPAIR]
    if not repairs:
        return
    repository, old = scene.tools.repository, scene.pair.old.rev
    guards = guard_repairs(
        scene.workshop,
        scene.pair,
        scene.evaluation,
        [item.wanted for item in repairs],
        evaluated,
        lambda method: siblings(repository, old, method),
    )
    for item in repairs:
        method_id = item.wanted.method_id
        kind = repair_kind(item.decision.label, item.decision.cause)
        found.methods[method_id] = replace(
            found.methods[method_id],
            guard=guards.get(method_id),
            repair_kind=str(kind) if kind else None,
        )


def _ask_suites(scene: PairScene, found: Study) -> None:
    if not scene.tools.profile.suites:
        return
    answers = []
    for build in (scene.evaluation.old, scene.evaluation.new):
        answer, spent = scene.tools.suites.answer(scene.workshop, build)
        scene.evaluation.cost.add(Step.SUITE, spent)
        answers.append(answer)
    found.pair = replace(found.pair, suite_old=answers[0], suite_new=answers[1])
