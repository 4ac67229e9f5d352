"""Guess the class that a test class is named after."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from coevo.model.records import TestMethod

_HEAD = re.compile(r'\$*[^$]*')
_AFFIX = re.compile(r'^Tests?(?=[A-Z])|(?:Tests?|TestCases?|IT|ITCase|Spec)$')


def guess_class_under_test(test: TestMethod) -> str:
    """Return the simple name of the class that a test class is named after; it need not exist.

    It is `Foo` for FooTest, TestFoo or FooIT. For nested test classes, the outermost class counts.
    """
    simple, stem = test.test_class.rpartition('.')[2], PurePosixPath(test.test_file).stem
    outermost = stem if f'{simple}$'.startswith(f'{stem}$') else _HEAD.findall(simple)[0]
    return _AFFIX.sub('', outermost)
