"""Runs of one test binary in one sandbox, each a fresh process in files as they were laid out (`inside/session.go`).

What a session cannot tell is asked of a process in a sandbox of its own, which decides: a run that did not go to its
end, or was killed by somebody.
"""

from __future__ import annotations

import json
import secrets
from functools import partial

from coevo.languages.golang.channel import GoProcessReport, GoTestReport, read_events
from coevo.languages.golang.runner import GoCellLayout, GoRunResult, GoTestRun, is_killed
from coevo.languages.open_sessions import OpenSessions
from coevo.languages.test_processes import (
    describe_ending,
    dismiss_process,
    listen_until_over,
    read_noise_between,
    send_order_parts,
)
from coevo.sandboxes.names import BUBBLEWRAP
from coevo.sandboxes.sandbox import Process, Sandbox

# A pair has four cells, each in few packages; one that is open holds a tree in memory.
_MOST_OPEN = 8
_SECONDS = 30 * 86400.0


class GoSessions:
    """Of one thread, for one repository."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._open = OpenSessions[GoCellLayout, GoTestRun, GoRunResult](_MOST_OPEN)

    def run_in_session(self, run: GoTestRun) -> tuple[GoRunResult | None, float]:
        """None where it has to be asked of a sandbox of its own; the CPU seconds that were spent."""
        if self._sandbox.name != BUBBLEWRAP:
            return None, 0.0
        return self._open.run_in_session(run.ground, run, partial(self._start_session, run.ground))

    def close(self) -> None:
        self._open.close()

    def _start_session(self, ground: GoCellLayout) -> _GoSession:
        return _GoSession(self._sandbox.start(ground.make_job('session', _SECONDS)))


class _GoSession:
    """Fulfils `coevo.languages.open_sessions.ReusableSession`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._used = 0.0
        self.started = self.goes_on = False

    def run(self, run: GoTestRun) -> tuple[GoRunResult | None, float]:
        """None if it did not go to its end; the CPU seconds since the last one."""
        nonce, key, mark = (secrets.token_hex(16) for _ in range(3))
        heard = GoProcessReport(tests={name: GoTestReport() for name in run.limits}, key=key)
        self._process.resume_watch()
        order = {**run.order, 'Nonce': nonce, 'Key': key, 'Mark': mark}
        send_order_parts(self._process, json.dumps(order).encode() + b'\n')
        stream = read_events(self._process.stdout, nonce)
        over = listen_until_over(self._process, stream, heard, run.bounds, self._used)
        self.started, self.goes_on = heard.started, heard.again
        status = heard.status if over and heard.status else describe_ending(self._process)
        spent = self._process.get_cpu_seconds() - self._used
        self._used += spent
        if heard.late is None and (not over or is_killed(heard, status)):
            return None, spent
        noise = read_noise_between(self._process, mark)
        return GoRunResult(heard=heard, status=status, cpu_seconds=spent, noise=noise), spent

    def pause(self) -> None:
        self._process.pause_watch()

    def close(self) -> None:
        dismiss_process(self._process)
