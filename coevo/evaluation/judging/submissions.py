"""The target methods in a submitted file."""

from __future__ import annotations

from dataclasses import replace

from coevo.evaluation.assignments import Target
from coevo.languages.declarations import SourceFile
from coevo.languages.declared_tests import as_declared
from coevo.model.records import TestMethod


def located(file: SourceFile, target: Target, name: str | None = None) -> TestMethod | None:
    """A target as the file declares it: with gold's parameters, or the only one of its name.

    name  what it is called there, if not as in gold
    """
    wanted = replace(target.method, test_method=name or target.row.test_method)
    return as_declared(file, wanted)
