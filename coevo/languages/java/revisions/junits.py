"""The engine that runs the tests of a module: the project's own or coevo's pinned one."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.cells import SettingsScope
from coevo.languages.java.building import settings
from coevo.languages.java.building.report import JavaModule, ReportedClassPathEntry, locate_library
from coevo.languages.java.building.session import JvmDeath, JvmSession
from coevo.languages.java.places import REPOSITORY
from coevo.languages.java.processes.launch import Launcher
from coevo.languages.java.processes.plan import JUnitClassPath
from coevo.model.errors import Transient

# Choose the engines that run a module's tests: the project's own or coevo's pinned ones.
#
# The pinned engines cover JUnit 3 and 4 and TestNG.

_JAR = re.compile(r'(?P<artifact>.+?)-(?P<version>\d.*)\.jar')
_OLDEST_JUPITER = (5, 3)  # the launcher calls of the worker exist since this version
_OLDEST_JUNIT4 = (4, 12)  # the vintage engine cannot run older versions
_OLDEST_TESTNG = (6, 14, 3)  # the TestNG engine cannot run older versions

_PLATFORM = (
    'junit-platform-launcher',
    'junit-platform-engine',
    'junit-platform-commons',
    'opentest4j',
    'apiguardian-api',
)
_JUPITER = ('junit-jupiter-engine', 'junit-jupiter-api', 'junit-jupiter-params')
_TESTNG = ('testng', 'jcommander', 'bsh')


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitLibraries:
    """The libraries to add to a test class path so that coevo's worker can run its tests.

    first     artifactIds of pinned libraries placed before the project's
    resolve   coordinates to resolve with their dependencies, placed after the project's
    last      artifactIds of pinned libraries placed after the project's
    """

    first: tuple[str, ...] = ()
    resolve: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


def choose_junit_libraries_to_add(class_path: Sequence[str]) -> JUnitLibraries | None:
    """Return the libraries to add to a test class path, given the file names of its jars.

    Returns None if the class path contains no test framework.
    """
    versions = _parse_versions(class_path)
    platform = _find_platform_version(versions)
    if platform is not None and _derive_jupiter_version(platform) < _OLDEST_JUPITER:
        return JUnitLibraries(
            first=(
                *_list_pinned_platform_libraries(versions),
                *_list_framework_replacements(versions),
            ),
            last=_list_testng_engine(versions),
        )
    if platform is not None:
        resolve = tuple(_list_lacking_libraries(versions, platform))
        return JUnitLibraries(
            first=tuple(_list_framework_replacements(versions)),
            resolve=resolve,
            last=_list_testng_engine(versions),
        )
    if not versions.keys() & {'junit', 'junit-dep', 'testng'}:
        return None
    vintage = ('junit-vintage-engine',) if _get_junit4_version(versions) else ()
    return JUnitLibraries(
        first=tuple(_list_framework_replacements(versions)),
        last=(
            *vintage,
            *_list_testng_engine(versions),
            *_PLATFORM,
            *_list_hamcrest_if_lacking(versions),
        ),
    )


def _parse_versions(class_path: Sequence[str]) -> Mapping[str, str]:
    """Map each artifact to its version; as in the JVM, the first jar on the path wins."""
    versions: dict[str, str] = {}
    for name in class_path:
        if match := _JAR.fullmatch(name):
            versions.setdefault(match['artifact'], match['version'])
    return versions


def _parse_numbers(version: str) -> tuple[int, ...]:
    match = re.match(r'\d+(\.\d+)*', version)
    assert match is not None, 'a version begins with a digit'
    return tuple(map(int, match[0].split('.')))


def _get_junit4_version(found: Mapping[str, str]) -> str | None:
    return found.get('junit') or found.get('junit-dep')


def _find_platform_version(found: Mapping[str, str]) -> str | None:
    """Return the version of the JUnit Platform that a class path has or that its Jupiter needs.

    Returns None if it has neither.
    """
    for artifact in ('junit-platform-engine', 'junit-platform-commons'):
        if artifact in found:
            return found[artifact]
    jupiter = found.get('junit-jupiter-api') or found.get('junit-jupiter-engine')
    return None if jupiter is None else re.sub(r'^5\.', '1.', jupiter)


def _derive_jupiter_version(platform: str) -> tuple[int, ...]:
    """Return the Jupiter version that belongs to a platform version.

    Platform 1.9 belongs to Jupiter 5.9; since version 6 both share one number.
    """
    major, *rest = _parse_numbers(platform)
    return (major if major > 1 else 5, *rest)


def _list_pinned_platform_libraries(found: Mapping[str, str]) -> Iterator[str]:
    yield from _JUPITER
    yield from _PLATFORM
    if _get_junit4_version(found):
        yield 'junit-vintage-engine'


def _list_lacking_libraries(found: Mapping[str, str], platform: str) -> Iterator[str]:
    """Yield the coordinates of the launcher and engines that the class path lacks.

    Their versions fit those of the libraries that it has.
    """
    jupiter = found.get('junit-jupiter-api')
    fitting = re.sub(r'^1\.', '5.', platform)
    wanted = {'junit-platform-launcher': f'org.junit.platform:junit-platform-launcher:{platform}'}
    if jupiter is not None:
        wanted['junit-jupiter-engine'] = f'org.junit.jupiter:junit-jupiter-engine:{jupiter}'
    if _get_junit4_version(found):
        wanted['junit-vintage-engine'] = f'org.junit.vintage:junit-vintage-engine:{fitting}'
    yield from (coordinates for name, coordinates in sorted(wanted.items()) if name not in found)


def _list_framework_replacements(found: Mapping[str, str]) -> Iterator[str]:
    """Yield artifactIds of pinned libraries that replace JUnit 4 or TestNG if these are too old.

    Hamcrest is replaced together with JUnit 4, since old JUnits bundle it.
    """
    junit4, testng = _get_junit4_version(found), found.get('testng')
    if junit4 is not None and _parse_numbers(junit4) < _OLDEST_JUNIT4:
        yield from ('junit', 'hamcrest-core')
    if testng is not None and _parse_numbers(testng) < _OLDEST_TESTNG:
        yield from _TESTNG


def _list_testng_engine(found: Mapping[str, str]) -> tuple[str, ...]:
    return ('testng-engine',) if 'testng' in found else ()


def _list_hamcrest_if_lacking(found: Mapping[str, str]) -> tuple[str, ...]:
    """Return Hamcrest if a usable JUnit 4 is present without it; otherwise nothing.

    A JUnit 4 that is too old is replaced by the pinned one, which already comes with Hamcrest.
    """
    junit4 = _get_junit4_version(found)
    there = any(name.startswith(('hamcrest', 'java-hamcrest')) for name in found)
    return (
        ()
        if junit4 is None or _parse_numbers(junit4) < _OLDEST_JUNIT4 or there
        else ('hamcrest-core',)
    )


# The engine that runs the tests of a module, and settings borrowed from another revision's POM.

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
