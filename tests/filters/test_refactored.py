from __future__ import annotations

import pytest

from coevo.model.profiles import load_profile
from coevo.model.reasons import OWNERS
from coevo.model.words import Stage, Track
from filters import refactored_source, refactored_test, refactoring_unknown
from filters.base import TrackCase, TrackFilter

FILTERS: tuple[TrackFilter, ...] = (refactored_test, refactored_source, refactoring_unknown)


def first_reason(track: Track, test: bool | None, source: bool | None) -> str | None:
    case = TrackCase(
        profile=load_profile('default'),
        track=track,
        doubt=None,
        isolated=None,
        guard=None,
        test_only_refactored=test,
        source_only_refactored=source,
        suite_old=None,
        suite_new=None,
    )
    return next(
        (reason for f in FILTERS if (reason := f.find_track_loss_reason(case)) is not None), None
    )


@pytest.mark.parametrize(
    ('test', 'source', 'reason'),
    [
        (False, False, None),
        (True, False, refactored_test.Reason.TEST_REFACTORED_ONLY),
        (True, None, refactored_test.Reason.TEST_REFACTORED_ONLY),
        (False, True, refactored_source.Reason.SOURCE_REFACTORED_ONLY),
        (None, True, refactored_source.Reason.SOURCE_REFACTORED_ONLY),
        (None, False, refactoring_unknown.Reason.REFACTORING_UNKNOWN),
        (False, None, refactoring_unknown.Reason.REFACTORING_UNKNOWN),
    ],
)
def test_mere_or_unknown_refactoring_withholds_the_track(
    test: bool | None, source: bool | None, reason: str | None
) -> None:
    for track in (Track.UPDATE, Track.GENERATION):
        assert first_reason(track, test, source) == reason


def test_repair_keeps_its_track_whatever_its_source_refactoring() -> None:
    assert first_reason(Track.REPAIR, False, True) is None
    assert first_reason(Track.REPAIR, False, None) is None
    assert first_reason(Track.REPAIR, True, False) == refactored_test.Reason.TEST_REFACTORED_ONLY
    assert first_reason(Track.REPAIR, None, False) == refactoring_unknown.Reason.REFACTORING_UNKNOWN


def test_refactoring_filter_reasons_belong_to_the_track_stage() -> None:
    reasons = [reason for filter_ in FILTERS for reason in filter_.Reason]
    assert len(set(reasons)) == len(reasons)
    assert {OWNERS[reason] for reason in reasons} == {Stage.TRACK}
