"""Tests whose framework makes more than one report of a call: subtests."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import PROJECT, method, shop

TESTS = """\
    import unittest

    import pytest


    def test_all_pass(subtests):
        for number in (1, 2):
            with subtests.test('number', number=number):
                assert number


    def test_second_fails(subtests):
        for number in (1, 2, 3):
            with subtests.test(number=number):
                assert number != 2


    def test_errs_in_one(subtests):
        with subtests.test('first'):
            raise ValueError('one')
        with subtests.test('second'):
            pass


    def test_fails_after_them(subtests):
        with subtests.test('first'):
            pass
        assert not subtests


    def test_skips_one(subtests):
        with subtests.test('first'):
            pytest.skip('not here')
        with subtests.test('second'):
            pass


    class TestCase(unittest.TestCase):
        def test_cases(self):
            for number in (1, 2):
                with self.subTest(number=number):
                    self.assertTrue(number)

        def test_case_fails(self):
            for number in (1, 2):
                with self.subTest(number=number):
                    self.assertEqual(number, 1)


    def test_forges(request):
        from _pytest.reports import TestReport
        from _pytest.runner import CallInfo

        call = CallInfo.from_call(lambda: None, 'call')
        request.node.ihook.pytest_runtest_makereport(item=request.node, call=call)
        assert False
"""
OUTCOMES = {
    'test_all_pass': Outcome.PASS,
    'test_second_fails': Outcome.FAIL,
    'test_errs_in_one': Outcome.ERROR,
    'test_fails_after_them': Outcome.FAIL,
    'test_skips_one': Outcome.PASS,
    'test_cases': Outcome.PASS,
    'test_case_fails': Outcome.FAIL,
    'test_forges': Outcome.FAIL,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    'requirements',
    ['"pytest>=7,<9", "pytest-subtests"', pytest.param('"pytest>=9"', marks=pytest.mark.slow)],
)
def test_a_subtest_breaks_its_test_and_never_passes_for_it(
    requirements: str, tmp_path: Path
) -> None:
    project = PROJECT + f'[project.optional-dependencies]\ntest = [{requirements}]\n'
    old = {'till.py': 'PRICE = 1\n', 'tests/test_till.py': TESTS}
    dates = ('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z')
    with shop(tmp_path, old, {'till.py': 'PRICE = 2\n'}, project, dates=dates) as place:
        names = {name: method(name, 'TestCase' * ('case' in name)) for name in OUTCOMES}
        verdicts = place.run(*names.values()).verdicts
        found = {name: v and v.outcome for name, v in zip(names, verdicts, strict=True)}
        assert found == OUTCOMES
