"""Send runs to test processes, in a sandbox of their own or in an open session.

A controller above the test process repeats its events under the nonce of the run, which the test
process does not know (`inside/controller.py`). In an open session each run is a process forked from
a zygote (`inside/session.py`), so that pytest is imported only once. A session refuses a tree that
hides modules of pytest, and an environment that cannot be forked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from coevo.languages.core.cell_files import StandIn
from coevo.languages.core.channel import TargetReport
from coevo.languages.core.test_processes import CpuBounds
from coevo.languages.core.test_runs import SESSION_SECONDS, RunResult, Sessions
from coevo.languages.python.events import PythonProcessReport
from coevo.languages.python.interpreters import PACKAGES, TREE
from coevo.languages.python.launch import (
    PythonSetup,
    make_layout_script,
    make_session_job,
    make_worker_command,
)
from coevo.languages.python.pytest_options import BLOCKED
from coevo.sandboxes.job import HOME
from coevo.sandboxes.sandbox import Job, Sandbox

LOADING_SECONDS = 300.0

# Each session holds a process with pytest imported; a pair needs one for each hash seed.
_MOST_SESSIONS = 4
_CPU_MARGIN_SECONDS = 10

PythonRunResult = RunResult[PythonProcessReport]


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonTestRun:
    """A request to a test process, with limits. Implements `core.test_runs.TestRun`.

    request           as `inside/worker.py` describes it
    tree              the archive of the tree to run in; None if none is needed
    limits            CPU seconds for each target
    most_cpu_seconds  for all targets together
    loading           CPU seconds before the first target
    watched           files whose executed lines are observed, with their numbers of lines; None:
                      without an observer
    stand_ins         files of the tree of which the clone lacks the content
    """

    request: Mapping[str, Any]
    tree: Path | None
    limits: Sequence[float]
    most_cpu_seconds: float
    loading: float = LOADING_SECONDS
    watched: Mapping[str, int] | None = None
    stand_ins: tuple[StandIn, ...] = ()

    line_bytes: ClassVar[int] = 1 << 20

    @property
    def bounds(self) -> CpuBounds[int]:
        """The CPU limits of the targets and of loading."""
        return CpuBounds(tests=dict(enumerate(self.limits)), loading=self.loading)

    def make_report(self, key: str) -> PythonProcessReport:
        """Return an empty report for the run."""
        return PythonProcessReport(targets=[TargetReport() for _ in self.limits], key=key)

    def make_run_order(self, nonce: str, key: str) -> str:
        """Return the line of JSON for the controller's standard input."""
        observed: dict[str, object] | None = None
        if self.watched is not None:
            lines = [[path, count] for path, count in sorted(self.watched.items())]
            observed = {'key': key, 'targets': len(self.limits), 'lines': lines}
        order = {'nonce': nonce, 'command': make_worker_command(), 'request': self.request}
        return json.dumps({**order, 'observed': observed, 'stand_ins': self.list_stand_in_paths()})

    def list_stand_in_paths(self) -> list[str]:
        """Return the paths of the stand-ins in the sandbox."""
        return [f'{TREE}/{stand_in.path}' for stand_in in self.stand_ins]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKey:
    """The settings that all runs of one session share.

    site           the folder of the installed packages
    roots, folder  as in `launch.make_test_job`
    alone          whether each run has one target only
    """

    site: Path
    interpreter: str
    folder: str
    roots: tuple[str, ...]
    alone: bool


PythonSessions = Sessions[SessionKey, PythonTestRun, PythonProcessReport]


def make_sessions(sandbox: Sandbox) -> PythonSessions:
    """Return the sessions of one thread, four at most; none is open yet."""
    return Sessions(sandbox, _MOST_SESSIONS)


class PythonSessionOrders:
    """Makes the job and the orders of a session. Implements `core.sessions.SessionOrders`."""

    def __init__(self, key: SessionKey, setup: PythonSetup) -> None:
        self._key, self._setup = key, setup
        self._script = make_layout_script(setup, key.folder, key.roots)
        self._tree: Path | None = None

    def make_session_job(self) -> Job:
        """Return the job that starts a session."""
        key = self._key
        return make_session_job(
            self._setup, key.folder, key.roots, alone=key.alone, seconds=SESSION_SECONDS
        )

    def make_session_head(self) -> bytes:
        """Return the first line of a session's standard input: command, packages and options.

        The line is the same for all runs of the session.
        """
        head = {'command': make_worker_command(), 'packages': PACKAGES, 'options': BLOCKED}
        return json.dumps(head).encode() + b'\n'

    def make_session_order(
        self, run: PythonTestRun, nonce: str, key: str, mark: str
    ) -> tuple[bytes, ...]:
        """Return the line that orders a run, and its tree's archive; b'' if the session has it.

        nonce, key, mark  as in `inside/session.py`
        """
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
            'stand_ins': run.list_stand_in_paths(),
        }
        return json.dumps(order).encode() + b'\n', archive or b''
