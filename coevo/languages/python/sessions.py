"""Runs of one environment in one sandbox, each a process of its own that a zygote forks (`inside/session.py`).

Who has imported pytest once need not do so for each run. What a session cannot tell is asked of a fresh process in a
sandbox of its own, which decides: a run that did not go to its end, a tree that hides what pytest
imports, an environment that cannot be forked.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from coevo.languages.open_sessions import OpenSessions
from coevo.languages.python.events import PythonProcessReport, PythonTargetReport, read_events
from coevo.languages.python.launch import (
    PythonSetup,
    make_layout_script,
    make_session_job,
    make_worker_command,
)
from coevo.languages.python.options import BLOCKED
from coevo.languages.python.places import PACKAGES, TREE
from coevo.languages.python.runner import PythonRunResult, make_bounds
from coevo.languages.test_processes import (
    describe_ending,
    dismiss_process,
    listen_until_over,
    read_noise_between,
    send_order_parts,
)
from coevo.sandboxes.job import HOME
from coevo.sandboxes.names import BUBBLEWRAP
from coevo.sandboxes.sandbox import Process, Sandbox

# Each holds a process that has imported pytest; a pair needs one for each hash seed.
_MOST_OPEN = 4
_SECONDS = 30 * 86400.0
_CPU_MARGIN_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKey:
    """roots, folder  as `launch.job` has them"""

    site: Path
    interpreter: str
    folder: str
    roots: tuple[str, ...]
    alone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonSessionRun:
    """A request, and the archive of the tree that it is run in; None where it needs none.

    limits       CPU seconds for each target
    cpu_seconds  for all of them
    """

    request: Mapping[str, Any]
    tree: Path | None
    limits: Sequence[float]
    cpu_seconds: float


class PythonSessions:
    """Of one thread, for one repository."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._open = OpenSessions[SessionKey, PythonSessionRun, PythonRunResult](_MOST_OPEN)
        self._refused: set[SessionKey] = set()

    def run(
        self, key: SessionKey, setup: PythonSetup, run: PythonSessionRun
    ) -> tuple[PythonRunResult | None, float]:
        """None where it has to be asked of a process of its own; the CPU seconds that were spent."""
        if key in self._refused or self._sandbox.name != BUBBLEWRAP:
            return None, 0.0
        return self._open.run_in_session(key, run, partial(self._start_session, key, setup))

    def close(self) -> None:
        self._open.close()

    def _start_session(self, key: SessionKey, setup: PythonSetup) -> _PythonSession:
        job = make_session_job(setup, key.folder, key.roots, alone=key.alone, seconds=_SECONDS)
        return _PythonSession(self._sandbox.start(job), key, setup, partial(self._refused.add, key))


class _PythonSession:
    """Fulfils `coevo.languages.open_sessions.ReusableSession`.

    refuse  what is called when it could never fork
    """

    def __init__(
        self, process: Process, key: SessionKey, setup: PythonSetup, refuse: Callable[[], None]
    ) -> None:
        self._process, self._key, self._refuse = process, key, refuse
        self._script = make_layout_script(setup, key.folder, key.roots)
        self._tree: Path | None = None
        self._used = 0.0
        self.started = self.goes_on = False
        head = {'command': make_worker_command(), 'packages': PACKAGES, 'options': BLOCKED}
        send_order_parts(process, json.dumps(head).encode() + b'\n')

    def run(self, run: PythonSessionRun) -> tuple[PythonRunResult | None, float]:
        """None if it did not go to its end; the CPU seconds since the last one."""
        nonce, key, mark = (secrets.token_hex(16) for _ in range(3))
        heard = PythonProcessReport(targets=[PythonTargetReport() for _ in run.limits], key=key)
        self._process.resume_watch()
        send_order_parts(self._process, *self._make_order(run, nonce, key, mark))
        event_stream = read_events(self._process.stdout, nonce)
        limits = make_bounds(run.limits, run.cpu_seconds)
        over = listen_until_over(self._process, event_stream, heard, limits, self._used)
        refuses = heard.refused == 'zygote'
        if refuses and not self.started:  # from its first run on
            self._refuse()
        self.started, self.goes_on = heard.started, heard.again and not refuses
        status = heard.status if over else describe_ending(self._process)
        spent = self._process.get_cpu_seconds() - self._used
        self._used += spent
        if heard.refused or not heard.started:
            return None, spent
        if not _is_complete(heard, status) and heard.late is None:
            return None, spent
        noise = read_noise_between(self._process, mark)
        return PythonRunResult(
            heard=heard, status=status or '', cpu_seconds=spent, noise=noise
        ), spent

    def pause(self) -> None:
        self._process.pause_watch()

    def close(self) -> None:
        dismiss_process(self._process)

    def _make_order(
        self, run: PythonSessionRun, nonce: str, key: str, mark: str
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
            'cpu_seconds': math.ceil(run.cpu_seconds) + _CPU_MARGIN_SECONDS,
            'folder': f'{TREE}/{self._key.folder}' if run.tree else HOME,
            'roots': [f'{TREE}/{root}' for root in self._key.roots] if run.tree else [],
            'archive': None if archive is None else len(archive),
            'layout': self._script,
        }
        return json.dumps(order).encode() + b'\n', archive or b''


def _is_complete(heard: PythonProcessReport, status: str | None) -> bool:
    ended = all(target.ended for target in heard.targets)
    return status == 'exit:0' and heard.loaded and ended
