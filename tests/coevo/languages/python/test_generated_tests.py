"""Tests that a decorator makes of a declared one under other names, which no file declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.verdicts import RunConditions
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import PROJECT, method, shop

CODE = 'def double(n):\n    return n * 2\n'
# As ddt does it: the function is replaced by one for each row, which wraps it.
TESTS = """\
    import functools
    import unittest

    import till


    def rows(*given):
        def keep(function):
            function.rows = given
            return function
        return keep


    def spread(owner):
        for name, function in list(vars(owner).items()):
            for number, row in enumerate(getattr(function, 'rows', ())):
                setattr(owner, f'{name}_{number}', make(function, f'{name}_{number}', row))
            if hasattr(function, 'rows'):
                delattr(owner, name)
        return owner


    def make(function, name, row):
        @functools.wraps(function)
        def test(self):
            function(self, *row)
        test.__name__ = name
        return test


    @spread
    class TestTill(unittest.TestCase):
        @rows((1, 2), (2, 4))
        def test_good(self, n, wanted):
            self.assertEqual(till.double(n), wanted)

        @rows((1, 2), (2, 5))
        def test_bad(self, n, wanted):
            self.assertEqual(till.double(n), wanted)

        @rows()
        def test_none(self, n, wanted):
            self.assertEqual(till.double(n), wanted)


    def test_first():
        assert till.double(1) == 2


    @functools.wraps(test_first)
    def _wrapping():
        assert till.double(1) == 3


    def wrap_first(function):
        @functools.wraps(test_first)
        def wrapper():
            function()
        return wrapper


    @wrap_first
    def test_second():
        assert till.double(1) == 3
"""


def test_outcome_of_generated_tests_is_that_of_the_declared_one(tmp_path: Path) -> None:
    files = {'till.py': CODE, 'tests/test_till.py': TESTS}
    with shop(tmp_path, files, {'README': 'Till\n'}) as place:
        good, bad, none = (
            method(name, 'TestTill') for name in ('test_good', 'test_bad', 'test_none')
        )
        verdicts = place.run(good, bad, none).verdicts
        assert [verdict and verdict.outcome for verdict in verdicts] == [
            Outcome.PASS,
            Outcome.FAIL,
            Outcome.MISSING,
        ]
        watched = place.run(good, conditions=RunConditions(observed=True)).verdicts[0]
        assert watched is not None
        assert (watched.outcome, watched.tampered) == (Outcome.PASS, None)


def test_declared_test_keeps_its_outcome_if_it_wraps_another(tmp_path: Path) -> None:
    files = {'till.py': CODE, 'tests/test_till.py': TESTS}
    with shop(tmp_path, files, {'README': 'Till\n'}) as place:
        assert place.verdict(method('test_first')).outcome is Outcome.PASS
        assert place.verdict(method('test_second')).outcome is Outcome.FAIL


@pytest.mark.slow
@pytest.mark.parametrize(
    ('package', 'imports', 'before', 'around'),
    [
        (
            'parameterized',
            'from parameterized import parameterized\n',
            '@parameterized.expand([(1, 2), (2, 4)])',
            '',
        ),
        (
            'ddt',
            'from ddt import data, ddt, unpack\n',
            '@data((1, 2), (2, 4))\n    @unpack',
            '@ddt',
        ),
    ],
)
def test_libraries_that_generate_tests(
    package: str, imports: str, before: str, around: str, tmp_path: Path
) -> None:
    project = f'{PROJECT}[project.optional-dependencies]\ntest = ["pytest>=8", "{package}"]\n'
    tests = f"""{imports}import unittest

import till


{around}
class TestTill(unittest.TestCase):
    {before}
    def test_good(self, n, wanted):
        self.assertEqual(till.double(n), wanted)
"""
    files = {'till.py': CODE, 'tests/test_till.py': tests}
    with shop(tmp_path, files, {'README': 'Till\n'}, project) as place:
        assert place.verdict(method('test_good', 'TestTill')).outcome is Outcome.PASS


@pytest.mark.slow
def test_classes_of_modules_that_an_old_pytest_keeps_to_itself_have_their_tests(
    tmp_path: Path,
) -> None:
    project = (
        f'{PROJECT}\n[project.optional-dependencies]\ntest = ["pytest==6.2.5"]\n'
        '\n[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\n'
    )
    tests = (
        'import till\n\n\nclass Base:\n    def test_base(self):\n        assert till.double(1) == 2\n'
        '\n\nclass TestTill(Base):\n    def test_own(self):\n        assert till.double(1) == 3\n'
    )
    files = {'till.py': CODE, 'tests/test_till.py': tests}
    with shop(tmp_path, files, {'README': ''}, project) as place:
        found = [
            place.verdict(test).outcome
            for test in (method('test_base', 'Base'), method('test_own', 'TestTill'))
        ]
        assert found == [Outcome.PASS, Outcome.FAIL]
