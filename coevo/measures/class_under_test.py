"""The class that a test class is named after."""

from __future__ import annotations

import re

from coevo.syntax import JavaType
from coevo.trees import Side
from coevo.trees import Tree

_AFFIX = re.compile(r'^Tests?(?=[A-Z])|(?:Tests?|TestCases?|IT|ITCase|Spec)$')


def class_under_test(test_class: str) -> str:
    """Its simple name: FooTest, TestFoo, FooIT."""
    outermost = test_class.rpartition('.')[2].partition('$')[0]
    return _AFFIX.sub('', outermost)


def type_under_test(tree: Tree, test_class: str) -> JavaType | None:
    """The first source type of that name, by path; None if there is none."""
    name = class_under_test(test_class)
    types = (type_ for path in tree.paths(Side.SOURCE) for type_ in tree.file(path).types)
    return next((type_ for type_ in types if type_.simple == name), None)
