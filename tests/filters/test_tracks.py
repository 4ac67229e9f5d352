"""What costs a labelled method its track."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coevo.model.profiles import load_profile
from coevo.model.quality import RepairGuard
from coevo.model.reasons import EXPLANATIONS, OWNERS
from coevo.model.words import Outcome, Stage, Track
from filters import doubt, find_track_loss_reason, refactoring, repair, suite
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
    assert repair.find_track_loss_reason(CASE) is None


@pytest.mark.parametrize('guard', [None, replace(GUARD, sibling=None)])
def test_a_repair_needs_a_passing_sibling(guard: RepairGuard | None) -> None:
    case = replace(CASE, guard=guard)
    assert repair.find_track_loss_reason(case) is repair.Reason.NO_PASSING_SIBLING


@pytest.mark.parametrize(
    ('old', 'new', 'reason'),
    [
        (Outcome.COMPILE_ERROR, Outcome.PASS, None),
        (Outcome.ERROR, Outcome.PASS, None),
        (Outcome.PASS, Outcome.PASS, repair.Reason.CLOCK_DECIDES),
        (Outcome.MISSING, Outcome.PASS, repair.Reason.CLOCK_DECIDES),
        (Outcome.FAIL, Outcome.FAIL, repair.Reason.CLOCK_DECIDES),
        (Outcome.FAIL, Outcome.SKIPPED, repair.Reason.CLOCK_DECIDES),
        (None, Outcome.PASS, repair.Reason.CLOCK_UNKNOWN),
        (Outcome.COMPILE_ERROR, None, repair.Reason.CLOCK_UNKNOWN),
    ],
)
def test_repair_decided_by_the_clock_loses_its_track(
    old: Outcome | None, new: Outcome | None, reason: str | None
) -> None:
    guard = replace(GUARD, clock_t_old_c_old=old, clock_t_new_c_new=new)
    assert repair.find_track_loss_reason(replace(CASE, guard=guard)) is reason


def test_unconfirmed_pass_loses_any_track() -> None:
    assert doubt.find_track_loss_reason(CASE) is None
    for track in Track:
        case = replace(CASE, track=track, doubt='not_entered')
        assert find_track_loss_reason(case) is doubt.Reason.PASS_NOT_CONFIRMED


@pytest.mark.parametrize('track', [Track.UPDATE, Track.GENERATION])
def test_update_and_generation_need_no_repair_guard(track: Track) -> None:
    case = replace(CASE, track=track, guard=None)
    assert repair.find_track_loss_reason(case) is None


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
    assert set(repair.Reason) == {'no_passing_sibling', 'clock_decides', 'clock_unknown'}
    assert {r for r in EXPLANATIONS if r.startswith('suite_')} == set(suite.Reason)


@pytest.mark.parametrize(
    ('test', 'source', 'reason'),
    [
        (False, False, None),
        (True, False, refactoring.Reason.TEST_REFACTORED_ONLY),
        (True, True, refactoring.Reason.TEST_REFACTORED_ONLY),
        (False, True, refactoring.Reason.SOURCE_REFACTORED_ONLY),
        (True, None, refactoring.Reason.REFACTORING_UNKNOWN),
        (None, True, refactoring.Reason.REFACTORING_UNKNOWN),
        (None, False, refactoring.Reason.REFACTORING_UNKNOWN),
        (False, None, refactoring.Reason.REFACTORING_UNKNOWN),
    ],
)
def test_mere_or_unknown_refactoring_withholds_the_track(
    test: bool | None, source: bool | None, reason: str | None
) -> None:
    case = replace(CASE, test_only_refactored=test, source_only_refactored=source)
    for track in (Track.UPDATE, Track.GENERATION):
        assert find_track_loss_reason(replace(case, track=track)) is reason


@pytest.mark.parametrize(
    ('test', 'source', 'reason'),
    [
        (False, True, None),
        (False, None, None),
        (True, False, refactoring.Reason.TEST_REFACTORED_ONLY),
        (None, False, refactoring.Reason.REFACTORING_UNKNOWN),
    ],
)
def test_repair_keeps_its_track_whatever_its_source_refactoring(
    test: bool | None, source: bool | None, reason: str | None
) -> None:
    case = replace(CASE, test_only_refactored=test, source_only_refactored=source)
    assert find_track_loss_reason(case) is reason


def test_refactoring_filter_reasons_belong_to_the_track_stage() -> None:
    assert {OWNERS[reason] for reason in refactoring.Reason} == {Stage.TRACK}
