from __future__ import annotations

from dataclasses import dataclass

import pytest

from coevo.measures.class_under_test import class_under_test
from miners.focal import focal_method


@dataclass
class Named:
    qualified: str


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
    ],
)
def test_class_under_test(test_class: str, expected: str) -> None:
    assert class_under_test(test_class) == expected


def test_methods_go_before_types() -> None:
    assert focal_method([Named('p.A'), Named('p.A#m()'), Named('p.A#n()')]) == 'p.A#m()'
    assert focal_method([Named('p.A')]) == 'p.A'
    assert focal_method([]) is None
