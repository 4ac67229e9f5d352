"""Against numbers worked out by hand from the caption of TestEvo-Bench's Table 10."""

from __future__ import annotations

import pytest

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.records import CappedRates, CostPoint, CostReport
from coevo.evaluation.reporting.report import make_report
from tests.evaluation.rows import row

# Six methods of five tasks are judged; of one nobody knows what it cost.
ROWS = [
    row('a', 'T#1', cost_usd=0.4, tokens=1000),
    row('a', 'T#2', cost_usd=0.4, tokens=1000),
    row('b', cost_usd=1.0),
    row('c', outcome=TaskOutcome.EXEC_FAIL, cost_usd=2.0, tokens=3000),
    row('d', cost_usd=3.5, tokens=9000),
    row('e', tokens=5000),
    row('f', outcome=TaskOutcome.INFRA, cost_usd=0.1, tokens=1),
]


def _summarise_costs(rows: list[MethodResult]) -> CostReport | None:
    (track,) = make_report(rows).tracks
    return track.costs


def _figures(capped: CappedRates) -> tuple[float | None, ...]:
    rates = capped.micro
    return (
        capped.kept,
        capped.avg_tokens.value,
        capped.avg_cost_usd.value,
        rates.success.value,
        rates.exec_fail.value,
        rates.hrns_fail.value,
    )


def test_task_above_the_cost_cap_is_a_harness_failure_outside_the_means() -> None:
    found = _summarise_costs(ROWS)
    assert found is not None
    three, one, half = found.caps
    assert (three.cap_usd, one.cap_usd, half.cap_usd) == (3.0, 1.0, 0.5)
    assert _figures(three) == pytest.approx((3 / 5, 2000, 3.4 / 3, 3 / 6, 1 / 6, 2 / 6))
    assert _figures(one) == pytest.approx((2 / 5, 1000, 1.4 / 2, 3 / 6, 0, 3 / 6))
    assert _figures(half) == pytest.approx((1 / 5, 1000, 0.4, 2 / 6, 0, 4 / 6))


def test_cost_curve_never_reaches_tasks_without_a_cost() -> None:
    found = _summarise_costs([*ROWS, row('g', cost_usd=1.0)])
    assert found is not None
    assert (found.tasks, found.tasks_without_cost) == (6, 1)
    assert found.curve == [
        CostPoint(cost_usd=0.4, share=pytest.approx(1 / 6)),
        CostPoint(cost_usd=1.0, share=pytest.approx(3 / 6)),
        CostPoint(cost_usd=2.0, share=pytest.approx(4 / 6)),
        CostPoint(cost_usd=3.5, share=pytest.approx(5 / 6)),
    ]


def test_tasks_without_costs_give_no_cost_summary() -> None:
    assert _summarise_costs([row('a'), row('b', outcome=TaskOutcome.INFRA, cost_usd=1.0)]) is None
