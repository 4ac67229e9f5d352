"""A test as the go command knows it: the folder of its package, and its name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from coevo.model.records import TestMethod


def make_package_pattern(folder: str, module: str = '.') -> str:
    """The folder of a package, as seen from the one of its module."""
    inner = posixpath.relpath(folder, module)
    return '.' if inner == '.' else f'./{inner}'


def make_run_pattern(methods: Sequence[TestMethod]) -> str:
    """What `-run` is given to run them and no others."""
    names = dict.fromkeys(re.escape(method.test_method) for method in methods)
    return f'^({"|".join(names)})$'
