"""Guess the class or module that a test is named after."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from coevo.model.records import TestMethod

_AFFIX = re.compile(r'^Tests?(?=[A-Z_])_?|(?:Tests?|TestCases?)$')
_FILE_AFFIX = re.compile(r'^tests?_|_tests?$')


def guess_class_under_test(test: TestMethod) -> str:
    """Return the name of the class or module that a test is named after.

    It is `Foo` for TestFoo, FooTest and TestFoo$TestBar, and `foo` for a function of test_foo.py.
    """
    _, *classes = test.test_class.split('$')
    named = _AFFIX.sub('', classes[0]) if classes else ''
    return named or _FILE_AFFIX.sub('', PurePosixPath(test.test_file).stem)
