"""The engine that runs the tests of a module: its own, with what that lacks resolved."""

from __future__ import annotations

import threading
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path

from coevo.languages.java.building import settings
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.building.report import library_path
from coevo.languages.java.building.session import Died
from coevo.languages.java.building.session import Session
from coevo.languages.java.places import REPOSITORY
from coevo.languages.java.processes.launch import Launcher
from coevo.languages.java.processes.plan import JUnit
from coevo.languages.java.reading.junit import JUnitLibraries
from coevo.languages.java.reading.junit import junit_libraries
from coevo.model.errors import Transient

# The worker needs the platform to say that no engine knows a test.
NO_JUNIT = JUnitLibraries(
    last=(
        'junit-platform-launcher',
        'junit-platform-engine',
        'junit-platform-commons',
        'opentest4j',
        'apiguardian-api',
    )
)


class JUnits:
    """Chosen once for each class path; safe from several threads.

    folder  makes a folder of the workspace
    """

    def __init__(self, launcher: Launcher, folder: Callable[[str], Path]) -> None:
        self._launcher, self._folder = launcher, folder
        self._known: dict[tuple[str, ...], JUnit] = {}
        self._lock = threading.Lock()

    def of(self, module: JavaModule, session: Session) -> JUnit:
        """The engine that runs a module's tests: its own, with what that lacks resolved."""
        places = (entry.path or entry.file for entry in module.class_path)
        names = tuple(Path(place).name for place in places if place)
        with self._lock:
            known = self._known.get(names)
        if known is None:
            known = self._choose(names, session)
            with self._lock:
                self._known[names] = known
        return known

    def _choose(self, names: Sequence[str], session: Session) -> JUnit:
        chosen = junit_libraries(names) or NO_JUNIT
        resolved: tuple[str, ...] = ()
        if chosen.resolve:
            answer = session.ask(settings.resolve_request(chosen.resolve), self._folder('resolved'))
            if isinstance(answer, Died) or not answer.report.get('resolved'):
                raise Transient(f'{", ".join(chosen.resolve)} could not be resolved')
            paths = [library_path(one['path']) for one in answer.report['resolved']]
            resolved = tuple(f'{REPOSITORY}/{p}' for p in paths if p and Path(p).name not in names)
        place = self._launcher.library
        return JUnit(
            first=tuple(map(place, chosen.first)),
            last=(*resolved, *map(place, chosen.last)),
        )
