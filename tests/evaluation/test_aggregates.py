"""Against numbers worked out by hand from TestEvo-Bench, Eqs. 1 and 3 to 5."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.records import SmellCount, TrackReport
from coevo.evaluation.reporting.report import make_report
from coevo.evaluation.worth import Adequacy, Detections, OraclePreservation
from coevo.languages.capabilities import NOT_OFFERED
from coevo.model.quality import Coverage, Mutation
from tests.evaluation.rows import row


def _coverage(
    covered: int, known: int = 5, covered_branches: int = 0, branches: int = 0
) -> Coverage:
    return Coverage(
        lines=2 * known,
        covered_lines=covered,
        known_lines=known,
        branches=branches,
        covered_branches=covered_branches,
        methods=1,
        covered_methods=1,
    )


def _mutation(killed: int | None, count: int) -> Mutation:
    zeros = dict.fromkeys(('compile_failed', 'redundant', 'capped_out', 'not_checked'), 0)
    return Mutation(emitted=count, count=count, equal_compiled=0, not_run=0, killed=killed, **zeros)


def _rows() -> list[MethodResult]:
    """A task with a success, a redundant method without mutants and one that fails; one all failed."""
    success = Adequacy(
        coverage_pred=_coverage(3, covered_branches=1, branches=4),
        coverage_gold=_coverage(4, covered_branches=3, branches=4),
        mutants=Detections(count=4, pred=2, gold=3, both=1),
        reversals=Detections(count=2, pred=1, gold=2, both=1),
        oracle=OraclePreservation(count=5, lost=1),
        smells_pred=('Assertion Roulette', 'Magic Number Test'),
        smells_gold=('Assertion Roulette',),
    )
    redundant = Adequacy(coverage_pred=_coverage(1), coverage_gold=_coverage(5))
    failed: dict[str, Any] = {'outcome': TaskOutcome.EXEC_FAIL, 'success_strict': False}
    return [
        row('a', 'T#1', adequacy=success, success_strict=True, vacuous=False),
        row('a', 'T#2', TaskOutcome.REDUNDANT, adequacy=redundant, vacuous=True),
        row('a', 'T#3', mutation_gold=_mutation(1, 4), **failed),
        row('b', 'T#1', repo='other/repo', mutation_gold=_mutation(None, 0), **failed),
        row('c', 'T#1', TaskOutcome.INFRA, repo='other/repo'),
    ]


def _report(rows: list[MethodResult]) -> TrackReport:
    (track,) = make_report(rows).tracks
    return track


def _values(record: Any) -> dict[str, Any]:
    return {
        field.name: getattr(getattr(record, field.name), 'value', None)
        for field in dataclasses.fields(record)
    }


def test_leaderboard_fields_equal_hand_computed_values() -> None:
    assert _values(_report(_rows()).fields) == {
        'avg_coverage_pred': pytest.approx(((3 / 5 + 1 / 5 + 0) / 3 + 0) / 2),
        'avg_coverage_pred_success': pytest.approx((3 / 5 + 1 / 5) / 2),
        # A.6: gold's coverage is ⊥ where the submitted test does not pass …
        'avg_coverage_gold': pytest.approx(((4 / 5 + 5 / 5 + 0) / 3 + 0) / 2),
        'avg_coverage_gold_success': pytest.approx((4 / 5 + 5 / 5) / 2),
        # as Eq. 1 is printed: half of the lines of each range hold no code
        'avg_range_coverage_pred': pytest.approx(((3 / 10 + 1 / 10 + 0) / 3 + 0) / 2),
        'avg_range_coverage_pred_success': pytest.approx((3 / 10 + 1 / 10) / 2),
        'avg_range_coverage_gold': pytest.approx(((4 / 10 + 5 / 10 + 0) / 3 + 0) / 2),
        'avg_range_coverage_gold_success': pytest.approx((4 / 10 + 5 / 10) / 2),
        'avg_mutation_score_pred': pytest.approx(((2 / 4 + 0 + 0) / 3 + 0) / 2),
        'avg_mutation_score_pred_success': pytest.approx(2 / 4),
        # … its mutation score is not.
        'avg_mutation_score_gold': pytest.approx(((3 / 4 + 0 + 1 / 4) / 3 + 0) / 2),
        'avg_mutation_score_gold_success': pytest.approx((3 / 4 + 1 / 4) / 2),
    }


def test_wide_means_are_over_all_tasks_and_narrow_means_over_measured_ones() -> None:
    found = _report(_rows()).fields
    assert found.avg_coverage_pred.units == 2
    assert found.avg_coverage_pred_success.units == 1


def test_on_pass_means_compare_gold_on_the_same_methods() -> None:
    coverage = _values(_report(_rows()).coverage)
    assert coverage == {
        'wide': pytest.approx(((3 / 5 + 1 / 5 + 0) / 3 + 0) / 2),
        'pred': pytest.approx((3 / 5 + 1 / 5) / 2),
        'gold': pytest.approx((4 / 5 + 5 / 5) / 2),
        'delta': pytest.approx((3 / 5 + 1 / 5) / 2 - (4 / 5 + 5 / 5) / 2),
    }
    mutation = _values(_report(_rows()).mutation)
    assert (mutation['gold'], mutation['delta']) == (pytest.approx(3 / 4), pytest.approx(-1 / 4))


def test_method_without_a_gold_value_is_left_out_of_the_difference() -> None:
    """Whose own number stays, as A.6 has it."""
    alone = Adequacy(coverage_pred=_coverage(5))
    found = _values(_report([*_rows(), row('a', 'T#4', adequacy=alone)]).coverage)
    assert found['pred'] == pytest.approx((3 / 5 + 1 / 5 + 5 / 5) / 3)
    assert found['gold'] == pytest.approx((4 / 5 + 5 / 5) / 2)
    assert found['delta'] == pytest.approx((3 / 5 + 1 / 5) / 2 - (4 / 5 + 5 / 5) / 2)


def test_wide_mean_is_zero_and_narrow_mean_is_absent_without_a_pass() -> None:
    failed = _rows()[2:]
    found = _values(_report(failed).fields)
    assert (found['avg_coverage_pred'], found['avg_coverage_pred_success']) == (0, None)
    assert (found['avg_mutation_score_pred'], found['avg_mutation_score_pred_success']) == (0, None)
    assert found['avg_mutation_score_gold_success'] == pytest.approx(1 / 4)


def test_unmeasured_fields_are_absent_instead_of_zero() -> None:
    found = _values(_report([row('a'), row('b', outcome=TaskOutcome.EXEC_FAIL)]).fields)
    assert set(found.values()) == {None}


def test_mutation_score_is_absent_for_tests_not_run_on_mutants() -> None:
    """Verdicts alone: the snapshot says what gold kills, and nobody what the submitted test does."""
    rows = [row('a', mutation_gold=_mutation(1, 4))]
    found = _report(rows).fields
    assert found.avg_mutation_score_pred.value is None
    assert found.avg_mutation_score_gold.value == pytest.approx(1 / 4)
    assert _report(rows).mutation.wide.value is None


def test_snapshot_without_mutants_gives_coverage_fields_only() -> None:
    covered = Adequacy(coverage_pred=_coverage(1), coverage_gold=_coverage(2))
    rows = [row('a', adequacy=covered), row('b', outcome=TaskOutcome.EXEC_FAIL)]
    found = _values(_report(rows).fields)
    assert found['avg_coverage_pred'] == pytest.approx((1 / 5 + 0) / 2)
    assert {found[name] for name in found if 'mutation' in name} == {None}
    assert set(_values(_report(rows).mutation).values()) == {None}


def test_strict_success_is_a_share_of_methods_that_can_be_asked() -> None:
    """What is not known is neither yes nor no. Vacuous is a share of all methods."""
    other: dict[str, Any] = {'repo': 'other/repo'}
    rows = [
        *_rows(),
        row('b', 'T#2', adequacy=Adequacy(), **other),
        row('b', 'T#3', TaskOutcome.EXEC_FAIL, strict_askable=False, **other),
        row('b', 'T#4', TaskOutcome.EXEC_FAIL, strict_askable=None, **other),
    ]
    found = _report(rows).beyond
    assert found.success_strict.value == pytest.approx((1 / 2 + 0) / 2)
    assert (found.success_strict.units, found.strict_askable) == (2, 5)
    assert found.success_strict_unknown == 2
    assert _report(rows).methods == 7
    found = _report(rows[:4] + rows[5:6]).beyond
    assert found.vacuous.value == pytest.approx((1 / 3 + 0 / 2) / 2)
    assert (found.success_strict_unknown, found.vacuous_unknown) == (2, 1)


def test_strict_success_is_absent_where_no_success_was_examined() -> None:
    found = _report([row('a'), row('b', outcome=TaskOutcome.EXEC_FAIL)]).beyond
    assert (found.success_strict.value, found.vacuous.value) == (None, None)


def test_extra_measures_equal_hand_computed_values() -> None:
    found = _report(_rows()).beyond
    assert _values(found) | {'smells': found.smells} == {
        'strict_askable': None,
        'success_strict': pytest.approx((1 / 2 + 0) / 2),
        'success_strict_unknown': None,
        'vacuous': pytest.approx((1 / 3 + 0) / 2),
        'vacuous_unknown': None,
        'relative_kill': pytest.approx(1 / 3),
        'branch_coverage_pred': pytest.approx(1 / 4),
        'branch_coverage_gold': pytest.approx(3 / 4),
        'reversals_pred': pytest.approx(1 / 2),
        'reversals_gold': pytest.approx(2 / 2),
        'oracle_preserved': None,
        'oracle_preservation': pytest.approx(4 / 5),
        'mutants': pytest.approx(4),
        'smells_pred': pytest.approx((2 + 0) / 2),
        'smells_gold': pytest.approx((1 + 0) / 2),
        'smells': {
            'Assertion Roulette': SmellCount(pred=1, gold=1),
            'Magic Number Test': SmellCount(pred=1, gold=0),
        },
    }


def test_unsupported_smell_detection_does_not_count_as_zero_smells() -> None:
    lacking = Adequacy(smells_pred=(NOT_OFFERED,), smells_gold=(NOT_OFFERED,))
    clean = Adequacy(smells_pred=(), smells_gold=('Lazy Test',))

    alone = _report([row('a', adequacy=lacking)]).beyond
    both = _report([row('a', adequacy=lacking), row('b', adequacy=clean)]).beyond

    assert (alone.smells_pred.value, alone.smells_gold.value) == (None, None)
    assert (both.smells_pred.value, both.smells_gold.value) == (0, 1)
    assert both.smells[NOT_OFFERED] == SmellCount(pred=1, gold=1)
