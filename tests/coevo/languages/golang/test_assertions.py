from __future__ import annotations

import pytest

from coevo.languages.assertions import Assertions
from coevo.languages.golang import assertions
from coevo.model.records import TestMethod

# mypy holds it against what is asked of a language.
ASSERTIONS: Assertions = assertions


def of(body: str) -> tuple[str, ...]:
    return ASSERTIONS.assertions_of(f'func TestA(t *testing.T) {{\n{body}\n}}')


@pytest.mark.parametrize(
    ('body', 'expected'),
    [
        ('if got != want { t.Errorf("got %v", got) }', 'Error(got != want)'),
        ('if got != want {\n\t// why\n\tt.Fatal(want)\n}', 'Fatal(got != want)'),
        ('if ok { f() } else { t.Error("no") }', 'Error(else ok)'),
        (
            'if d := cmp.Diff(a, b); d != "" { t.Error(d) }',
            'Error(d := cmp . Diff ( a , b ); d != "")',
        ),
        ('t.FailNow()', 'FailNow()'),
        ('assert.Equal(t, a, b, "why %d", 1)', 'assert.Equal(a, b)'),
        ('require.NoErrorf(t, f(1,2), "why")', 'require.NoErrorf(f ( 1 , 2 ))'),
        ('assert.Assert(t, a == b, "why")', 'assert.Assert(a == b)'),
        ('s.Require().Len(a, 1)', 's.Require().Len(a, 1)'),
        ('checkEqual(t, a, b)', 'checkEqual(a, b)'),
        ('h.mustRun(t, a)', 'h.mustRun(a)'),
    ],
)
def test_what_fails_a_test_is_an_assertion(body: str, expected: str) -> None:
    assert of(body) == (expected,)


@pytest.mark.parametrize(
    'body',
    [
        't.Log("a")',
        't.Skip("a")',
        'log.Fatal("a")',
        'err := fmt.Errorf("a")',
        'a := assert.New(t)',
        'check(a, b)',
        'setUp(t)',
        't.Run("Error", run)',
    ],
)
def test_what_does_not_is_none(body: str) -> None:
    assert of(body) == ()


def test_a_subtest_has_a_t_of_its_own_and_no_condition_of_another_function() -> None:
    body = 'if slow { t.Run("a", func(tt *testing.T) { tt.Error("a") }) }'
    assert of(body) == ('Error()',)


def test_an_example_asserts_its_output() -> None:
    source = 'func ExampleA() {\n\tf()\n\t// Output:\n\t// a  b\n\t// c\n}'
    assert ASSERTIONS.assertions_of(source) == ('Output(Output: a b c)',)
    assert ASSERTIONS.oracle_lines(f'package a\n{source}\n'.encode()) == {4, 5, 6}


@pytest.mark.parametrize(
    ('text', 'kind'),
    [('Error(a != b)', 'Error'), ('assert.Equal(a, b)', 'assert.Equal'), ('Output(a)', 'Output')],
)
def test_the_kind_of_one(text: str, kind: str) -> None:
    assert ASSERTIONS.kind_of(text) == kind


def test_the_lines_of_what_may_fail_a_test() -> None:
    source = b"""package a

func TestA(t *testing.T) {
	got := f()
	if got != 1 ||
		got > 2 {
		g()
		t.Errorf("%d",
			got)
	}
	assert.True(t, got)
}
"""
    assert ASSERTIONS.oracle_lines(source) == {5, 6, 8, 9, 11}


def test_no_test_says_that_it_has_to_panic() -> None:
    method = TestMethod(module='.', test_file='a_test.go', test_class='a', test_method='TestA')
    assert not ASSERTIONS.expects_its_end(b'package a\nfunc TestA(t *testing.T) {}', method)
    with pytest.raises(LookupError, match=r'no TestA in a_test\.go'):
        ASSERTIONS.expects_its_end(b'package a\n', method)
