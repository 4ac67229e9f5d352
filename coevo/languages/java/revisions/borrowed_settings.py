"""Modules with settings borrowed from another revision's POM: test libraries or everything."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from coevo.languages.cells import SettingsScope
from coevo.languages.java.building.report import JavaModule, ReportedClassPathEntry

TEST_SCOPE = 'test'


def apply_borrowed_settings(
    module: JavaModule, donor: JavaModule, scope: SettingsScope
) -> JavaModule:
    """Return a copy of a module with settings of the donor, the same module of another revision.

    With TEST_LIBRARIES, only the libraries of the test scope are the donor's; if that changes no
    library, the module itself is returned. With ALL_SETTINGS, all libraries and the settings of the
    compiler and surefire are the donor's.
    """
    if scope is SettingsScope.TEST_LIBRARIES:
        libraries = tuple(_merge_test_libraries(module, donor))
        same = set(libraries) == set(module.class_path)
        return module if same else dataclasses.replace(module, class_path=libraries)
    return dataclasses.replace(
        module,
        class_path=tuple(_replace_all_libraries(module, donor)),
        compiler=donor.compiler,
        surefire=donor.surefire,
    )


def _merge_test_libraries(
    module: JavaModule, donor: JavaModule
) -> Iterator[ReportedClassPathEntry]:
    """Yield the module's entries except test libraries, then the donor's test libraries.

    A test library of the donor is left out if the code has any version of it.
    """
    own_entries = [entry for entry in module.class_path if not _is_for_tests(entry)]
    names = {_make_unversioned_name(entry) for entry in own_entries}
    yield from own_entries
    for entry in donor.class_path:
        if _is_for_tests(entry) and _make_unversioned_name(entry) not in names:
            yield entry


def _replace_all_libraries(
    module: JavaModule, donor: JavaModule
) -> Iterator[ReportedClassPathEntry]:
    """Yield a class path: the module's entries for sibling modules, then the donor's libraries."""
    yield from (entry for entry in module.class_path if entry.sibling is not None)
    yield from (entry for entry in donor.class_path if entry.sibling is None)


def _is_for_tests(entry: ReportedClassPathEntry) -> bool:
    return entry.scope == TEST_SCOPE and entry.sibling is None


def _make_unversioned_name(entry: ReportedClassPathEntry) -> str:
    """Return group, artifact and classifier: the coordinates without the version."""
    group, artifact, *rest = entry.coordinates.split(':')
    return ':'.join((group, artifact, *rest[1:]))
