"""What k attempts come to, beside values that were counted by hand or over all draws."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from coevo.evaluation.outcomes import AttemptProtocol, Detail, TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.records import AttemptReport
from coevo.evaluation.reporting.report import compute_pass_at_k, make_report
from coevo.evaluation.suites.records import SuiteOutcome, SuiteReach, SuiteResult
from tests.evaluation.rows import row
from tests.evaluation.test_families import suite

OUTCOMES = {
    's': TaskOutcome.SUCCESS,
    'f': TaskOutcome.EXEC_FAIL,
    'i': TaskOutcome.INFRA,
}


def attempted(
    task_id: str, came_of: str, protocol: AttemptProtocol = AttemptProtocol.ONCE
) -> list[MethodResult]:
    """An attempt for each letter: success, failure, trouble of ours (infra)."""
    return [
        row(task_id, outcome=OUTCOMES[letter], attempt=number, protocol=protocol)
        for number, letter in enumerate(came_of, 1)
    ]


def solved(rows: list[MethodResult]) -> list[float | None]:
    (report,) = make_report(rows, []).attempts
    return [at.solved.value for at in report.at]


def test_pass_at_k_equals_the_share_over_all_draws() -> None:
    for n, k in itertools.product(range(1, 7), range(1, 7)):
        for c in range(n + 1):
            if k <= n:
                draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
                assert compute_pass_at_k(n, c, k) == pytest.approx(
                    sum(map(any, draws)) / len(draws)
                )


def test_order_of_independent_attempts_does_not_matter() -> None:
    assert solved(attempted('a', 'ffs')) == solved(attempted('a', 'sff'))
    assert solved(attempted('a', 'ffs')) == pytest.approx([1 / 3, 2 / 3, 1.0])


def test_infra_outcome_is_no_attempt_and_counts_as_unknown() -> None:
    """Of two that were judged no three can be drawn."""
    (report,) = make_report(attempted('a', 'fis') + attempted('b', 'sss'), []).attempts
    assert [at.solved.value for at in report.at] == pytest.approx([0.75, 1.0, 1.0])
    assert [at.unknown for at in report.at] == [0, 0, 1]
    assert [at.solved.units for at in report.at] == [2, 2, 1]


def test_task_solved_with_feedback_stays_solved_at_later_attempts() -> None:
    feedback = AttemptProtocol.FEEDBACK
    assert solved(attempted('a', 'fs', feedback) + attempted('b', 'fff', feedback)) == [0, 0.5, 0.5]
    assert solved(attempted('a', 'sf', feedback)) == [1, 1]
    (report,) = make_report(
        attempted('a', 'fi', feedback) + attempted('b', 'fs', feedback), []
    ).attempts
    assert [(at.solved.value, at.unknown) for at in report.at] == [(0, 0), (1, 1)]
    assert report.at[0].correct.value is None


def test_task_without_a_prediction_is_solved_at_no_k() -> None:
    missing = row('b', outcome=TaskOutcome.HRNS_FAIL, detail=Detail.NO_PREDICTION)
    assert solved([*attempted('a', 'ss'), missing]) == [0.5, 0.5]


def test_all_targets_have_to_succeed_in_one_attempt() -> None:
    rows = [
        row('a', 'T#one', TaskOutcome.SUCCESS),
        row('a', 'T#two', TaskOutcome.EXEC_FAIL),
        row('a', 'T#one', TaskOutcome.EXEC_FAIL, attempt=2),
        row('a', 'T#two', TaskOutcome.SUCCESS, attempt=2),
    ]
    assert solved(rows) == [0, 0]
    (report,) = make_report(rows, []).attempts
    assert (report.of, report.tasks, report.attempts) == ('update', 1, 2)


def test_single_attempts_give_no_attempt_report() -> None:
    assert make_report([row('a')], [suite(0)]).attempts == []


def test_other_report_figures_use_first_attempts_only() -> None:
    first = [row('a'), row('b', outcome=TaskOutcome.CMPL_FAIL)]
    later = [row('a', outcome=TaskOutcome.EXEC_FAIL, attempt=2), row('b', attempt=2)]
    alone, both = make_report(first), make_report([*first, *later])
    assert replace(both, attempts=[]) == replace(
        alone,
        predictions_sha256=both.predictions_sha256,
        outcomes_sha256=both.outcomes_sha256,
    )
    assert both.outcomes_sha256 != alone.outcomes_sha256
    assert both.predictions_sha256 != alone.predictions_sha256


# -- suites ----------------------------------------------------------------------------------------


def reaching(
    attempt: int,
    outcome: SuiteOutcome,
    protocol: AttemptProtocol,
    lines: str | None = None,
    killed: str | None = None,
) -> SuiteResult:
    """A letter for each line and mutant; gold has ten lines and eight mutants."""
    reach = SuiteReach(
        lines=None if lines is None else tuple(lines),
        killed=None if killed is None else tuple(killed),
    )
    return replace(suite(0, outcome), attempt=attempt, protocol=protocol, reach=reach)


def worth(report: AttemptReport) -> list[tuple[float | None, float | None]]:
    return [(at.lines.value, at.mutation.value) for at in report.at]


def test_diversified_attempts_are_measured_by_their_union() -> None:
    diversify = AttemptProtocol.DIVERSIFY
    rows = [
        reaching(1, SuiteOutcome.SUCCESS, diversify, 'abc', 'x'),
        reaching(2, SuiteOutcome.CMPL_FAIL, diversify),
        reaching(3, SuiteOutcome.PARTLY, diversify, 'cde', 'xy'),
    ]
    (report,) = make_report([], rows).attempts
    assert worth(report) == [(0.3, 0.125), (0.3, 0.125), (0.5, 0.25)]
    assert [at.correct.value for at in report.at] == pytest.approx([1, 1 / 2, 1 / 3])
    assert [at.solved.value for at in report.at] == [1, 1, 1]


def test_unknown_lines_of_one_attempt_make_the_union_unknown() -> None:
    diversify = AttemptProtocol.DIVERSIFY
    rows = [
        reaching(1, SuiteOutcome.SUCCESS, diversify, 'abc', 'x'),
        reaching(2, SuiteOutcome.SUCCESS, diversify, None, 'y'),
    ]
    (report,) = make_report([], rows).attempts
    assert worth(report) == [(0.3, 0.125), (None, 0.25)]


def test_feedback_measures_use_the_attempt_that_stands() -> None:
    feedback = AttemptProtocol.FEEDBACK
    rows = [
        reaching(1, SuiteOutcome.PARTLY, feedback, 'abcd', 'xyz'),
        reaching(2, SuiteOutcome.SUCCESS, feedback, 'ab', 'x'),
    ]
    (report,) = make_report([], rows).attempts
    assert worth(report) == [(0.4, 0.375), (0.2, 0.125)]
    (report,) = make_report(
        [], [replace(one, protocol=AttemptProtocol.ONCE) for one in rows]
    ).attempts
    assert worth(report) == [(None, None), (None, None)]


def test_union_of_branches_counts_a_line_by_its_largest_attempt() -> None:
    """Two attempts that take one branch of a line each have taken one at least."""
    diversify = AttemptProtocol.DIVERSIFY
    taken = (('a:1:1', 'a:2:1', 'a:2:2'), ('a:1:1', 'a:3:1'))
    rows = [
        replace(row, reach=SuiteReach(lines=(), branches=branches))
        for row, branches in zip(
            (reaching(number, SuiteOutcome.SUCCESS, diversify) for number in (1, 2)),
            taken,
            strict=True,
        )
    ]
    (found,) = make_report([], rows).attempts
    # gold's lines have four branches
    assert [at.branches.value for at in found.at] == [0.75, 1.0]


def test_mutation_correct_counts_only_tasks_all_of_whose_attempts_pass() -> None:
    diversify = AttemptProtocol.DIVERSIFY
    good = [reaching(number, SuiteOutcome.SUCCESS, diversify, '', 'xy') for number in (1, 2)]
    bad = [
        replace(reaching(1, SuiteOutcome.SUCCESS, diversify, '', 'xyz'), task_id='f' * 16),
        replace(reaching(2, SuiteOutcome.EXEC_FAIL, diversify, '', ''), task_id='f' * 16),
    ]
    (found,) = make_report([], [*good, *bad]).attempts
    last = found.at[-1]
    assert (last.mutation_correct.value, last.mutation_correct.units) == (2 / 8, 1)
    assert last.mutation.units == 2
