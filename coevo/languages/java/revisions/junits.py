"""Choose the engine that runs the tests of a module: its own, with missing parts resolved."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from coevo.languages.java.building import settings
from coevo.languages.java.building.report import JavaModule, locate_library
from coevo.languages.java.building.session import JvmDeath, JvmSession
from coevo.languages.java.places import REPOSITORY
from coevo.languages.java.processes.launch import Launcher
from coevo.languages.java.processes.plan import JUnitClassPath
from coevo.languages.java.reading.junit import JUnitLibraries, choose_junit_libraries
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

    def get_junit(self, module: JavaModule, session: JvmSession) -> JUnitClassPath:
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
        chosen = choose_junit_libraries(names) or NO_JUNIT
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
