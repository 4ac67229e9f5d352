"""The names of the tests of a suite: one for each, gold's as well."""

from __future__ import annotations

import pytest

from coevo.evaluation.suites.texts import index_methods_by_name
from coevo.languages.table import get_reading

PATH = 'src/test/java/shop/TillTest.java'
TILL = b"""\
package shop;

import org.junit.jupiter.api.Test;

class TillTest {
    @Test void pays() {}
    @Test void taxes() {}
    @Test void taxes(TestInfo info) {}

    class Again {
        @Test void pays() {}
    }
}
"""


@pytest.mark.parametrize(
    ('source', 'names'),
    [
        (TILL.replace(b'(TestInfo info)', b'Twice()'), ('pays', 'taxes', 'taxesTwice')),
        (TILL, ('pays', 'taxes()', 'taxes(TestInfo)')),
    ],
    ids=['each of another name', 'overloads'],
)
def test_each_test_of_a_suite_has_a_distinct_name(source: bytes, names: tuple[str, ...]) -> None:
    """Of two overloads under one name only the last was asked whether gold notices an edit."""
    read = get_reading('java')
    found = read.find_tests(read.parse(source, PATH), lambda simple: ())
    methods = index_methods_by_name('.', PATH, found)
    wanted = [*(f'TillTest#{name}' for name in names), 'TillTest$Again#pays']
    assert list(methods) == wanted
    assert [(one.test_class, one.test_method) for one in methods.values()] == [
        (type_.name, member.name) for type_, member in found
    ]
