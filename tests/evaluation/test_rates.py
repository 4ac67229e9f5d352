from __future__ import annotations

from dataclasses import replace

import pytest

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.bootstrap import MeanEstimate
from coevo.evaluation.reporting.records import TrackReport
from coevo.evaluation.reporting.report import make_report
from coevo.model.words import Track
from tests.evaluation.rows import row

# One task with a half, one with none, one with all of its judged methods; one is not judged at all.
ROWS = [
    row('a', 'T#1', TaskOutcome.SUCCESS, repo='one'),
    row('a', 'T#2', TaskOutcome.SUCCESS, repo='one'),
    row('a', 'T#3', TaskOutcome.REDUNDANT, repo='one'),
    row('a', 'T#4', TaskOutcome.EXEC_FAIL, repo='one', outcome_by_module=TaskOutcome.CMPL_FAIL),
    row('b', 'T#1', TaskOutcome.CMPL_FAIL, repo='two'),
    row('c', 'T#1', TaskOutcome.SUCCESS, repo='two', outcome_by_module=TaskOutcome.INFRA),
    row('c', 'T#2', TaskOutcome.INFRA, repo='two', outcome_by_module=TaskOutcome.HRNS_FAIL),
    row('d', 'T#1', TaskOutcome.INFRA, repo='two'),
]


def _report(rows: list[MethodResult], track: Track) -> TrackReport:
    (report,) = make_report([replace(one, track=track) for one in rows]).tracks
    return report


def _value(estimate: MeanEstimate | None) -> float | None:
    return estimate and estimate.value


def test_macro_rates_are_means_over_tasks_without_infra_outcomes() -> None:
    found = _report(ROWS, Track.GENERATION).macro
    assert _value(found.success) == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert _value(found.redundant) == pytest.approx((1 / 4 + 0 + 0) / 3)
    assert _value(found.exec_fail) == pytest.approx((1 / 4 + 0 + 0) / 3)
    assert _value(found.cmpl_fail) == pytest.approx((0 + 1 + 0) / 3)
    assert _value(found.hrns_fail) == 0
    assert found.success.units == 3


def test_micro_rates_are_shares_of_methods() -> None:
    found = _report(ROWS, Track.GENERATION).micro
    assert _value(found.success) == pytest.approx(3 / 6)
    assert _value(found.redundant) == pytest.approx(1 / 6)
    assert _value(found.exec_fail) == pytest.approx(1 / 6)
    assert _value(found.cmpl_fail) == pytest.approx(1 / 6)
    assert _value(found.hrns_fail) == 0
    assert found.success.units == 6


def test_rates_by_module_use_the_outcomes_by_module_and_their_infra() -> None:
    found = _report(ROWS, Track.GENERATION).macro_by_module
    assert _value(found.success) == pytest.approx((1 / 2 + 0 + 0) / 3)
    assert _value(found.exec_fail) == 0
    assert _value(found.cmpl_fail) == pytest.approx((1 / 4 + 1 + 0) / 3)
    assert _value(found.hrns_fail) == pytest.approx((0 + 0 + 1) / 3)


def test_only_generation_has_redundant_tests() -> None:
    assert _report(ROWS[:2], Track.UPDATE).macro.redundant is None


def test_infra_outcomes_alone_give_no_rate() -> None:
    found = _report(ROWS[-1:], Track.UPDATE).macro
    assert found.success == MeanEstimate(value=None, low=None, high=None, units=0, repositories=0)
