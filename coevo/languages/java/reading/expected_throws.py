"""Find the exceptions that the tests of a file declare as expected."""

from __future__ import annotations

import re

_EXPECTED = re.compile(rb'\bexpected(?:Exceptions)?\s*=\s*\{?([^)}]*)')
# Match from the beginning of a name only; otherwise a long name is scanned again from each letter.
_CLASS = re.compile(rb'(?<![\w$.])([A-Za-z_$][\w$.]*)\s*\.\s*class\b')


def list_expected_throws(source: bytes) -> tuple[str, ...]:
    """Return the class names, as written, of throwables that a file's tests expect, sorted.

    They are those in `expected = …` of JUnit 4 and `expectedExceptions = …` of TestNG. A file that
    uses JUnit 4's `ExpectedException` rule gives only `Throwable`, since the rule can be given any
    throwable in many ways. A test gains nothing by naming one: being left by an expected exception
    counts no more than doing nothing.
    """
    if b'ExpectedException' in source and re.search(rb'\.expect\w*\s*\(', source):
        return ('Throwable',)
    names = {name for text in _EXPECTED.findall(source) for name in _CLASS.findall(text)}
    return tuple(sorted(name.decode('utf-8', 'replace') for name in names))
