"""A test method as the file that declares it has it."""

from __future__ import annotations

from dataclasses import replace

from coevo.languages.declarations import SourceFile
from coevo.model.records import TestMethod


def find_declared_method(file: SourceFile, wanted: TestMethod) -> TestMethod | None:
    """A test method as a file declares it: with its parameters, or the only one of its name."""
    type_ = next((type_ for type_ in file.types if type_.name == wanted.test_class), None)
    alike = [
        member.parameters
        for member in (type_.members if type_ else ())
        if member.kind == 'method' and member.name == wanted.test_method
    ]
    if wanted.parameters in alike:
        return wanted
    return replace(wanted, parameters=alike[0]) if len(alike) == 1 else None
