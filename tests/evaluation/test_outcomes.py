"""From what was seen to the one outcome: every row of §4.3's table, and that nothing falls between."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.outcomes import (
    Decision,
    TargetResult,
    decide_outcome,
    decide_outcome_by_module,
)
from coevo.evaluation.outcomes import Detail, TaskOutcome
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome, Track

PASS, FAIL = Verdict(outcome=Outcome.PASS), Verdict(outcome=Outcome.FAIL)


def seen(new: Outcome, old: Outcome | None = None) -> TargetResult:
    return TargetResult(
        submitted=True,
        new=Verdict(outcome=new),
        new_module_ok=True,
        old=None if old is None else Verdict(outcome=old),
        old_module_ok=True,
    )


@pytest.mark.parametrize(
    ('new', 'expected'),
    [
        (Outcome.PASS, (TaskOutcome.SUCCESS, None)),
        (Outcome.FAIL, (TaskOutcome.EXEC_FAIL, Detail.FAIL)),
        (Outcome.ERROR, (TaskOutcome.EXEC_FAIL, Detail.ERROR)),
        (Outcome.TIMEOUT, (TaskOutcome.EXEC_FAIL, Detail.TIMEOUT)),
        (Outcome.COMPILE_ERROR, (TaskOutcome.CMPL_FAIL, Detail.COMPILE_ERROR)),
        (Outcome.SKIPPED, (TaskOutcome.HRNS_FAIL, Detail.TARGET_DISABLED)),
        (Outcome.MISSING, (TaskOutcome.HRNS_FAIL, Detail.TARGET_MISSING)),
    ],
)
def test_outcome_of_updates_and_repairs_follows_from_the_new_code(
    new: Outcome, expected: Decision
) -> None:
    for track in (Track.UPDATE, Track.REPAIR):
        assert decide_outcome(track, seen(new)) == expected


@pytest.mark.parametrize(
    ('old', 'expected'),
    [
        (Outcome.FAIL, TaskOutcome.SUCCESS),
        (Outcome.ERROR, TaskOutcome.SUCCESS),
        (Outcome.TIMEOUT, TaskOutcome.SUCCESS),
        (Outcome.COMPILE_ERROR, TaskOutcome.SUCCESS),
        (Outcome.PASS, TaskOutcome.REDUNDANT),
        (Outcome.SKIPPED, TaskOutcome.REDUNDANT),
        (Outcome.MISSING, TaskOutcome.HRNS_FAIL),
        (Outcome.UNBUILDABLE, TaskOutcome.INFRA),
    ],
)
def test_generated_or_extended_test_must_fail_on_old_code(
    old: Outcome, expected: TaskOutcome
) -> None:
    for track in (Track.GENERATION, Track.EXTENSION):
        assert decide_outcome(track, seen(Outcome.PASS, old))[0] is expected


def test_extended_test_must_kill_the_mutants_that_the_old_test_kills() -> None:
    weakened = replace(seen(Outcome.PASS, Outcome.FAIL), weakened=True)
    assert decide_outcome(Track.EXTENSION, weakened) == (
        TaskOutcome.WEAKENED,
        Detail.ORACLE_LOST,
    )
    for track in (Track.GENERATION, Track.UPDATE):
        assert decide_outcome(track, weakened) == (TaskOutcome.SUCCESS, None)


def test_old_test_of_an_extension_must_pass_at_the_start() -> None:
    at_start = replace(seen(Outcome.PASS, Outcome.FAIL), precondition=Outcome.PASS)
    assert decide_outcome(Track.EXTENSION, at_start) == (TaskOutcome.SUCCESS, None)
    broken = replace(at_start, precondition=Outcome.FAIL)
    assert decide_outcome(Track.EXTENSION, broken) == (TaskOutcome.INFRA, Detail.PRECONDITION)


def test_refusal_precedes_trouble_and_trouble_precedes_verdicts() -> None:
    refusal, trouble = Refusal(detail=Detail.EMPTY), Refusal(detail=Detail.TROUBLE)
    assert decide_outcome(Track.UPDATE, TargetResult(refusal=refusal, trouble=trouble)) == (
        TaskOutcome.HRNS_FAIL,
        Detail.EMPTY,
    )
    assert decide_outcome(Track.UPDATE, TargetResult(trouble=trouble)) == (
        TaskOutcome.INFRA,
        Detail.TROUBLE,
    )
    held = TargetResult(precondition=Outcome.PASS, submitted=True, new=PASS)
    assert decide_outcome(Track.UPDATE, held) == (TaskOutcome.INFRA, Detail.PRECONDITION)
    assert decide_outcome(Track.UPDATE, TargetResult()) == (
        TaskOutcome.HRNS_FAIL,
        Detail.TARGET_MISSING,
    )


def test_forged_pass_is_tampered_on_every_track() -> None:
    forged = TargetResult(submitted=True, new=Verdict(outcome=Outcome.PASS, tampered='not_left'))
    for track in Track:
        assert decide_outcome(track, forged) == (TaskOutcome.HRNS_FAIL, Detail.TAMPERED)


def test_unstable_runs_are_no_success_on_any_track() -> None:
    for track, old in product(Track, (None, *Outcome)):
        unstable = replace(seen(Outcome.PASS, old), unstable='once pass, once fail')
        if old is not None or not track.must_fail_on_old_code:
            assert decide_outcome(track, unstable) == (TaskOutcome.EXEC_FAIL, Detail.UNSTABLE)
    forged = Verdict(outcome=Outcome.PASS, tampered='not_left')
    both = TargetResult(submitted=True, new=forged, unstable='once pass, once fail')
    assert decide_outcome(Track.UPDATE, both) == (TaskOutcome.HRNS_FAIL, Detail.TAMPERED)


def test_uncompilable_module_decides_the_outcome_by_module() -> None:
    broken_new = TargetResult(submitted=True, new=PASS, new_module_ok=False)
    assert decide_outcome_by_module(Track.UPDATE, broken_new) is TaskOutcome.CMPL_FAIL
    broken_old = TargetResult(
        submitted=True, new=PASS, new_module_ok=True, old=PASS, old_module_ok=False
    )
    assert decide_outcome(Track.GENERATION, broken_old)[0] is TaskOutcome.REDUNDANT
    assert decide_outcome_by_module(Track.GENERATION, broken_old) is TaskOutcome.SUCCESS
    assert decide_outcome_by_module(Track.GENERATION, TargetResult()) is TaskOutcome.HRNS_FAIL


def test_every_combination_of_verdicts_has_an_outcome() -> None:
    for track, new, old in product(Track, Outcome, Outcome):
        outcome, detail = decide_outcome(track, seen(new, old))
        assert (detail is None) == (outcome is TaskOutcome.SUCCESS)
        assert decide_outcome_by_module(track, seen(new, old)) is outcome
