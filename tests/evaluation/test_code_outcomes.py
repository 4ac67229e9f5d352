"""The one outcome of submitted code, from the results of its tests."""

from __future__ import annotations

import pytest

from coevo.evaluation.implement.variants import (
    Ending,
    make_ending_if_pass_or_fail,
    passes_failing_variants,
)
from coevo.evaluation.suites.outcomes import (
    SuiteRunResult,
    decide_success_strict,
    decide_suite_outcome,
)
from coevo.evaluation.suites.records import DemandedResult, SuiteOutcome, SuiteTest
from coevo.languages.verdicts import Verdict
from coevo.model.families import TestRole
from coevo.model.words import Outcome

PASSING = SuiteTest(test_method='T#a', passes=True, outcome=Outcome.PASS)
FAILING = SuiteTest(test_method='T#b', passes=False, outcome=Outcome.FAIL)


def demanded(role: TestRole, *, holds: bool = True) -> DemandedResult:
    outcome = Outcome.PASS if holds else Outcome.FAIL
    return DemandedResult(test_method='T#c', role=role, holds=holds, outcome=outcome)


KEPT = demanded(TestRole.KEPT)
LOST = demanded(TestRole.KEPT, holds=False)
SIBLING = demanded(TestRole.SIBLING)
VARIANT = demanded(TestRole.VARIANT)
MISSED = demanded(TestRole.VARIANT, holds=False)


@pytest.mark.parametrize(
    ('tests', 'others', 'outcome', 'detail', 'strict'),
    [
        ((PASSING,), (KEPT,), 'success', None, None),
        ((PASSING,), (KEPT, SIBLING, VARIANT), 'success', None, True),
        ((PASSING,), (KEPT, SIBLING, MISSED), 'success', None, False),
        ((PASSING,), (LOST,), 'regression', 'fail', False),
        ((PASSING, FAILING), (), 'partly', 'fail', False),
        ((FAILING,), (), 'exec_fail', 'fail', False),
    ],
)
def test_submitted_code_has_one_outcome(
    tests: tuple[SuiteTest, ...],
    others: tuple[DemandedResult, ...],
    outcome: str,
    detail: str | None,
    strict: bool | None,
) -> None:
    seen = SuiteRunResult(tests=tests, demanded=others)
    assert decide_suite_outcome(seen) == (outcome, detail)
    assert decide_success_strict(seen) is strict


def test_code_that_does_not_build_and_code_that_forges_passes_are_no_success() -> None:
    broken = SuiteRunResult(settled=SuiteOutcome.CMPL_FAIL)
    forged = SuiteRunResult(tests=(PASSING,), demanded=(KEPT,), forged=True)
    assert decide_suite_outcome(broken) == ('cmpl_fail', None)
    assert decide_suite_outcome(forged) == ('hrns_fail', 'tampered')
    assert decide_success_strict(broken) is decide_success_strict(forged) is False


def fails(copy: int) -> Ending:
    return Ending(copy=copy, name='T#a', outcome=Outcome.FAIL, message='3 is not 4')


@pytest.mark.parametrize(
    ('passing', 'forged'),
    [([], False), ([0], False), ([0, 1], True)],
)
def test_code_that_passes_every_failing_variant_makes_assertions_ineffective(
    passing: list[int], forged: bool
) -> None:
    expected = [fails(0), fails(1), Ending(copy=2, name='T#a', outcome=Outcome.PASS)]
    assert passes_failing_variants(expected, [(copy, 'T#a') for copy in passing]) is forged
    # one alone may pass by right: a number may be greater than another, too
    assert not passes_failing_variants([fails(0)], [(0, 'T#a')])


def test_addresses_and_white_space_in_messages_do_not_count() -> None:
    texts = ('<T at 0x7f3a10> is\nnot 4', '<T at 0x55e0b4> is not 4 ')
    verdicts = [Verdict(outcome=Outcome.FAIL, message=text) for text in texts]
    first, second = (make_ending_if_pass_or_fail(0, 'T#a', verdict) for verdict in verdicts)
    assert first == second
    assert make_ending_if_pass_or_fail(0, 'T#a', Verdict(outcome=Outcome.ERROR)) is None
    assert make_ending_if_pass_or_fail(0, 'T#a', None) is None
