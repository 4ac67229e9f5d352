"""What each test of a suite adds, and which fail together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coevo.evaluation.suites.judging import find_shareable_cause, number_shared_causes
from coevo.evaluation.suites.records import SuiteOutcome, SuiteReach, SuiteTest
from coevo.languages.verdicts import CoveredLine, Trace, Verdict
from coevo.measures.suites import count_uniquely_executed_lines
from coevo.model.families import Focus, FocusKind
from coevo.model.words import Outcome
from tests.evaluation.test_families import PASSING, report, suite


def error(message: str, at: str) -> Verdict:
    return Verdict(
        outcome=Outcome.ERROR,
        exceptions=('NameError', 'LookupError'),
        message=message,
        signature=f'NameError@{at}',
    )


def test_missing_name_is_one_shared_cause_across_tests() -> None:
    verdicts = [
        error("name 'os' is not defined", 'a.py:test_one'),
        Verdict(outcome=Outcome.PASS),
        error("name 'np' is not defined", 'a.py:test_two'),
        error("name 'os' is not defined", 'a.py:test_three'),
        # expectations fail for themselves, whatever helper says so
        Verdict(outcome=Outcome.FAIL, signature='AssertionError@a.py:check'),
        Verdict(outcome=Outcome.FAIL, signature='AssertionError@a.py:check'),
        Verdict(outcome=Outcome.TIMEOUT, signature='time'),
        Verdict(outcome=Outcome.TIMEOUT, signature='time'),
    ]
    found = number_shared_causes([find_shareable_cause(one) for one in verdicts])
    assert found == (1, None, None, 1, None, None, None, None)


def test_shared_causes_are_numbered_in_the_order_of_their_tests() -> None:
    missing = [Verdict(outcome=Outcome.COMPILE_ERROR, signature=one) for one in 'baab']
    assert number_shared_causes([find_shareable_cause(one) for one in missing]) == (1, 2, 2, 1)


def test_passing_rate_excludes_cascading_failures() -> None:
    def broken(name: str, cascade: int | None) -> SuiteTest:
        return SuiteTest(test_method=name, passes=False, outcome=Outcome.ERROR, cascade=cascade)

    tests = (PASSING, broken('ATest#b', 1), broken('ATest#c', 1), broken('ATest#d', None))
    skipped = replace(PASSING, passes=False, outcome=Outcome.SKIPPED)
    found = report(
        replace(suite(0, SuiteOutcome.PARTLY), tests=tests),
        replace(suite(1), tests=(PASSING, skipped)),
        suite(2, SuiteOutcome.CMPL_FAIL),
    )
    assert (found.cascading.value, found.cascading.units) == (pytest.approx(2 / 3), 1)
    assert (found.passing_alone.value, found.passing_alone.units) == (0.5, 2)


def test_line_is_unique_if_exactly_one_test_executes_it() -> None:
    def trace(*lines: int) -> Trace:
        covered = [
            CoveredLine(
                line=line,
                missed_instructions=0,
                covered_instructions=1,
                missed_branches=0,
                covered_branches=0,
            )
            for line in lines
        ]
        return Trace(executed=(), lines={'a.py': tuple(covered)})

    focus = Focus(file='a.py', declaration='a.f', kind=FocusKind.FUNCTION, start_line=2, end_line=5)
    assert (
        count_uniquely_executed_lines([focus], [trace(1, 2, 3), trace(2, 4), trace(2, 4, 5, 6)])
        == 2
    )
    told = replace(suite(0), reach=SuiteReach(unique_lines=2))
    found = report(told, suite(1, SuiteOutcome.EMPTY), suite(2))
    # of ten lines; the last suite passes, and nobody saw what its tests execute
    assert (found.unique_lines.value, found.unique_lines.units) == (pytest.approx(0.1), 2)
