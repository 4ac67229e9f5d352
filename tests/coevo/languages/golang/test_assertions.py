from __future__ import annotations

import pytest

from coevo.languages.golang import assertions
from coevo.languages.measures import Assertions
from coevo.model.records import TestMethod

# mypy holds it against what is asked of a language.
ASSERTIONS: Assertions = assertions


def of(body: str) -> tuple[str, ...]:
    return ASSERTIONS.list_assertions(f'func TestA(t *testing.T) {{\n{body}\n}}')


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
def test_statement_that_can_fail_a_test_is_an_assertion(body: str, expected: str) -> None:
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
def test_statement_that_cannot_fail_a_test_is_no_assertion(body: str) -> None:
    assert of(body) == ()


def test_assertion_in_a_subtest_uses_its_own_t_and_no_outer_condition() -> None:
    body = 'if slow { t.Run("a", func(tt *testing.T) { tt.Error("a") }) }'
    assert of(body) == ('Error()',)


def test_an_example_asserts_its_output() -> None:
    source = 'func ExampleA() {\n\tf()\n\t// Output:\n\t// a  b\n\t// c\n}'
    assert ASSERTIONS.list_assertions(source) == ('Output(Output: a b c)',)
    assert ASSERTIONS.find_oracle_lines(f'package a\n{source}\n'.encode()) == {4, 5, 6}


@pytest.mark.parametrize(
    ('text', 'kind'),
    [('Error(a != b)', 'Error'), ('assert.Equal(a, b)', 'assert.Equal'), ('Output(a)', 'Output')],
)
def test_kind_of_an_assertion_is_its_function(text: str, kind: str) -> None:
    assert ASSERTIONS.extract_assertion_name(text) == kind


def test_lines_of_assertions_and_their_conditions_are_oracle_lines() -> None:
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
    assert ASSERTIONS.find_oracle_lines(source) == {5, 6, 8, 9, 11}


def test_go_test_never_expects_an_exception() -> None:
    method = TestMethod(module='.', test_file='a_test.go', test_class='a', test_method='TestA')
    assert not ASSERTIONS.declares_expected_exception(
        b'package a\nfunc TestA(t *testing.T) {}', method
    )
    with pytest.raises(LookupError, match=r'no TestA in a_test\.go'):
        ASSERTIONS.declares_expected_exception(b'package a\n', method)
