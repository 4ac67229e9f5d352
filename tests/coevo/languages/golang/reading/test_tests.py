from __future__ import annotations

import pytest

from coevo.languages.golang.reading import find_tests, is_run_by_framework, parse


def run_of(source: str, path: str = 'a/a_test.go') -> list[str]:
    file = parse(f'package a\n{source}'.encode(), path)
    return [member.name for _, member in find_tests(file, lambda name: ())]


@pytest.mark.parametrize(
    'source',
    [
        'func TestA(t *testing.T) {}',
        'func TestA(t *testing.T,) {}',
        'func TestA(*testing.T) {}',
        'func TestA(tt *T) {}',
        'func TestA(t *other.T) {}',
        'func Test(t *testing.T) {}',
        'func Test_a(t *testing.T) {}',
        'func Test1(t *testing.T) {}',
        'func TestÄ(t *testing.T) {}',
        'func TestMain(t *testing.T) {}',
        'func FuzzA(f *testing.F) { f.Fuzz(func(t *testing.T, s string) {}) }',
        'func ExampleA() {\n\tf()\n\t// Output: a\n}',
        'func ExampleA() {\n\tf()\n\n\t// unordered output:\n\t// a\n}',
        'func Example() {\n\t/*\n\t output: a\n\t*/\n}',
        'func ExampleA() {\n\tf() // why\n\t// Output: a\n}',
        'func ExampleA() {\n\tif f() {\n\t\tg()\n\t\t// Output: a\n\t}\n}',
        'func ExampleA() {\n\t// why\n\tf()\n\t//nolint:all\n\t// Output: a\n}',
        '// why\nfunc TestA(t *testing.T) { t.Skip() }',
    ],
)
def test_function_that_go_test_runs_is_a_test(source: str) -> None:
    assert len(run_of(source)) == 1


@pytest.mark.parametrize(
    'source',
    [
        'func Testify(t *testing.T) {}',
        'func testA(t *testing.T) {}',
        'func TestMain(m *testing.M) {}',
        'func TestA(t testing.TB) {}',
        'func TestA(t *testing.T, n int) {}',
        'func TestA(t *testing.T) error { return nil }',
        'func TestA[X any](t *testing.T) {}',
        'func (s *Suite) TestA() {}',
        'func (s *Suite) TestB(t *testing.T) {}',
        'func BenchmarkA(b *testing.B) {}',
        'func FuzzA(t *testing.T) {}',
        'func ExampleA() { f() }',
        'func ExampleA() {\n\t// Output of f:\n\tf()\n}',
        'func ExampleA(n int) {\n\t// Output: a\n}',
        'func ExampleA() {\n\t// by the way\n\t// Output: a\n}',
        'func ExampleA() {\n\tf()\n\t// Output: a\n\n\t// by the way\n}',
        'func ExampleA() {\n\t// Output: a\n\tf() // why\n}',
        'var TestA = func(t *testing.T) {}',
    ],
)
def test_function_that_go_test_does_not_run_is_no_test(source: str) -> None:
    assert run_of(source) == []


@pytest.mark.parametrize('path', ['a/a.go', 'a/test.go'])
def test_only_test_files_have_tests(path: str) -> None:
    assert run_of('func TestA(t *testing.T) {}', path) == []


def test_declaration_that_runs_without_a_call_is_a_fixture() -> None:
    source = """package a
func TestMain(m *testing.M) {}
func init() { a() }
func init() { b() }
func setUp() {}
func (s S) init() {}
var _ = register()
var cases = []int{1}
"""
    members = [m for type_ in parse(source.encode()).types for m in type_.members]
    assert [m.name for m in members if is_run_by_framework(m)] == [
        'TestMain',
        'init',
        'init',
        '<init>',
    ]
    assert len({(m.owner, m.name, m.parameters) for m in members}) == len(members)
