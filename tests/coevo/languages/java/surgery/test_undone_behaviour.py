"""Old bodies behind new signatures, and plain values, in Java."""

from __future__ import annotations

import pytest

from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.surgery import undo
from coevo.languages.measures import find_member_before_signature_change
from tests.languages.located import located

PATH = 'Till.java'
NEW = """\
package shop;

import java.util.List;

class Till<T> {
    static final int MAX = 5;
    private final String name;
    private final List<String> every;
    int count = name.length();

    Till(String name) { super(); this.name = name; every = List.of(); }
    Till() { this("a"); count = 2; }
    int price(int n, final long... m) { return n; }
    List<String> all() { return List.of(); }
    Till<T> with(Till<T> other) { return this; }
    T first(T value) { return value; }
    String[] words(String w) { return new String[] {w}; }
    void run() { count = 1; }
    Kind kind() { return Kind.A; }
    Box<String> box() { return null; }
    abstract int area();
    boolean open(int hour) { return hour > 8; }
}
"""
OLD = """\
package shop;

import java.util.ArrayList;

class Till<T> {
    static final int MAX = 3;

    int price(int c) { return new ArrayList<>(c).size(); }
    boolean open(int hour, int day) { return day > 1; }
}
"""


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('Till', ['{ super(); this.name = ""; this.every = java.util.Collections.emptyList(); }']),
        ('price', ['{ return 0; }', '{ return n; }', '{ return 1; }']),
        ('all', ['{ return java.util.Collections.emptyList(); }']),
        ('with', ['{ return this; }', '{ return other; }', '{ return new Till<>(); }']),
        ('first', ['{ return value; }', '{ return new T(); }', '{ return T.values()[0]; }']),
        ('words', ['{ return new String[0]; }']),
        ('run', ['{ }']),
        ('kind', ['{ return new Kind(); }', '{ return Kind.values()[0]; }']),
        ('box', ['{ return new Box<>(); }']),
        ('area', []),
        ('MAX', ['= 0', '= 1']),
        ('count', []),
    ],
)
def test_plain_values_are_of_the_type_that_is_returned(name: str, expected: list[str]) -> None:
    versions = undo.list_versions_with_plain_values(located('java', PATH, NEW, f'Till.{name}'))

    assert [version.written.strip() for version in versions] == expected
    assert not any(parse(version.source).has_error for version in versions)


def test_old_body_stands_behind_the_new_signature_with_its_imports() -> None:
    made = undo.restore_body_under_new_signature(
        *(located('java', PATH, text, 'Till.price') for text in (OLD, NEW))
    )

    assert made is not None
    assert b'import java.util.ArrayList;' in made
    assert (
        b'int price(int n, final long... m) { int c = n; return new ArrayList<>(c).size(); }'
    ) in made


def test_old_body_whose_parameter_is_gone_is_left_out() -> None:
    old, new = (located('java', PATH, text, 'Till.open') for text in (OLD, NEW))
    assert undo.restore_body_under_new_signature(old, new) is None


def test_constant_gets_its_old_value() -> None:
    made = undo.restore_body_under_new_signature(
        *(located('java', PATH, text, 'Till.MAX') for text in (OLD, NEW))
    )
    assert made == NEW.replace('MAX = 5', 'MAX = 3').encode()


def test_inserted_method_replaces_the_old_one_of_its_name_that_is_gone() -> None:
    old, new = (located('java', PATH, text, 'Till.price') for text in (OLD, NEW))
    assert new.member is not None
    assert find_member_before_signature_change(new.member, old.type, new.type) == old.member
    assert find_member_before_signature_change(new.member, new.type, new.type) is None
