"""Finds a test method in the file that declares it."""

from __future__ import annotations

from dataclasses import replace

from coevo.languages.declarations import SourceFile
from coevo.model.records import TestMethod


def find_declared_method(file: SourceFile, wanted: TestMethod) -> TestMethod | None:
    """Return a test method with the parameters with which a file declares it; None if it does not.

    The method itself is returned if its class declares it with the same parameters. Otherwise the
    class must declare exactly one method of this name, whose parameters are taken.
    """
    type_ = next((type_ for type_ in file.types if type_.name == wanted.test_class), None)
    alike = [
        member.parameters
        for member in (type_.members if type_ else ())
        if member.kind == 'method' and member.name == wanted.test_method
    ]
    if wanted.parameters in alike:
        return wanted
    return replace(wanted, parameters=alike[0]) if len(alike) == 1 else None
