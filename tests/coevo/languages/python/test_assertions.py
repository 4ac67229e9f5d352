from __future__ import annotations

import pytest

from coevo.languages.python.assertions import (
    declares_expected_exception,
    extract_assertion_name,
    find_oracle_lines,
    list_assertions,
)
from tests.coevo.languages.python.shops import method


@pytest.mark.parametrize(
    ('line', 'expected', 'kind'),
    [
        ("assert  f(1) == (2), 'message'", 'assert f ( 1 ) == 2', 'assert'),
        ('self.assertEqual(a, "b",\n "why")', "assertEqual(a, 'b')", 'assertEqual'),
        ('self.assertEqual(a, b, msg=1)', 'assertEqual(a, b)', 'assertEqual'),
        ('self.assertAlmostEqual(a, b, 3, "x")', 'assertAlmostEqual(a, b, 3)', 'assertAlmostEqual'),
        ('with pytest.raises(E):  # why\n    g()', 'pytest.raises(E)', 'raises'),
        ('mock.assert_called_with(1)', 'mock.assert_called_with(1)', 'assert_called_with'),
        ('testing.assert_equal(a, b, err_msg="x")', 'testing.assert_equal(a, b)', 'assert_equal'),
        ('verify_all(x)', 'verify_all(x)', 'verify_all'),
        ('self.fail("no")', 'fail()', 'fail'),
    ],
)
def test_assertion_texts_have_no_layout_and_no_messages(
    line: str, expected: str, kind: str
) -> None:
    body = line.replace('\n', '\n        ')
    assert list_assertions(f'    def test_a(self):\n        {body}\n') == (expected,)
    assert extract_assertion_name(expected) == kind


@pytest.mark.parametrize('line', ['raises(x)(y)', 'self.raises(x)', 'check(x)', 'x.fail()'])
def test_other_calls_are_not_assertions(line: str) -> None:
    found = list_assertions(f'def test_a(self):\n    {line}\n')
    assert found == (('raises(x)',) if line.startswith('raises') else ())


def test_oracle_lines_are_all_lines_of_assertions() -> None:
    source = b'def test_a():\n    x = 1\n    assert (\n        x\n    )\n    self.assertTrue(y)\n'
    assert find_oracle_lines(source) == {3, 4, 5, 6}


def test_expected_failure_decorator_counts_as_an_expected_exception() -> None:
    source = b"""
class TestTill:
    @unittest.expectedFailure
    def test_ends(self):
        pass

def test_ends():
    pass
"""
    assert declares_expected_exception(source, method('test_ends', 'TestTill'))
    assert not declares_expected_exception(source, method('test_ends'))
    with pytest.raises(LookupError):
        declares_expected_exception(source, method('test_other'))
