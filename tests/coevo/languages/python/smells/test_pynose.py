"""Each smell of PyNose: tests that have it, and their nearest neighbours that have not."""

from __future__ import annotations

import textwrap

import pytest

from coevo.languages.python.smells import PyNoseSmell, find_smells
from coevo.model.records import TestMethod

# Per smell: a body that has it, and its nearest neighbour that has not.
BODIES = {
    PyNoseSmell.ASSERTION_ROULETTE: [
        ('assert a\nassert b, "b"', 'assert a, "a"\nassert b, "b"'),
        ('self.assertTrue(a)\nself.assertEqual(a, b, "m")', 'self.assertTrue(a, msg="m")'),
        ('assert a\nself.assertEqual(a, b)', 'assert a, "a"\nself.assertEqual(a, b, msg="m")'),
        ('assert a\nassert b', 'assert a'),
    ],
    PyNoseSmell.CONDITIONAL_TEST_LOGIC: [
        ('if a:\n    assert b', 'assert b if a else c'),
        ('for a in b:\n    assert a', 'assert all(b)'),
        ('assert all(a for a in b)', 'assert all(map(a, b))'),
        ('while a:\n    b()', 'with a:\n    b()'),
    ],
    PyNoseSmell.DUPLICATE_ASSERT: [
        ('assert a( 1 )\nb()\nassert a( 1 ), "again"', 'assert a(1)\nassert a(2)'),
        (
            'self.assertIn(a, b)\nself.assertIn(a,\n  b)',
            'self.assertIn(a, b)\nself.assertNotIn(a, b)',
        ),
    ],
    PyNoseSmell.EMPTY_TEST: [
        ('pass', 'a()'),
        ('"""What it will do."""\n# soon\n...', '"""What it does."""\nassert a'),
    ],
    PyNoseSmell.EXCEPTION_HANDLING: [
        ('try:\n    a()\nexcept ValueError:\n    pass', 'try:\n    a()\nfinally:\n    b()'),
        ('raise ValueError', 'with pytest.raises(ValueError):\n    a()'),
    ],
    PyNoseSmell.MAGIC_NUMBER_TEST: [
        ('assert a == 42', 'assert a == answer'),
        ('assert (-1.5 < a)', 'assert a(42)'),
        ('self.assertEqual(a, 42)', 'self.assertEqual(a, b(42))'),
    ],
    PyNoseSmell.OBSCURE_IN_LINE_SETUP: [
        ('\n'.join(f'a{i} = 1' for i in range(11)), '\n'.join(f'a{i} = 1' for i in range(10))),
        ('a, b, (c, d) = e\nf = g = h = i = j = k = l = 1', 'self.a = a[1] = b = 1'),
    ],
    PyNoseSmell.REDUNDANT_ASSERTION: [
        ('assert True', 'assert a'),
        ('assert (a == a)', 'assert a == b == a'),
        ('self.assertTrue(True)', 'self.assertTrue(a)'),
        ('self.assertEqual(a, a)', 'self.assertEqual(a, b)'),
        ('assert a is a', 'assert a in a'),
    ],
    PyNoseSmell.REDUNDANT_PRINT: [('print(a)', 'a.print(b)')],
    PyNoseSmell.SLEEPY_TEST: [
        ('time.sleep(1)', 'time.sleep(1)  # until the clock has moved'),
        ('time.sleep(1)\n# done', 'asyncio.sleep(1)'),
    ],
    PyNoseSmell.SUBOPTIMAL_ASSERT: [
        ('self.assertTrue(a == b)', 'self.assertTrue(a)'),
        ('self.assertFalse((a in b))', 'self.assertFalse(a(b == c))'),
        ('self.assertEqual(a, None)', 'self.assertEqual(a, b)'),
        ('self.assertIs(True, a)', 'assert a is True'),
    ],
    PyNoseSmell.UNKNOWN_TEST: [
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


def of(text: str, owner: str = '') -> tuple[PyNoseSmell, ...]:
    method = TestMethod(
        module='.',
        test_file='tests/test_till.py',
        test_class='.'.join(filter(None, ('tests.test_till', owner))),
        test_method='test_it',
    )
    return find_smells(text.encode(), method)


def of_body(body: str) -> tuple[PyNoseSmell, ...]:
    return of(
        f'class TillTest:\n    def test_it(self):\n{textwrap.indent(body, " " * 8)}\n', 'TillTest'
    )


@pytest.mark.parametrize(('smell', 'body'), HITS)
def test_smell_is_found_in_a_body_that_has_it(smell: PyNoseSmell, body: str) -> None:
    assert smell in of_body(body)


@pytest.mark.parametrize(('smell', 'body'), MISSES)
def test_smell_is_not_found_in_a_similar_clean_body(smell: PyNoseSmell, body: str) -> None:
    assert smell not in of_body(body)


def case(
    body: str, decorator: str = '', more: str = '', name: str = 'TillTest'
) -> set[PyNoseSmell]:
    text = CASE.format(body=body, decorator=decorator, more=more).replace('TillTest', name)
    return set(of(text, name)) - {PyNoseSmell.UNKNOWN_TEST}


@pytest.mark.parametrize(
    ('body', 'smells'),
    [
        ('assert self.till.sells(self.price)', set[PyNoseSmell]()),
        ('assert self.till', {PyNoseSmell.GENERAL_FIXTURE}),
        ('assert till', {PyNoseSmell.GENERAL_FIXTURE, PyNoseSmell.TEST_MAVERICK}),
    ],
)
def test_unused_fields_of_set_up_are_smells(body: str, smells: set[PyNoseSmell]) -> None:
    assert case(body) == smells


def test_smells_of_a_class_count_for_its_tests() -> None:
    body = 'assert self.till.sells(self.price)'
    assert case(body, more='def __init__(self): pass') == {PyNoseSmell.CONSTRUCTOR_INITIALIZATION}
    assert case(body, name='MyTestCase') == {PyNoseSmell.DEFAULT_TEST}


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
def test_only_skip_decorators_make_an_ignored_test(decorator: str, *, ignored: bool) -> None:
    found = case('assert self.till.sells(self.price)', decorator=decorator)
    assert (PyNoseSmell.IGNORED_TEST in found) is ignored


def test_expected_failure_is_not_an_unknown_test() -> None:
    text = '@unittest.expectedFailure\ndef test_it():\n    a()\n'
    assert PyNoseSmell.UNKNOWN_TEST not in of(text)


def test_bare_sleep_is_a_smell_only_if_imported_from_time() -> None:
    body = 'def test_it():\n    sleep(1)\n    assert a\n'
    assert PyNoseSmell.SLEEPY_TEST in of(f'from time import monotonic, sleep\n{body}')
    assert PyNoseSmell.SLEEPY_TEST not in of(f'from trio import sleep\n{body}')


def test_last_definition_of_a_test_name_counts() -> None:
    text = 'def test_it():\n    print(1)\n\nif new:\n    def test_it():\n        assert a\n'
    assert of(text) == ()


def test_missing_method_raises_lookup_error() -> None:
    with pytest.raises(LookupError):
        of('def test_other(): pass\n')
    with pytest.raises(LookupError):
        of('class Other:\n    def test_it(self): pass\n', 'TillTest')
