"""Runs of one test binary in one sandbox, each a fresh process in files as they were laid out (`inside/session.go`).

What a session cannot tell is asked of a process in a sandbox of its own, which decides: a run that did not go to its
end, or was killed by somebody.
"""

from __future__ import annotations

import json
import secrets
from functools import partial

from coevo.languages.golang.channel import Heard
from coevo.languages.golang.channel import HeardTest
from coevo.languages.golang.channel import events
from coevo.languages.golang.runner import Done
from coevo.languages.golang.runner import Ground
from coevo.languages.golang.runner import TestRun
from coevo.languages.golang.runner import is_killed
from coevo.languages.open_sessions import OpenSessions
from coevo.languages.test_processes import dismiss
from coevo.languages.test_processes import ending
from coevo.languages.test_processes import listen
from coevo.languages.test_processes import noise_between
from coevo.languages.test_processes import tell
from coevo.sandboxes.names import BUBBLEWRAP
from coevo.sandboxes.sandbox import Process
from coevo.sandboxes.sandbox import Sandbox

# A pair has four cells, each in few packages; one that is open holds a tree in memory.
_MOST_OPEN = 8
_SECONDS = 30 * 86400.0


class Sessions:
    """Of one thread, for one repository."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._open = OpenSessions[Ground, TestRun, Done](_MOST_OPEN)

    def run(self, run: TestRun) -> tuple[Done | None, float]:
        """None where it has to be asked of a sandbox of its own; the CPU seconds that were spent."""
        if self._sandbox.name != BUBBLEWRAP:
            return None, 0.0
        return self._open.run(run.ground, run, partial(self._started, run.ground))

    def close(self) -> None:
        self._open.close()

    def _started(self, ground: Ground) -> _Session:
        return _Session(self._sandbox.start(ground.job('session', _SECONDS)))


class _Session:
    """Fulfils `coevo.languages.open_sessions.Session`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._used = 0.0
        self.started = self.goes_on = False

    def run(self, run: TestRun) -> tuple[Done | None, float]:
        """None if it did not go to its end; the CPU seconds since the last one."""
        nonce, key, mark = (secrets.token_hex(16) for _ in range(3))
        heard = Heard(tests={name: HeardTest() for name in run.limits}, key=key)
        self._process.go_on()
        order = {**run.order, 'Nonce': nonce, 'Key': key, 'Mark': mark}
        tell(self._process, json.dumps(order).encode() + b'\n')
        told = events(self._process.stdout, nonce)
        over = listen(self._process, told, heard, run.bounds, self._used)
        self.started, self.goes_on = heard.started, heard.again
        status = heard.status if over and heard.status else ending(self._process)
        spent = self._process.cpu_seconds() - self._used
        self._used += spent
        if heard.late is None and (not over or is_killed(heard, status)):
            return None, spent
        noise = noise_between(self._process, mark)
        return Done(heard=heard, status=status, cpu_seconds=spent, noise=noise), spent

    def rest(self) -> None:
        self._process.rest()

    def close(self) -> None:
        dismiss(self._process)
