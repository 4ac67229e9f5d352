"""Which test files copy the body of a method under test."""

from __future__ import annotations

import pytest

from coevo.evaluation.measuring.judged_adequacy import has_copy, list_body_grams, list_file_grams
from coevo.languages.prints import LexicalRules
from coevo.languages.table import get_reading

PYTHON = b"""
    \"\"\"The price of some rides.\"\"\"
    price = 13 if count < 8 else 9  # cheaper from eight on
    return price * count + (6 if late else 4)
"""
COPY = b"""
def other(n, slow):
    cost = 13 if n < 8 else 9
    # as it should be
    return cost * n + (6 if slow else 4)


def test_fare():
    for n in range(20):
        assert fare(n) == other(n, False)
"""
CHECKS = b"""
@pytest.mark.parametrize(('count', 'late', 'wanted'), [(1, False, 17), (8, True, 78)])
def test_fare(count, late, wanted):
    assert fare(count, late) == wanted
    assert fare(count) + 2 == fare(count, True) if late else wanted
"""
JAVA = (
    b'if (late && count > limit) { return count * 2; } for (int i = 0; i < count; i++) { add(i); }'
)
GO = b'if late && count > limit { return count * 2 }; for i := 0; i < count; i++ { add(i) }'


def rules(language: str) -> LexicalRules:
    return get_reading(language).LEXIS


def copies(language: str, body: bytes, file: bytes) -> bool:
    read = rules(language)
    return has_copy(list_body_grams(body, read), list_file_grams(file, read))


@pytest.mark.parametrize(
    ('file', 'copied'),
    [
        (COPY, True),
        (b"def test_x():\n    exec('''" + COPY + b"''')\n", True),
        (COPY.replace(b'13', b'6 + 7'), True),
        (CHECKS, False),
        (b'def test_x():\n    pass\n' * 300, False),
        (b'', False),
        (b'def test_x():\n    assert "" == fare(0)\n', False),
        # a comment is no code
        (b'\n'.join(b'# ' + line for line in COPY.split(b'\n')) + CHECKS, False),
    ],
)
def test_copy_with_other_names_and_numbers_is_a_copy(file: bytes, copied: bool) -> None:
    assert copies('python', PYTHON, file) is copied


def test_body_that_looks_like_any_code_is_never_copied() -> None:
    plain = b'self.count = count\n    self.late = late\n    self.name = name\n    return self\n'
    assert not copies('python', plain, plain * 3)
    assert not copies('python', b'return price * count\n', b'wanted = price * count\n')


@pytest.mark.parametrize(('language', 'body'), [('java', JAVA), ('go', GO)])
def test_braces_and_layout_of_a_language_do_not_hide_a_copy(language: str, body: bytes) -> None:
    named = body.replace(b'count', b'number').replace(b'limit', b'most').replace(b'; ', b';\n\t')
    assert copies(language, body, b'{ /* it */ ' + named + b' }')
    assert not copies(language, body, b'{ assertEquals(4, add(2) * count); int limit = 3; }')
