from __future__ import annotations

import pytest

from coevo.languages.java.reading.tests import guess_class_under_test
from coevo.model.records import TestMethod


@pytest.mark.parametrize(
    ('test_class', 'expected'),
    [
        ('p.FooTest', 'Foo'),
        ('p.FooTests', 'Foo'),
        ('p.FooTestCase', 'Foo'),
        ('TestFoo', 'Foo'),
        ('p.FooIT', 'Foo'),
        ('p.FooTest$WhenEmpty', 'Foo'),
        ('p.Testament', 'Testament'),
        ('p.Fixture', 'Fixture'),
        ('p.$FooTest$WhenEmpty', '$Foo'),
    ],
)
def test_class_under_test_is_guessed_from_the_test_class_name(
    test_class: str, expected: str
) -> None:
    test = TestMethod(
        module='.', test_file='src/test/java/p/X.java', test_class=test_class, test_method='t'
    )
    assert guess_class_under_test(test) == expected


def test_file_name_decides_which_part_of_a_class_name_is_nested() -> None:
    test = TestMethod(
        module='.',
        test_file='src/test/java/p/Foo$BarTest.java',
        test_class='p.Foo$BarTest$Inner',
        test_method='t',
    )
    assert guess_class_under_test(test) == 'Foo$Bar'
