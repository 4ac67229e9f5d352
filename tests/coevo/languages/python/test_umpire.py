"""What `python -m pytest`, as developers type it, says of a project."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import PROJECT, Shop, method, shop

SETTINGS = '\n[tool.pytest.ini_options]\naddopts = "-n 4 --cov=till --maxfail=1 -m \'not slow\'"\n'
SETTINGS += 'markers = ["slow: is slow"]\n'
TESTS = """\
    import unittest

    import pytest

    import till

    SEEN = []


    def test_first():
        SEEN.append(1)
        assert till.PRICE


    def test_needs_its_neighbour():
        assert SEEN == [1]


    def test_fails():
        assert till.PRICE == 0


    def test_errs(unknown):
        pass


    def test_skips():
        pytest.skip('not here')


    @pytest.mark.slow
    def test_slow():
        pass


    @pytest.mark.parametrize('number', [1, 2])
    def test_numbers(number):
        assert number == 1


    class TestCase(unittest.TestCase):
        def test_case(self):
            with self.subTest('first'):
                self.assertEqual(till.PRICE, 0)
"""
BROKEN = 'import till.nowhere\n\n\ndef test_lost():\n    pass\n'


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    old = {'till.py': 'PRICE = 1\n', 'tests/test_till.py': TESTS, 'tests/test_lost.py': BROKEN}
    folder = tmp_path_factory.mktemp('umpire')
    with shop(folder, old, {'till.py': 'PRICE = 2\n'}, PROJECT + SETTINGS) as opened:
        yield opened


def test_the_project_s_own_run_has_its_selection_and_its_order(place: Shop) -> None:
    names = ('first', 'needs_its_neighbour', 'fails', 'errs', 'skips', 'slow', 'numbers')
    methods = {name: method(f'test_{name}') for name in names}
    methods['case'] = method('test_case', 'TestCase')
    methods['lost'] = method('test_lost', file='tests/test_lost.py')
    ran = place.built.run_project(place.new, '.', tuple(methods.values()))
    assert ran.status == 'ran'
    assert {name: str(ran.outcomes[m]) for name, m in methods.items() if m in ran.outcomes} == {
        'first': 'pass',
        'needs_its_neighbour': 'pass',
        'fails': 'fail',
        'errs': 'error',
        'skips': 'skipped',
        'numbers': 'fail',
        'case': 'fail',
        'lost': 'compile_error',
    }


def test_the_project_s_own_run_ends_behind_the_awaited_tests(place: Shop) -> None:
    names = ('test_first', 'test_needs_its_neighbour', 'test_fails')
    methods = tuple(map(method, names))
    ran = place.built.run_project(place.new, '.', methods, methods[1:2])
    assert {m.test_method: str(outcome) for m, outcome in ran.outcomes.items()} == {
        'test_first': 'pass',
        'test_needs_its_neighbour': 'pass',
    }
    assert ran.status == 'ran'


def test_the_project_s_own_run_without_an_awaited_test_runs_nothing(place: Shop) -> None:
    methods = (method('test_first'), method('test_slow'))
    ran = place.built.run_project(place.new, '.', methods, methods[1:])
    assert (ran.outcomes, ran.status) == ({}, 'ran')


def test_the_engine_s_own_run_of_a_test_that_needs_its_neighbour_differs(place: Shop) -> None:
    assert place.verdict(method('test_needs_its_neighbour')).outcome is Outcome.FAIL
