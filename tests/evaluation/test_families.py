"""Both averages of suites: what each is over, and what no suite can make of them."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from coevo.evaluation.reporting.records import FamilyReport
from coevo.evaluation.reporting.report import make_report
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult, SuiteTest
from coevo.model.families import Family, SuiteAdequacy
from coevo.model.words import Outcome

GOLD = SuiteAdequacy(
    tests=4,
    passing=4,
    lines=10,
    covered_lines=9,
    branches=4,
    covered_branches=2,
    methods=5,
    covered_methods=5,
    mutants=8,
    killed=6,
)
PASSING = SuiteTest(test_method='ATest#a', passes=True, outcome=Outcome.PASS)


def suite(
    number: int,
    outcome: SuiteOutcome = SuiteOutcome.SUCCESS,
    adequacy: SuiteAdequacy | None = None,
    gold: SuiteAdequacy = GOLD,
) -> SuiteResult:
    passes = outcome in (SuiteOutcome.SUCCESS, SuiteOutcome.PARTLY)
    return SuiteResult(
        task_id=f'{number:016x}',
        repo=f'owner/name{number % 3}',
        language='java',
        family=Family.CLASS,
        new_date=datetime(2026, 1, 1, tzinfo=UTC),
        outcome=outcome,
        builds=outcome.ran,
        tests=(PASSING,) if passes else (),
        adequacy=adequacy,
        gold_adequacy=gold,
        engine_version='1',
        suites_version=1,
        sandbox='bubblewrap',
        snapshot_sha256='0' * 64,
        prediction_sha256='0' * 64,
    )


def covering(lines: int) -> SuiteAdequacy:
    return SuiteAdequacy(tests=1, passing=1, lines=10, covered_lines=lines)


def report(*rows: SuiteResult) -> FamilyReport:
    (found,) = make_report((), rows).families
    return found


def test_suite_that_did_not_run_is_0_over_all_and_absent_over_ran() -> None:
    found = report(
        suite(0, adequacy=covering(8)),
        suite(1, SuiteOutcome.CMPL_FAIL),
        suite(2, SuiteOutcome.EMPTY),
        suite(3, SuiteOutcome.EXEC_FAIL),
    )
    assert (found.lines.over_all.value, found.lines.over_all.units) == (pytest.approx(0.2), 4)
    assert (found.lines.over_ran.value, found.lines.over_ran.units) == (pytest.approx(0.4), 2)
    assert (found.ran.value, found.builds.value, found.success.value) == (0.5, 0.5, 0.25)
    assert (found.lines.gold.value, found.lines.start.value) == (pytest.approx(0.9), 0.0)


def test_unknown_measure_of_a_suite_is_in_neither_average() -> None:
    found = report(suite(0, adequacy=covering(8)), suite(1, adequacy=None))
    assert (found.lines.over_all.units, found.lines.unknown) == (1, 1)
    # mutants were run for gold and for neither of these
    assert (found.mutation.over_all.value, found.mutation.unknown) == (None, 2)


def test_suite_without_branches_has_no_branch_coverage() -> None:
    plain = SuiteAdequacy(tests=1, passing=1, lines=10, covered_lines=9, branches=0)
    found = report(suite(0, adequacy=covering(8), gold=plain))
    assert (found.branches.over_all.units, found.branches.unknown) == (0, 0)


def test_infra_suite_is_left_out_of_all_figures() -> None:
    found = report(suite(0, adequacy=covering(8)), suite(1, SuiteOutcome.INFRA))
    assert (found.tasks, found.infra, found.lines.over_all.units) == (1, 1, 1)
    assert found.outcomes == {'success': 1}


@pytest.mark.sampled(6)
@pytest.mark.parametrize('seed', range(20))
def test_the_average_over_all_never_exceeds_the_share_that_ran(seed: int) -> None:
    """AgoneTest's Table IV has 64.8 % of lines at a build rate of 28.6 %: that is no mean over all."""
    lot = random.Random(seed)
    outcomes = [one for one in SuiteOutcome if one is not SuiteOutcome.INFRA]
    rows = []
    for number in range(lot.randint(1, 30)):
        outcome = lot.choice(outcomes)
        passes = outcome in (SuiteOutcome.SUCCESS, SuiteOutcome.PARTLY)
        rows.append(suite(number, outcome, covering(lot.randint(0, 10)) if passes else None))
    found = report(*rows)
    over_all, over_ran = found.lines.over_all.value, found.lines.over_ran.value
    assert over_all is not None
    assert found.ran.value is not None
    assert over_all <= found.ran.value + 1e-12
    if over_ran:
        assert (over_all == pytest.approx(over_ran)) == (found.ran.value == 1)
        assert over_all == pytest.approx(over_ran * found.ran.value)
