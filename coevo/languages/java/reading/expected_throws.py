"""What tests say that they may be left by."""

from __future__ import annotations

import re

_EXPECTED = re.compile(rb'\bexpected(?:Exceptions)?\s*=\s*\{?([^)}]*)')
# From the beginning of a name alone, lest a long one is read from each of its letters.
_CLASS = re.compile(rb'(?<![\w$.])([A-Za-z_$][\w$.]*)\s*\.\s*class\b')


def list_expected_throws(source: bytes) -> tuple[str, ...]:
    """Throwables by which tests of a file say they may be left, simple or full names, sorted.

    A rule of JUnit 4 may be told of any, in many ways. To name one wins nothing: a test that is
    left by what it expects is no better than one that does nothing.
    """
    if b'ExpectedException' in source and re.search(rb'\.expect\w*\s*\(', source):
        return ('Throwable',)
    names = {name for text in _EXPECTED.findall(source) for name in _CLASS.findall(text)}
    return tuple(sorted(name.decode('utf-8', 'replace') for name in names))
