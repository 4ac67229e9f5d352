"""The engine that runs the tests of a module, and settings borrowed from another revision's POM."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from coevo.languages.cells import SettingsScope
from coevo.languages.java.building import settings
from coevo.languages.java.building.report import JavaModule, ReportedClassPathEntry, locate_library
from coevo.languages.java.building.session import JvmDeath, JvmSession
from coevo.languages.java.places import REPOSITORY
from coevo.languages.java.processes.launch import Launcher
from coevo.languages.java.processes.plan import JUnitClassPath
from coevo.languages.java.reading.junit import JUnitLibraries, choose_junit_libraries_to_add
from coevo.model.errors import Transient

# The worker needs the platform even to report that no engine knows a test.
NO_JUNIT = JUnitLibraries(
    last=(
        'junit-platform-launcher',
        'junit-platform-engine',
        'junit-platform-commons',
        'opentest4j',
        'apiguardian-api',
    )
)


class JUnitChoices:
    """Chooses the JUnit libraries to add to each test class path, once for each; thread-safe.

    `folder` returns the path of a folder of the workspace by its name.
    """

    def __init__(self, launcher: Launcher, folder: Callable[[str], Path]) -> None:
        self._launcher, self._folder = launcher, folder
        self._known: dict[tuple[str, ...], JUnitClassPath] = {}
        self._lock = threading.Lock()

    def get_junit_libraries_to_add(self, module: JavaModule, session: JvmSession) -> JUnitClassPath:
        """Return the JUnit libraries to add to a module's class path so that its tests can run.

        They may be downloaded by the session. Raises: Transient if they cannot be.
        """
        places = (entry.path or entry.file for entry in module.class_path)
        names = tuple(Path(path).name for path in places if path)
        with self._lock:
            known = self._known.get(names)
        if known is None:
            known = self._choose_junit(names, session)
            with self._lock:
                self._known[names] = known
        return known

    def _choose_junit(self, names: Sequence[str], session: JvmSession) -> JUnitClassPath:
        chosen = choose_junit_libraries_to_add(names) or NO_JUNIT
        resolved: tuple[str, ...] = ()
        if chosen.resolve:
            answer = session.ask(
                settings.make_resolve_request(chosen.resolve), self._folder('resolved')
            )
            if isinstance(answer, JvmDeath) or not answer.report.get('resolved'):
                raise Transient(f'{", ".join(chosen.resolve)} could not be resolved')
            paths = [locate_library(row['path']) for row in answer.report['resolved']]
            resolved = tuple(f'{REPOSITORY}/{p}' for p in paths if p and Path(p).name not in names)
        locate = self._launcher.locate_tool_library
        return JUnitClassPath(
            first=tuple(map(locate, chosen.first)),
            last=(*resolved, *map(locate, chosen.last)),
        )


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
        libraries = tuple(_replace_test_libraries(module, donor))
        same = set(libraries) == set(module.class_path)
        return module if same else dataclasses.replace(module, class_path=libraries)
    return dataclasses.replace(
        module,
        class_path=tuple(_replace_all_libraries(module, donor)),
        compiler=donor.compiler,
        surefire=donor.surefire,
    )


def _replace_test_libraries(
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
