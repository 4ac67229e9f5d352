from __future__ import annotations

import pytest

from coevo.languages.declarations import DeclaredType
from coevo.languages.golang import reading
from coevo.languages.reading import DeclarationPart, LanguageReading, Side
from coevo.languages.verdicts import ExecutedMethod
from coevo.model.records import TestMethod

# mypy holds it against what is asked of a language.
READING: LanguageReading = reading


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('TestRouter_Walk', 'Router'),
        ('ExampleRouter_Walk', 'Router'),
        ('ExampleRouter_Walk_second', 'Router'),
        ('Test_Router_Walk', 'Router'),
        ('TestWalk', 'mux'),
        ('Test_walk', 'mux'),
        ('Example_walk', 'mux'),
    ],
)
def test_class_under_test_is_guessed_from_the_test_name(name: str, expected: str) -> None:
    for package in ('mux', 'mux_test'):
        method = TestMethod(
            module='.', test_file='mux_test.go', test_class=package, test_method=name
        )
        assert READING.guess_class_under_test(method) == expected


@pytest.mark.parametrize(
    ('path', 'side', 'is_resource', 'relative'),
    [
        ('a.go', Side.SOURCE, False, 'a.go'),
        ('a/a_test.go', Side.TEST, False, 'a_test.go'),
        ('a/testdata/x/a.json', Side.TEST, True, 'testdata/x/a.json'),
        ('a/testdata/a_test.go', Side.TEST, True, 'testdata/a_test.go'),
        ('a/a.tmpl', Side.SOURCE, True, 'a.tmpl'),
        ('_examples/a.go', Side.SOURCE, True, 'a.go'),
        ('vendor/b/b_test.go', Side.SOURCE, False, 'b_test.go'),
    ],
)
def test_path_is_classified_by_side_and_as_resource(
    path: str, side: Side, is_resource: bool, relative: str
) -> None:
    found = READING.classify_path(path)
    assert found is not None
    assert (found.side, found.is_resource, found.relative) == (side, is_resource, relative)


def test_build_file_or_readme_is_on_neither_side() -> None:
    assert [READING.classify_path(path) for path in ('README.md', 'go.mod', 'sub/go.sum')] == [
        None
    ] * 3


@pytest.mark.parametrize(
    ('path', 'expected'),
    [
        *((path, True) for path in ('go.mod', 'sub/go.sum', 'go.work', 'a/vendor/modules.txt')),
        *((path, False) for path in ('modules.txt', 'a.go', 'vendor/a/go.txt')),
    ],
)
def test_build_file_is_recognised_by_its_path(path: str, expected: bool) -> None:
    assert READING.is_build_file(path) is expected


SOURCE = b"""package a

var limit = 1

func Walk() {
	f(func() {})
}

func (r *Router) Walk() {}
func (r Route) Walk() {}
"""


def _run(method: str, first: int, last: int) -> ExecutedMethod:
    return ExecutedMethod(
        type='a', method=method, descriptor='', file='a.go', first_line=first, last_line=last
    )


def _types() -> tuple[DeclaredType, ...]:
    return READING.parse(SOURCE, 'a.go').types


@pytest.mark.parametrize(
    ('one', 'expected'),
    [
        (_run('?', 5, 7), 'a'),
        (_run('?', 6, 6), 'a'),
        (_run('?', 9, 9), 'a$Router'),
        (_run('Walk', 0, 0), 'a'),
        (_run('(*Router).Walk', 0, 0), 'a$Router'),
        (_run('(Route).Walk', 0, 0), 'a$Route'),
    ],
)
def test_executed_function_is_matched_to_its_declaration(
    one: ExecutedMethod, expected: str
) -> None:
    members = [m for type_ in _types() for m in type_.members if m.kind == 'method']
    owners = [
        type_.name
        for type_ in _types()
        for member in members
        if member.owner == type_.name and READING.is_part_of(one, member, type_)
    ]
    assert owners == [expected]
    rest = {type_.name for type_ in _types() if READING.is_part_of(one, None, type_)}
    assert rest == {'a', expected}


def test_words_of_a_declaration_have_a_part_and_a_position() -> None:
    found = READING.list_words('func (r *Router) Walk() { // why\n\tuse(r.limit, Kind{})\n}')
    assert [(word.text, word.part) for word in found if word.part is not DeclarationPart.REST] == [
        ('r', DeclarationPart.PLAIN),
        ('Router', DeclarationPart.TYPE),
        ('Walk', DeclarationPart.CALL),
        ('use', DeclarationPart.CALL),
        ('r', DeclarationPart.PLAIN),
        ('limit', DeclarationPart.MEMBER),
        ('Kind', DeclarationPart.TYPE),
    ]
    limit = next(word for word in found if word.text == 'limit')
    assert (limit.line, limit.column) == (1, 7)
