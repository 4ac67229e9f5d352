"""From what was seen to the one outcome: every row of §4.3's table, and that nothing falls between."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.outcomes import Decision
from coevo.evaluation.judging.outcomes import Seen
from coevo.evaluation.judging.outcomes import decide
from coevo.evaluation.judging.outcomes import decide_by_module
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.outcomes import TaskOutcome
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome
from coevo.model.words import Track

PASS, FAIL = Verdict(outcome=Outcome.PASS), Verdict(outcome=Outcome.FAIL)


def seen(new: Outcome, old: Outcome | None = None) -> Seen:
    return Seen(
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
def test_updates_and_repairs_go_by_the_new_code(new: Outcome, expected: Decision) -> None:
    for track in (Track.UPDATE, Track.REPAIR):
        assert decide(track, seen(new)) == expected


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
def test_a_generated_test_has_to_fail_on_old_code(old: Outcome, expected: TaskOutcome) -> None:
    assert decide(Track.GENERATION, seen(Outcome.PASS, old))[0] is expected


def test_a_refusal_comes_before_trouble_and_trouble_before_verdicts() -> None:
    refusal, trouble = Refusal(detail=Detail.EMPTY), Refusal(detail=Detail.TROUBLE)
    assert decide(Track.UPDATE, Seen(refusal=refusal, trouble=trouble)) == (
        TaskOutcome.HRNS_FAIL,
        Detail.EMPTY,
    )
    assert decide(Track.UPDATE, Seen(trouble=trouble)) == (TaskOutcome.INFRA, Detail.TROUBLE)
    held = Seen(precondition=Outcome.PASS, submitted=True, new=PASS)
    assert decide(Track.UPDATE, held) == (TaskOutcome.INFRA, Detail.PRECONDITION)
    assert decide(Track.UPDATE, Seen()) == (TaskOutcome.HRNS_FAIL, Detail.TARGET_MISSING)


def test_a_pass_that_was_not_seen_is_tampered_on_every_track() -> None:
    forged = Seen(submitted=True, new=Verdict(outcome=Outcome.PASS, tampered='not_left'))
    for track in Track:
        assert decide(track, forged) == (TaskOutcome.HRNS_FAIL, Detail.TAMPERED)


def test_runs_that_do_not_agree_are_no_success_on_any_track() -> None:
    for track, old in product(Track, (None, *Outcome)):
        unsteady = replace(seen(Outcome.PASS, old), unstable='once pass, once fail')
        if old is not None or track is not Track.GENERATION:
            assert decide(track, unsteady) == (TaskOutcome.EXEC_FAIL, Detail.UNSTABLE)
    forged = Verdict(outcome=Outcome.PASS, tampered='not_left')
    both = Seen(submitted=True, new=forged, unstable='once pass, once fail')
    assert decide(Track.UPDATE, both) == (TaskOutcome.HRNS_FAIL, Detail.TAMPERED)


def test_by_module_one_file_that_does_not_compile_breaks_all() -> None:
    broken_new = Seen(submitted=True, new=PASS, new_module_ok=False)
    assert decide_by_module(Track.UPDATE, broken_new) is TaskOutcome.CMPL_FAIL
    broken_old = Seen(submitted=True, new=PASS, new_module_ok=True, old=PASS, old_module_ok=False)
    assert decide(Track.GENERATION, broken_old)[0] is TaskOutcome.REDUNDANT
    assert decide_by_module(Track.GENERATION, broken_old) is TaskOutcome.SUCCESS
    assert decide_by_module(Track.GENERATION, Seen()) is TaskOutcome.HRNS_FAIL


def test_every_verdict_has_an_outcome() -> None:
    for track, new, old in product(Track, Outcome, Outcome):
        outcome, detail = decide(track, seen(new, old))
        assert (detail is None) == (outcome is TaskOutcome.SUCCESS)
        assert decide_by_module(track, seen(new, old)) is outcome
