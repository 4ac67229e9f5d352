from __future__ import annotations

import pytest

from coevo.languages.python import reading, surgery
from coevo.languages.reading import LanguageReading
from coevo.languages.surgery import FileSurgery
from coevo.languages.verdicts import ExecutedMethod
from coevo.model.records import TestMethod

# mypy holds both against what is asked of a language.
READING: LanguageReading = reading
SURGERY: FileSurgery = surgery


@pytest.mark.parametrize(
    ('test_class', 'expected'),
    [
        ('tests.test_urls', 'urls'),
        ('tests.test_urls$TestUrl', 'Url'),
        ('tests.test_urls$UrlTest$TestInner', 'Url'),
        ('tests.test_urls$Tests', 'urls'),
        ('tests.test_urls$Testing', 'Testing'),
    ],
)
def test_class_under_test_is_guessed_from_the_test_name(test_class: str, expected: str) -> None:
    method = TestMethod(
        module='.', test_file='tests/test_urls.py', test_class=test_class, test_method='test_a'
    )
    assert READING.guess_class_under_test(method) == expected


def test_executed_nested_function_is_part_of_its_outer_function() -> None:
    source = b'@d\ndef f():\n    def g():\n        return 1\n    return g\ndef h(): pass\n'
    type_ = READING.parse(source, 'a.py').types[0]

    def parts(first: int, last: int) -> list[str]:
        one = ExecutedMethod(
            type='a', method='?', descriptor='', file='a.py', first_line=first, last_line=last
        )
        return [m.name for m in type_.members if READING.is_part_of(one, m, type_)]

    assert parts(1, 5) == ['f']
    assert parts(3, 4) == ['f']
    assert parts(6, 6) == ['h']
    assert parts(0, 0) == []


def test_executed_method_is_part_of_its_class_and_its_module() -> None:
    source = b'LIMIT = 1\nclass A:\n    x = 2\n    def f(self): return self.x\nclass B:\n    pass\n'
    types = READING.parse(source, 'a.py').types
    one = ExecutedMethod(
        type='a', method='A.f', descriptor='', file='a.py', first_line=4, last_line=4
    )
    assert [t.name for t in types if READING.is_part_of(one, None, t)] == ['a', 'a$A']
