"""Runs of one test binary in one sandbox, each a fresh process in files as they were laid out (`inside/session.go`).

What a session cannot tell is asked of a process in a sandbox of its own, which decides: a run that did not go to its
end, or was killed by somebody.
"""

from __future__ import annotations

import json
import secrets
from contextlib import suppress

from coevo.languages.golang.channel import Heard
from coevo.languages.golang.channel import HeardTest
from coevo.languages.golang.channel import events
from coevo.languages.golang.runner import Done
from coevo.languages.golang.runner import Ground
from coevo.languages.golang.runner import TestRun
from coevo.languages.golang.runner import is_killed
from coevo.languages.test_processes import ending
from coevo.languages.test_processes import noise_between
from coevo.languages.test_processes import watching
from coevo.sandboxes.names import BUBBLEWRAP
from coevo.sandboxes.sandbox import Process
from coevo.sandboxes.sandbox import Sandbox

# A pair has four cells, each in few packages; one that is open holds a tree in memory.
_MOST_OPEN = 8
_SECONDS = 30 * 86400.0
_LEAVING_SECONDS = 2.0


class Sessions:
    """Of one thread, for one repository."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._open: dict[Ground, _Session] = {}

    def run(self, run: TestRun) -> tuple[Done | None, float]:
        """None where it has to be asked of a sandbox of its own; the CPU seconds that were spent."""
        if self._sandbox.name != BUBBLEWRAP:
            return None, 0.0
        spent = 0.0
        session = self._open.pop(run.ground, None)
        if session is not None:
            done, spent = session.run(run)
            if session.started:
                return self._kept(run.ground, session, done), spent
            session.close()
        session = self._new(run.ground)
        done, more = session.run(run)
        return self._kept(run.ground, session, done), spent + more

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def _new(self, ground: Ground) -> _Session:
        while len(self._open) >= _MOST_OPEN:
            self._open.pop(next(iter(self._open))).close()
        return _Session(self._sandbox.start(ground.job('session', _SECONDS)))

    def _kept(self, ground: Ground, session: _Session, done: Done | None) -> Done | None:
        if session.goes_on:
            session.rest()
            self._open[ground] = session  # used last
        else:
            session.close()
        return done


class _Session:
    """An open one.

    started  whether it took the last run on; goes_on: whether it may take another one
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._used = 0.0
        self.started = self.goes_on = False

    def run(self, run: TestRun) -> tuple[Done | None, float]:
        """None if it did not go to its end; the CPU seconds since the last one."""
        nonce, key, mark = (secrets.token_hex(16) for _ in range(3))
        heard = Heard(tests={name: HeardTest() for name in run.limits}, key=key)
        self._process.go_on()
        self._send({**run.order, 'Nonce': nonce, 'Key': key, 'Mark': mark})
        over = self._heard(heard, run, nonce)
        self.started, self.goes_on = heard.started, heard.again
        status = heard.status if over and heard.status else ending(self._process)
        spent = self._process.cpu_seconds() - self._used
        self._used += spent
        if heard.late is None and (not over or is_killed(heard, status)):
            return None, spent
        noise = noise_between(self._process, mark)
        return Done(heard=heard, status=status, cpu_seconds=spent, noise=noise), spent

    def rest(self) -> None:
        """Until the next run."""
        self._process.rest()

    def close(self) -> None:
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.ended_within(_LEAVING_SECONDS)  # of what is killed nobody knows all costs
        self._process.close()

    def _heard(self, heard: Heard, run: TestRun, nonce: str) -> bool:
        """Whether all was said; else the process has ended, or was killed."""
        with watching(self._process, heard, run.bounds(run.most), self._used):
            for event in events(self._process.stdout, nonce):
                heard.hear(event)
                if heard.over:
                    return True
        return False

    def _send(self, order: dict[str, object]) -> None:
        try:
            self._process.stdin.write(json.dumps(order).encode() + b'\n')
            self._process.stdin.flush()
        except BrokenPipeError:
            return  # it has ended, and says nothing to this
