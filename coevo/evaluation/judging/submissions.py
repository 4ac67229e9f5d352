"""The target methods in a submitted file."""

from __future__ import annotations

from dataclasses import replace

from coevo.evaluation.assignments import Target
from coevo.languages.declarations import SourceFile
from coevo.languages.declared_tests import find_declared_method
from coevo.model.records import TestMethod


def locate_target(file: SourceFile, target: Target, name: str | None = None) -> TestMethod | None:
    """A target as the file declares it: with gold's parameters, or the only one of its name.

    name  what it is called there, if not as in gold
    """
    wanted = replace(target.method, test_method=name or target.row.test_method)
    return find_declared_method(file, wanted)
