"""Check what speaks against the track of a labelled method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from coevo.engine.evidence import classify_repair, run_and_collect_repair_evidence
from coevo.engine.further_runs import rerun_and_find_doubts
from coevo.engine.results import SelectedMethod, Step
from coevo.languages.refactorings import Refactorings, RefactoringStatus
from coevo.languages.verdicts import RunConditions
from coevo.model.quality import RefactoringRow
from coevo.model.records import Pair
from coevo.model.words import Track
from coevo.starts.isolated_cells import IsolatedSubject
from coevo.starts.isolation import run_isolated_cells
from filters import find_track_loss_reason
from filters.base import TrackCase
from flows.rows import DecidedMethod
from flows.study.context import PairContext, Study
from miners.diffs.coupling import Delta
from miners.diffs.only_refactored import is_source_only_refactored, is_test_only_refactored
from miners.diffs.siblings import find_siblings


def collect_track_evidence(
    context: PairContext,
    decided: Sequence[DecidedMethod],
    changed: Mapping[str, Delta],
    found: Study,
) -> None:
    """Check the methods that have a track, and store the evidence in `found`.

    Any decided method may be the passing sibling of a repair. No track is removed here, see
    `remove_rejected_tracks`.
    """
    tracked = [item for item in decided if item.decision.track is not None]
    if not tracked:
        return
    _record_unconfirmed_passes(context, tracked, found)
    _isolate_methods(context, tracked, found)
    _search_and_record_refactorings(context, tracked, changed, found)
    _add_repair_evidence(context, tracked, [item.selected for item in decided], found)
    _add_suite_answers(context, found)


def _record_unconfirmed_passes(
    context: PairContext, tracked: Sequence[DecidedMethod], found: Study
) -> None:
    if context.tools.profile.observed:
        selected = [item.selected for item in tracked]
        repository = context.tools.repository
        found.doubts = rerun_and_find_doubts(context.evaluation, selected, repository)


def _isolate_methods(context: PairContext, tracked: Sequence[DecidedMethod], found: Study) -> None:
    subjects = [
        IsolatedSubject(selected=item.selected, track=item.decision.track)
        for item in tracked
        if item.decision.track is not None
    ]
    conditions = RunConditions(override=context.evaluation.override)
    isolation = run_isolated_cells(context.built, subjects, context.tools.repository, conditions)
    context.evaluation.cost.add(Step.ISOLATION, isolation.cpu_seconds)
    for method_id, isolated in isolation.methods.items():
        found.methods[method_id] = replace(found.methods[method_id], isolated=isolated)
    found.starts, found.tests = isolation.starts, isolation.tests


def _search_and_record_refactorings(
    context: PairContext,
    tracked: Sequence[DecidedMethod],
    changed: Mapping[str, Delta],
    found: Study,
) -> None:
    if not context.tools.profile.refactorings:
        return
    pair, repository = context.pair, context.tools.repository
    refactorings = context.tools.refactorings.find(repository, pair.old.rev, pair.new.rev)
    context.evaluation.cost.add(Step.REFACTORINGS, refactorings.cpu_seconds)
    found.refactoring_status = format_refactoring_status(refactorings)
    found.refactorings = tuple(build_refactoring_rows(pair, refactorings))
    if refactorings.status is RefactoringStatus.NOT_OFFERED:
        return  # nothing was searched, so nothing is unknown that would remove a track
    found.knows_refactorings = True
    for item in tracked:
        method_id, candidate = item.selected.method_id, item.selected.candidate
        found.methods[method_id] = replace(
            found.methods[method_id],
            test_only_refactored=is_test_only_refactored(
                repository, pair, refactorings, (candidate.old, candidate.new)
            ),
            source_only_refactored=is_source_only_refactored(
                repository, pair, refactorings, changed[method_id].changes
            ),
        )


def _add_repair_evidence(
    context: PairContext,
    tracked: Sequence[DecidedMethod],
    evaluated: Sequence[SelectedMethod],
    found: Study,
) -> None:
    repairs = [item for item in tracked if item.decision.track is Track.REPAIR]
    if not repairs:
        return
    repository, old = context.tools.repository, context.pair.old.rev
    guards = run_and_collect_repair_evidence(
        context.evaluation,
        [item.selected for item in repairs],
        evaluated,
        lambda method: find_siblings(repository, old, method),
    )
    for item in repairs:
        method_id = item.selected.method_id
        kind = classify_repair(item.decision.label, item.decision.cause)
        found.methods[method_id] = replace(
            found.methods[method_id],
            guard=guards.get(method_id),
            repair_kind=str(kind) if kind else None,
        )


def _add_suite_answers(context: PairContext, found: Study) -> None:
    if not context.tools.profile.suites:
        return
    answers = []
    for build in (context.evaluation.old, context.evaluation.new):
        answer, spent = context.tools.suites.get_answer_and_cpu_seconds_spent(context.built, build)
        context.evaluation.cost.add(Step.SUITE, spent)
        answers.append(answer)
    found.suite_old, found.suite_new = answers


# The next part writes the refactorings of a pair as rows, and as one status.


def format_refactoring_status(refactorings: Refactorings) -> str:
    """Return `found`, `not_offered`, or `unknown: ` and the reason."""
    if refactorings.status is RefactoringStatus.UNKNOWN:
        return f'{refactorings.status}: {refactorings.why}'
    return str(refactorings.status)


def build_refactoring_rows(pair: Pair, refactorings: Refactorings) -> Iterator[RefactoringRow]:
    """Yield a row for each refactoring, with its first location at both ends."""
    for number, refactoring in enumerate(refactorings.refactorings, start=1):
        left = refactoring.left[0] if refactoring.left else None
        right = refactoring.right[0] if refactoring.right else None
        yield RefactoringRow(
            repo=pair.repo,
            walk=pair.walk,
            pair_id=pair.pair_id,
            number=number,
            type=refactoring.type,
            description=refactoring.description,
            left_file=left.file if left else None,
            left_start=left.start_line if left else None,
            left_end=left.end_line if left else None,
            right_file=right.file if right else None,
            right_start=right.start_line if right else None,
            right_end=right.end_line if right else None,
        )


# The rest decides which labelled methods keep their track.


def remove_rejected_tracks(
    decided: Sequence[DecidedMethod], cases: Mapping[str, TrackCase]
) -> Iterator[DecidedMethod]:
    """Yield the decided methods; those that a filter rejects lose their track and get the reason.

    cases  the result of `build_track_cases`, by method id
    """
    for item in decided:
        case = cases.get(item.selected.method_id)
        reason = find_track_loss_reason(case) if case is not None else None
        if reason is None:
            yield item
        else:
            yield replace(item, decision=replace(item.decision, track=None, no_track=str(reason)))


def build_track_cases(
    context: PairContext, labelled: Sequence[DecidedMethod], found: Study
) -> dict[str, TrackCase]:
    """Return the evidence for the track filters, for each method that would have a track."""
    known = {}
    for item in labelled:
        if item.decision.track is not None:
            own = found.methods[item.selected.method_id]
            known[item.selected.method_id] = TrackCase(
                profile=context.tools.profile,
                track=item.decision.track,
                doubt=found.doubts.get(item.selected.method_id),
                isolated=own.isolated,
                guard=own.guard,
                # False, rather than unknown, if refactorings were not searched for
                test_only_refactored=own.test_only_refactored
                if found.knows_refactorings
                else False,
                source_only_refactored=own.source_only_refactored
                if found.knows_refactorings
                else False,
                suite_old=found.suite_old,
                suite_new=found.suite_new,
            )
    return known
