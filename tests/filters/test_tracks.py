"""What costs a labelled method its track, by the filters of the repairs and of the suites."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coevo.model.profiles import load_profile
from coevo.model.quality import RepairGuard
from coevo.model.reasons import EXPLANATIONS
from coevo.model.words import Outcome, Track
from filters import clock, doubt, find_track_loss_reason, sibling, suite
from filters.base import TrackCase

GUARD = RepairGuard(
    sibling='shop.TillTest#rings', clock_t_old_c_old=Outcome.FAIL, clock_t_new_c_new=Outcome.PASS
)
CASE = TrackCase(
    profile=load_profile('default'),
    track=Track.REPAIR,
    doubt=None,
    isolated=None,
    guard=GUARD,
    test_only_refactored=False,
    source_only_refactored=False,
    suite_old='pass',
    suite_new='pass',
)


def test_repair_with_a_sibling_and_a_clock_guard_keeps_its_track() -> None:
    assert sibling.find_track_loss_reason(CASE) is None
    assert clock.find_track_loss_reason(CASE) is None


@pytest.mark.parametrize('guard', [None, replace(GUARD, sibling=None)])
def test_a_repair_needs_a_passing_sibling(guard: RepairGuard | None) -> None:
    assert (
        sibling.find_track_loss_reason(replace(CASE, guard=guard))
        is sibling.Reason.NO_PASSING_SIBLING
    )


@pytest.mark.parametrize(
    ('old', 'new', 'reason'),
    [
        (Outcome.COMPILE_ERROR, Outcome.PASS, None),
        (Outcome.ERROR, Outcome.PASS, None),
        (Outcome.PASS, Outcome.PASS, clock.Reason.CLOCK_DECIDES),
        (Outcome.MISSING, Outcome.PASS, clock.Reason.CLOCK_DECIDES),
        (Outcome.FAIL, Outcome.FAIL, clock.Reason.CLOCK_DECIDES),
        (Outcome.FAIL, Outcome.SKIPPED, clock.Reason.CLOCK_DECIDES),
        (None, Outcome.PASS, clock.Reason.CLOCK_UNKNOWN),
        (Outcome.COMPILE_ERROR, None, clock.Reason.CLOCK_UNKNOWN),
    ],
)
def test_repair_decided_by_the_clock_loses_its_track(
    old: Outcome | None, new: Outcome | None, reason: str | None
) -> None:
    guard = replace(GUARD, clock_t_old_c_old=old, clock_t_new_c_new=new)
    assert clock.find_track_loss_reason(replace(CASE, guard=guard)) is reason


def test_unconfirmed_pass_loses_any_track() -> None:
    assert doubt.find_track_loss_reason(CASE) is None
    for track in Track:
        case = replace(CASE, track=track, doubt='not_entered')
        assert find_track_loss_reason(case) is doubt.Reason.PASS_NOT_CONFIRMED


def test_repair_without_a_guard_has_an_unknown_clock() -> None:
    assert clock.find_track_loss_reason(replace(CASE, guard=None)) is clock.Reason.CLOCK_UNKNOWN


@pytest.mark.parametrize('track', [Track.UPDATE, Track.GENERATION])
def test_update_and_generation_need_no_repair_guard(track: Track) -> None:
    case = replace(CASE, track=track, guard=None)
    assert (sibling.find_track_loss_reason(case), clock.find_track_loss_reason(case)) == (
        None,
        None,
    )


@pytest.mark.parametrize(
    ('old', 'new', 'reason'),
    [
        ('pass', 'pass', None),
        ('pass but for environment 2 of 120', 'pass', None),
        ('broken 3 of 120', 'not_run: budget', suite.Reason.SUITE_OLD_BROKEN),
        ('timeout 1 of 120', 'pass', suite.Reason.SUITE_UNKNOWN),
        ('pass', 'unbuildable: a: no', suite.Reason.SUITE_NEW_BROKEN),
        ('not_run: budget', 'uncompilable: a', suite.Reason.SUITE_NEW_BROKEN),
        ('pass', 'none passes of 4', suite.Reason.SUITE_NEW_BROKEN),
        ('not_run: budget', 'pass', suite.Reason.SUITE_UNKNOWN),
        ('pass', None, suite.Reason.SUITE_UNKNOWN),
    ],
)
def test_profile_may_require_both_whole_suites_to_pass(
    old: str | None, new: str | None, reason: str | None
) -> None:
    case = replace(CASE, suite_old=old, suite_new=new)
    assert suite.find_track_loss_reason(case) is None
    assert suite.find_track_loss_reason(replace(case, profile=load_profile('testevo'))) is reason


def test_every_reason_of_the_track_filters_is_tested() -> None:
    assert set(sibling.Reason) == {'no_passing_sibling'}
    assert set(clock.Reason) == {'clock_decides', 'clock_unknown'}
    assert {r for r in EXPLANATIONS if r.startswith('suite_')} == set(suite.Reason)
