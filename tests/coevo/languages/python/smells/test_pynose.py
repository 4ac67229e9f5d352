"""Each smell of PyNose: tests that have it, and their nearest neighbours that have not."""

from __future__ import annotations

import textwrap

import pytest

from coevo.languages.python.smells.pynose import Smell
from coevo.languages.python.smells.pynose import smells_of
from coevo.model.records import TestMethod

# Per smell: a body that has it, and its nearest neighbour that has not.
BODIES = {
    Smell.ASSERTION_ROULETTE: [
        ('assert a\nassert b, "b"', 'assert a, "a"\nassert b, "b"'),
        ('self.assertTrue(a)\nself.assertEqual(a, b, "m")', 'self.assertTrue(a, msg="m")'),
        ('assert a\nself.assertEqual(a, b)', 'assert a, "a"\nself.assertEqual(a, b, msg="m")'),
        ('assert a\nassert b', 'assert a'),
    ],
    Smell.CONDITIONAL_TEST_LOGIC: [
        ('if a:\n    assert b', 'assert b if a else c'),
        ('for a in b:\n    assert a', 'assert all(b)'),
        ('assert all(a for a in b)', 'assert all(map(a, b))'),
        ('while a:\n    b()', 'with a:\n    b()'),
    ],
    Smell.DUPLICATE_ASSERT: [
        ('assert a( 1 )\nb()\nassert a( 1 ), "again"', 'assert a(1)\nassert a(2)'),
        (
            'self.assertIn(a, b)\nself.assertIn(a,\n  b)',
            'self.assertIn(a, b)\nself.assertNotIn(a, b)',
        ),
    ],
    Smell.EMPTY_TEST: [
        ('pass', 'a()'),
        ('"""What it will do."""\n# soon\n...', '"""What it does."""\nassert a'),
    ],
    Smell.EXCEPTION_HANDLING: [
        ('try:\n    a()\nexcept ValueError:\n    pass', 'try:\n    a()\nfinally:\n    b()'),
        ('raise ValueError', 'with pytest.raises(ValueError):\n    a()'),
    ],
    Smell.MAGIC_NUMBER_TEST: [
        ('assert a == 42', 'assert a == answer'),
        ('assert (-1.5 < a)', 'assert a(42)'),
        ('self.assertEqual(a, 42)', 'self.assertEqual(a, b(42))'),
    ],
    Smell.OBSCURE_IN_LINE_SETUP: [
        ('\n'.join(f'a{i} = 1' for i in range(11)), '\n'.join(f'a{i} = 1' for i in range(10))),
        ('a, b, (c, d) = e\nf = g = h = i = j = k = l = 1', 'self.a = a[1] = b = 1'),
    ],
    Smell.REDUNDANT_ASSERTION: [
        ('assert True', 'assert a'),
        ('assert (a == a)', 'assert a == b == a'),
        ('self.assertTrue(True)', 'self.assertTrue(a)'),
        ('self.assertEqual(a, a)', 'self.assertEqual(a, b)'),
        ('assert a is a', 'assert a in a'),
    ],
    Smell.REDUNDANT_PRINT: [('print(a)', 'a.print(b)')],
    Smell.SLEEPY_TEST: [
        ('time.sleep(1)', 'time.sleep(1)  # until the clock has moved'),
        ('time.sleep(1)\n# done', 'asyncio.sleep(1)'),
    ],
    Smell.SUBOPTIMAL_ASSERT: [
        ('self.assertTrue(a == b)', 'self.assertTrue(a)'),
        ('self.assertFalse((a in b))', 'self.assertFalse(a(b == c))'),
        ('self.assertEqual(a, None)', 'self.assertEqual(a, b)'),
        ('self.assertIs(True, a)', 'assert a is True'),
    ],
    Smell.UNKNOWN_TEST: [
        ('a()', 'with pytest.raises(ValueError):\n    a()'),
        ('a.verified()', 'my_assertion(a)'),
    ],
}
HITS = [(smell, body) for smell, pairs in BODIES.items() for body, _ in pairs]
MISSES = [(smell, body) for smell, pairs in BODIES.items() for _, body in pairs]

CASE = """\
import unittest


class TillTest(unittest.TestCase):
    {more}

    def setUp(this):
        this.till, this.price = Till(), 1
        unused = 2

    {decorator}
    def test_it(self):
        {body}
"""


def of(text: str, owner: str = '') -> tuple[Smell, ...]:
    method = TestMethod(
        module='.',
        test_file='tests/test_till.py',
        test_class='.'.join(filter(None, ('tests.test_till', owner))),
        test_method='test_it',
    )
    return smells_of(text.encode(), method)


def of_body(body: str) -> tuple[Smell, ...]:
    return of(
        f'class TillTest:\n    def test_it(self):\n{textwrap.indent(body, " " * 8)}\n', 'TillTest'
    )


@pytest.mark.parametrize(('smell', 'body'), HITS)
def test_a_body_that_smells(smell: Smell, body: str) -> None:
    assert smell in of_body(body)


@pytest.mark.parametrize(('smell', 'body'), MISSES)
def test_its_nearest_neighbour(smell: Smell, body: str) -> None:
    assert smell not in of_body(body)


def case(body: str, decorator: str = '', more: str = '', name: str = 'TillTest') -> set[Smell]:
    text = CASE.format(body=body, decorator=decorator, more=more).replace('TillTest', name)
    return set(of(text, name)) - {Smell.UNKNOWN_TEST}


@pytest.mark.parametrize(
    ('body', 'smells'),
    [
        ('assert self.till.sells(self.price)', set[Smell]()),
        ('assert self.till', {Smell.GENERAL_FIXTURE}),
        ('assert till', {Smell.GENERAL_FIXTURE, Smell.TEST_MAVERICK}),
    ],
)
def test_fields_that_a_class_sets_up(body: str, smells: set[Smell]) -> None:
    assert case(body) == smells


def test_smells_of_the_class() -> None:
    body = 'assert self.till.sells(self.price)'
    assert case(body, more='def __init__(self): pass') == {Smell.CONSTRUCTOR_INITIALIZATION}
    assert case(body, name='MyTestCase') == {Smell.DEFAULT_TEST}


@pytest.mark.parametrize(
    ('decorator', 'ignored'),
    [
        ('@unittest.skip("later")', True),
        ('@pytest.mark.skipif(sys.platform == "win32", reason="a")', True),
        ('@skipUnless(a, "b")', True),
        ('@pytest.mark.slow', False),
        ('@skipped', False),
    ],
)
def test_decorators_that_skip(decorator: str, *, ignored: bool) -> None:
    found = case('assert self.till.sells(self.price)', decorator=decorator)
    assert (Smell.IGNORED_TEST in found) is ignored


def test_an_expected_failure_is_known() -> None:
    text = '@unittest.expectedFailure\ndef test_it():\n    a()\n'
    assert Smell.UNKNOWN_TEST not in of(text)


def test_sleep_by_its_name_alone() -> None:
    body = 'def test_it():\n    sleep(1)\n    assert a\n'
    assert Smell.SLEEPY_TEST in of(f'from time import monotonic, sleep\n{body}')
    assert Smell.SLEEPY_TEST not in of(f'from trio import sleep\n{body}')


def test_the_last_of_one_name_counts() -> None:
    text = 'def test_it():\n    print(1)\n\nif new:\n    def test_it():\n        assert a\n'
    assert of(text) == ()


def test_a_method_that_is_not_there() -> None:
    with pytest.raises(LookupError):
        of('def test_other(): pass\n')
    with pytest.raises(LookupError):
        of('class Other:\n    def test_it(self): pass\n', 'TillTest')
