from __future__ import annotations

import pytest

from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.tests import find_tests
from coevo.model.records import TestMethod
from miners.diffs.contexts import Test, TreeUnit
from miners.diffs.matching import match_tests

LONG = 'Foo foo = new Foo(); foo.a(1); foo.b(2); foo.c(3); assertEquals(4, foo.d());'


def methods(path: str, source: str) -> list[Test]:
    return [
        Test(
            TestMethod(
                module='.',
                test_file=path,
                test_class=type_.name,
                test_method=member.name,
                parameters=member.parameters,
            ),
            TreeUnit(path, type_, member),
        )
        for type_, member in find_tests(parse(source.encode()), lambda _: ())
    ]


def matched(old: list[Test], new: list[Test]) -> list[tuple[str, str]]:
    found = match_tests(old, new)
    assert sorted(map(_names, match_tests(old[::-1], new[::-1]))) == sorted(map(_names, found))
    return sorted(map(_names, found))


def _names(pair: tuple[Test, Test]) -> tuple[str, str]:
    old, new = (f'{test.method.test_class}#{test.method.test_method}' for test in pair)
    return old, new


def test_match_of_equal_bodies_prefers_the_same_name() -> None:
    old = methods(
        'A.java', f'class A {{ @Test void a() {{ {LONG} }} @Test void b() {{ {LONG} }} }}'
    )
    new = methods('B.java', f'class B {{ @Test void b() {{ {LONG} }} }}')
    assert matched(old, new) == [('A#b', 'B#b')]


def test_match_of_equal_bodies_prefers_the_same_file() -> None:
    body = f'{{ @Test void m() {{ {LONG} }} }}'
    old = methods('A.java', f'class A {body}') + methods('B.java', f'class B {body}')
    new = methods('B.java', f'class B {body}'.replace('void m', 'void n'))
    assert matched(old, new) == [('B#m', 'B#n')]


def test_each_method_is_matched_once() -> None:
    old = methods('A.java', f'class A {{ @Test void a() {{ {LONG} }} }}')
    new = methods(
        'A.java', f'class A {{ @Test void b() {{ {LONG} }} @Test void c() {{ {LONG} }} }}'
    )
    assert matched(old, new) == [('A#a', 'A#b')]


def test_class_with_most_of_the_equal_bodies_counts_as_the_renamed_class() -> None:
    kept = ' '.join(f'@Test void k{i}() {{ use({i}); }}' for i in range(3))
    old = methods('Old.java', f'class Old {{ {kept} @Test void m() {{ a(1); b(2); }} }}')
    new = methods('New.java', f'class New {{ {kept} @Test void m() {{ z("x"); }} }}')
    assert ('Old#m', 'New#m') in matched(old, new)
    other = methods('New.java', 'class New { @Test void m() { z("x"); } }')
    assert matched(old, other) == []


@pytest.mark.parametrize(('test_class', 'expected'), [('A', [('A#a', 'A#b')]), ('B', [])])
def test_similar_bodies_match_only_within_a_class_lineage(
    test_class: str, expected: list[tuple[str, str]]
) -> None:
    old = methods('A.java', f'class A {{ @Test void a() {{ {LONG} }} }}')
    source = f'class {test_class} {{ @Test void b() {{ {LONG.replace("4", "5")} }} }}'
    assert matched(old, methods(f'{test_class}.java', source)) == expected


def test_similar_bodies_of_a_deleted_class_match_in_any_class() -> None:
    old = methods('A.java', f'class A {{ @Test void a() {{ {LONG} }} }}')
    new = methods('B.java', f'class B {{ @Test void b() {{ {LONG.replace("4", "5")} }} }}')
    assert [_names(pair) for pair in match_tests(old, new, {'A'})] == [('A#a', 'B#b')]


def test_equally_similar_bodies_do_not_match() -> None:
    old = methods('A.java', f'class A {{ @Test void a() {{ {LONG} }} }}')
    several = (
        f'@Test void {name}() {{ {LONG.replace("4", str(n))} }}' for n, name in enumerate('xy')
    )
    new = methods('A.java', f'class A {{ {" ".join(several)} }}')
    assert [matched(old, [each]) for each in new] == [[('A#a', 'A#x')], [('A#a', 'A#y')]]
    assert matched(old, new) == []
    assert matched(new, old) == []


def test_ambiguous_match_leaves_no_second_best_match() -> None:
    old = methods('A.java', f'class A {{ @Test void a() {{ {LONG} }} }}')
    texts = [
        LONG.replace('4', '5'),
        LONG.replace('4', '6'),
        LONG.replace('4', '7').replace('3', '8'),
    ]
    tests = ' '.join(
        f'@Test void {name}() {{ {text} }}' for name, text in zip('xyz', texts, strict=True)
    )
    assert matched(old, methods('A.java', f'class A {{ {tests} }}')) == []


def test_most_similar_body_is_matched_first() -> None:
    old = methods('A.java', f'class A {{ @Test void a() {{ {LONG} }} }}')
    near, nearer = LONG.replace('4', '5').replace('3', '6'), LONG.replace('4', '5')
    new = methods(
        'A.java', f'class A {{ @Test void b() {{ {near} }} @Test void c() {{ {nearer} }} }}'
    )
    assert matched(old, new) == [('A#a', 'A#c')]


def test_a_test_that_moved_to_a_class_that_stays_and_was_edited_keeps_its_name() -> None:
    old = methods('A.java', f'class A {{ @Test void sells() {{ {LONG} }} }}')
    edited = LONG.replace('foo.d()', 'foo.e()')
    new = methods('B.java', f'class B {{ @Test void sells() {{ {edited} }} }}')
    assert matched(old, new) == [('A#sells', 'B#sells')]


def test_a_name_that_several_tests_have_matches_none_of_other_classes() -> None:
    body = f'{{ @Test void sells() {{ {LONG} }} }}'
    old = methods('A.java', f'class A {body}')
    edited = body.replace('foo.d()', 'foo.e()')
    new = methods('B.java', f'class B {edited}') + methods('C.java', f'class C {edited}')
    assert matched(old, new) == []


def test_another_test_of_the_same_name_is_not_the_one_that_left() -> None:
    old = methods('A.java', f'class A {{ @Test void sells() {{ {LONG} }} }}')
    new = methods('B.java', 'class B { @Test void sells() { Bar bar = open(); bar.close(); } }')
    assert matched(old, new) == []
