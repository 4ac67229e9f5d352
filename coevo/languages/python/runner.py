"""What a process that runs tests of a cell is told, in a sandbox of its own or in an open one.

A controller above the test process says what it hears from it, under the run's nonce, which the test process does
not know (`inside/controller.py`). In an open sandbox each run is a process that a zygote forks (`inside/session.py`):
who has imported pytest once need not do so for each run. It refuses a tree that hides what pytest imports, and an
environment that cannot be forked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from coevo.languages.core.channel import TargetReport
from coevo.languages.core.sessions import SESSION_SECONDS, Sessions
from coevo.languages.core.test_processes import CpuBounds
from coevo.languages.core.test_runs import RunResult
from coevo.languages.python.events import PythonProcessReport
from coevo.languages.python.launch import (
    PythonSetup,
    make_layout_script,
    make_session_job,
    make_worker_command,
)
from coevo.languages.python.options import BLOCKED
from coevo.languages.python.places import PACKAGES, TREE
from coevo.sandboxes.job import HOME
from coevo.sandboxes.sandbox import Job, Sandbox

LOADING_SECONDS = 300.0

# Each holds a process that has imported pytest; a pair needs one for each hash seed.
_MOST_SESSIONS = 4
_CPU_MARGIN_SECONDS = 10

PythonRunResult = RunResult[PythonProcessReport]


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonTestRun:
    """A request to a test process. Fulfils `coevo.languages.core.test_runs.TestRun`.

    tree              the archive of the tree that it is run in; None where it needs none
    limits            CPU seconds for each target
    most_cpu_seconds  for all of them
    watched           files of which the observer is to see the lines, and how many they have; None: there is
                      no observer
    """

    request: Mapping[str, Any]
    tree: Path | None
    limits: Sequence[float]
    most_cpu_seconds: float
    watched: Mapping[str, int] | None = None

    line_bytes: ClassVar[int] = 1 << 20

    @property
    def bounds(self) -> CpuBounds[int]:
        return CpuBounds(tests=dict(enumerate(self.limits)), loading=LOADING_SECONDS)

    def make_report(self, key: str) -> PythonProcessReport:
        return PythonProcessReport(targets=[TargetReport() for _ in self.limits], key=key)

    def make_order(self, nonce: str, key: str) -> str:
        observed: dict[str, object] | None = None
        if self.watched is not None:
            lines = [[path, count] for path, count in sorted(self.watched.items())]
            observed = {'key': key, 'targets': len(self.limits), 'lines': lines}
        order = {'nonce': nonce, 'command': make_worker_command(), 'request': self.request}
        return json.dumps({**order, 'observed': observed})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKey:
    """roots, folder  as `launch.make_test_job` has them"""

    site: Path
    interpreter: str
    folder: str
    roots: tuple[str, ...]
    alone: bool


PythonSessions = Sessions[SessionKey, PythonTestRun, PythonProcessReport]


def make_sessions(sandbox: Sandbox) -> PythonSessions:
    """Those of a thread, none of which is open yet."""
    return Sessions(sandbox, _MOST_SESSIONS)


class PythonSessionOrders:
    """Fulfils `coevo.languages.core.sessions.SessionOrders`."""

    def __init__(self, key: SessionKey, setup: PythonSetup) -> None:
        self._key, self._setup = key, setup
        self._script = make_layout_script(setup, key.folder, key.roots)
        self._tree: Path | None = None

    def make_session_job(self) -> Job:
        key = self._key
        return make_session_job(
            self._setup, key.folder, key.roots, alone=key.alone, seconds=SESSION_SECONDS
        )

    def make_session_head(self) -> bytes:
        head = {'command': make_worker_command(), 'packages': PACKAGES, 'options': BLOCKED}
        return json.dumps(head).encode() + b'\n'

    def make_session_order(
        self, run: PythonTestRun, nonce: str, key: str, mark: str
    ) -> tuple[bytes, ...]:
        """With the archive where the session has another one."""
        archive = None
        if run.tree is not None and run.tree != self._tree:
            archive, self._tree = run.tree.read_bytes(), run.tree
        order = {
            'nonce': nonce,
            'key': key,
            'mark': mark,
            'request': run.request,
            'cpu_seconds': math.ceil(run.most_cpu_seconds) + _CPU_MARGIN_SECONDS,
            'folder': f'{TREE}/{self._key.folder}' if run.tree else HOME,
            'roots': [f'{TREE}/{root}' for root in self._key.roots] if run.tree else [],
            'archive': None if archive is None else len(archive),
            'layout': self._script,
        }
        return json.dumps(order).encode() + b'\n', archive or b''
