from __future__ import annotations

import pytest

from coevo.languages.declarations import Member, SourceFile
from coevo.languages.golang.reading.syntax import MOST_BYTES, parse


def read(source: str) -> SourceFile:
    return parse(source.encode(), 'a/a.go')


def member(source: str, name: str) -> Member:
    return next(m for t in read(source).types for m in t.members if m.name == name)


def test_package_type_holds_functions_and_its_types_are_nested_in_it() -> None:
    file = read("""package mux

import "net/http"

const (
	A = iota
	B
)

var x, y = 1, 2

type Router struct {
	http.Handler
	*base
	name string
}

type Alias = Router

func New() *Router { return nil }
func (r *Router) Walk(f func(), n int) (err error) { return }
func (l List[T]) Len() int { return 0 }
""")
    package, router, alias, elsewhere = file.types
    assert (package.name, package.kind, package.around) == ('mux', 'module', ())
    assert [(m.kind, m.name) for m in package.members] == [
        *(('field', name) for name in ('A', 'B', 'x', 'y')),
        ('method', 'New'),
    ]
    assert (router.name, router.canonical_name, router.enclosing_name) == (
        'mux$Router',
        'mux.Router',
        'mux',
    )
    assert router.interfaces == ('Handler', 'base')
    assert [(m.name, m.owner, m.declaration) for m in router.members] == [
        ('Walk', 'mux$Router', 'func (r *Router) Walk(f func(), n int) (err error)')
    ]
    assert (alias.name, alias.interfaces) == ('mux$Alias', ('Router',))
    assert (elsewhere.name, [m.name for m in elsewhere.members]) == ('mux$List', ['Len'])
    assert not file.has_error


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('func f() { a(); b() }', '// f does.\nfunc f() {\n\ta() // first\n\n\tb()\n}'),
        ('func f() { g(a, b) }', 'func f() {\n\tg(\n\t\ta,\n\t\tb,\n\t)\n}'),
        ('func f() { if (a > b) { g() } }', 'func f() {\n\tif a > b {\n\t\tg()\n\t}\n}'),
        ('func f() { for (a) { g() } }', 'func f() {\n\tfor a {\n\t\tg()\n\t}\n}'),
        ('var x = []int{1, 2}', 'var x = []int{\n\t1,\n\t2,\n}'),
        ('var x = 0XAB', 'var x = 0xab'),
        ('type T struct { a int; b string }', 'type T struct {\n\ta int\n\tb string // why\n}'),
        ('import (\n"a"\n"b"\n)\nfunc f() {}', 'import "b"\nimport "a"\nfunc f() {}'),
        (
            'func f() { g() }',
            '//nolint:all\nfunc f() {\n\t//lint:ignore X why\n\tg() //nolint:errcheck\n}',
        ),
    ],
)
def test_layout_and_comments_do_not_change_the_hashes(one: str, other: str) -> None:
    before, after = (read(f'package a\n{text}') for text in (one, other))
    assert before.hash == after.hash
    assert _hashes(before) == _hashes(after)


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('func f() { g(a, b) }', 'func f() { g(b, a) }'),
        ('func f() { a\n(b) }', 'func f() { a(b) }'),
        ('func f() { g("a") }', 'func f() { g("b") }'),
        ('func f() { g("a") }', 'func f() { g(`a`) }'),
        (
            'func ExampleF() {\n\tg()\n\t// Output: a\n}',
            'func ExampleF() {\n\tg()\n\t// Output: b\n}',
        ),
        (
            'func ExampleF() {\n\tg()\n\t// Output:\n\t// a\n}',
            'func ExampleF() {\n\tg()\n\t// Output:\n\t// b\n}',
        ),
        ('//go:embed a.txt\nvar x string', '//go:embed b.txt\nvar x string'),
        ('//go:noinline\nfunc f() {}', 'func f() {}'),
        ('const (\n\tA = iota\n\tB\n)', 'const (\n\tB = iota\n\tA\n)'),
        ('var x = 1', 'const x = 1'),
        ('type T struct { a int }', 'type T struct { a string }'),
    ],
)
def test_edit_that_the_compiler_sees_changes_the_hashes(one: str, other: str) -> None:
    before, after = (read(f'package a\n{text}') for text in (one, other))
    assert before.hash != after.hash
    assert _hashes(before) != _hashes(after)


def _hashes(file: SourceFile) -> list[object]:
    members = [(m.name, m.hash, m.bare_hash, m.body_hash) for t in file.types for m in t.members]
    return [*members, *((t.name, t.header_hash, t.shape_hash) for t in file.types)]


def test_build_constraint_changes_the_header_hash_of_the_package() -> None:
    one = read('//go:build linux\n\npackage a\n')
    other = read('//go:build windows\n\npackage a\n')
    assert one.types[0].header_hash != other.types[0].header_hash
    assert read('// linux\n\npackage a\n').hash == read('package a\n').hash


def test_local_names_and_package_names_are_not_among_the_used_names() -> None:
    source = """package a
import (
	"testing"
	"github.com/pkg/go-errors"
	yaml "gopkg.in/yaml.v2"
)
func TestA(t *testing.T) {
	cases, err := load("testdata/a.json")
	for _, one := range cases {
		var got Kind = one.run(limit)
		yaml.Marshal(Point{x: got})
		errors.Wrap(err, handler)
	}
}
"""
    found = member(source, 'TestA')
    assert found.names == {
        *('TestA', 'load', 'limit', 'Kind', 'Marshal', 'Point', 'x', 'Wrap', 'handler')
    }
    assert found.calls == {'load', 'run', 'limit', 'Marshal', 'Point', 'Wrap', 'handler'}
    assert found.strings == {'testdata/a.json'}
    assert found.types == {'T', 'Kind', 'Point'}


def test_renamed_test_keeps_its_body_hash() -> None:
    one = member('package a\nfunc TestA(t *testing.T) { f() }', 'TestA')
    other = member('package a\nfunc TestB(t *testing.T) { f() }', 'TestB')
    assert one.hash != other.hash
    assert (one.bare_hash, one.body_hash) == (other.bare_hash, other.body_hash)


def test_iota_constants_share_the_source_of_their_group() -> None:
    source = 'package a\nconst (\n\tA = iota\n\tB\n)\nconst (\n\tC = 1\n\tD = 2\n)\n'
    found = {name: member(source, name) for name in 'ABCD'}
    assert found['A'].source == found['B'].source == 'const (\n\tA = iota\n\tB\n)'
    assert (found['C'].source, found['D'].source) == ('C = 1', 'D = 2')


def test_comment_directly_above_a_declaration_belongs_to_it() -> None:
    source = 'package a\n\n// free\n\n// one\n// two\nfunc f() {}\n'
    found = member(source, 'f')
    assert source[found.full_start_byte : found.start_byte] == '// one\n// two\n'
    assert (found.start_line, found.end_line) == (7, 7)


def test_file_with_a_syntax_error_still_lists_its_functions() -> None:
    file = read('package a\nfunc f() {}\nfunc g( {\n')
    assert file.has_error
    assert 'f' in [m.name for m in file.types[0].members]


def test_file_beyond_the_size_limit_is_unreadable() -> None:
    assert read('package a\n' + ' ' * MOST_BYTES).unreadable
