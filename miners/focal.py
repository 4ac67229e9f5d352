"""What a test is about: its class under test by name, and its focal method."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

_AFFIX = re.compile(r'^Tests?(?=[A-Z])|(?:Tests?|TestCases?|IT|ITCase|Spec)$')


class _Change(Protocol):
    @property
    def qualified(self) -> str: ...


def class_under_test(test_class: str) -> str:
    """The simple name of the class that a test class is named after: FooTest, TestFoo, FooIT."""
    outermost = test_class.rpartition('.')[2].partition('$')[0]
    return _AFFIX.sub('', outermost)


def focal_method(changes: Sequence[_Change]) -> str | None:
    """`pkg.Type#method(Parameter,Types)` of the best-ranked dependency, None if there is none.

    A method or constructor goes before the rest of a type, which is named by the type alone.
    """
    methods = [change.qualified for change in changes if '#' in change.qualified]
    return next(iter([*methods, *(change.qualified for change in changes)]), None)
