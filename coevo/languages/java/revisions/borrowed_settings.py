"""A module as its POM at another revision would have it: libraries alone, or all settings of tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from coevo.languages.cells import Scope
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.building.report import ReportedEntry

TEST_SCOPE = 'test'


def with_borrowed(module: JavaModule, donor: JavaModule, scope: Scope) -> JavaModule:
    """The module with what it borrows: itself where both have the same."""
    if scope is Scope.TEST_LIBRARIES:
        libraries = tuple(_test_libraries(module, donor))
        same = set(libraries) == set(module.class_path)
        return module if same else dataclasses.replace(module, class_path=libraries)
    return dataclasses.replace(
        module,
        class_path=tuple(_all_libraries(module, donor)),
        compiler=donor.compiler,
        surefire=donor.surefire,
    )


def _test_libraries(module: JavaModule, donor: JavaModule) -> Iterator[ReportedEntry]:
    """The module's own for its code, the donor's for tests; the code's version of both counts."""
    kept = [entry for entry in module.class_path if not _is_for_tests(entry)]
    names = {_name(entry) for entry in kept}
    yield from kept
    for entry in donor.class_path:
        if _is_for_tests(entry) and _name(entry) not in names:
            yield entry


def _all_libraries(module: JavaModule, donor: JavaModule) -> Iterator[ReportedEntry]:
    """Siblings are code and stay; every library is the donor's."""
    yield from (entry for entry in module.class_path if entry.sibling is not None)
    yield from (entry for entry in donor.class_path if entry.sibling is None)


def _is_for_tests(entry: ReportedEntry) -> bool:
    return entry.scope == TEST_SCOPE and entry.sibling is None


def _name(entry: ReportedEntry) -> str:
    """Group, artifact and classifier: all but the version."""
    group, artifact, *rest = entry.coordinates.split(':')
    return ':'.join((group, artifact, *rest[1:]))
