"""Test processes whose clock starts at a given date, by libfaketime; time runs on from there.

What a process measures time with, and what it waits by, stays real: only dates are other. So do the
dates of files. An agent in a JVM, or patches of a module of Python's, were no choice: the clock is read
in runtimes and libraries, too, and who counts on an unchanged class file would see another one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import ceil

from coevo.sandboxes.libfaketime import find_libraries
from coevo.sandboxes.sandbox import Job, Sandbox

# How libfaketime shall treat time-outs of a monotonic clock: which is right depends on its version
# and on the C library. Under the wrong one `Object.wait` returns at once, or never (measured, and
# https://github.com/wolfcw/libfaketime/issues/425 and 460).
_MONOTONIC_FIXES = ('0', '1')

# What a probe waits for, how early a wait may end by rounding, and what a busy
# machine may add: an answer counts for the whole run.
_WAIT_MILLIS, _EARLY_MILLIS, _LATE_MILLIS = 200, 5, 240_000

_PROBED_DATE = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)
_OUTPUT_BYTES = 200


class ProcessClock:
    """Sets the clock of one runtime's processes in a sandbox, once a first one has shown that it can.

    Safe from several threads.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        probe: Callable[[Mapping[str, str]], Job],
        preload: Sequence[str] = (),
    ) -> None:
        """
        probe    makes a job with some environment variables, which prints the milliseconds since 1970
                 by its clock, then of several waits of 200 how many each took, and exits with 0
        preload  libraries that come before libfaketime, as the sandbox sees them
        """
        self._sandbox, self._probe, self._preload = sandbox, probe, preload
        self._lock = threading.Lock()
        self._settings: Mapping[str, str] | None = None
        self._tried = False

    def make_environment(self, start: datetime) -> Mapping[str, str] | None:
        """The variables of a process whose clock starts at a date; None where it cannot be set."""
        with self._lock:
            if not self._tried:
                self._settings = next(self._find_working_settings(), None)
                self._tried = True
        return None if self._settings is None else _set_start(start, self._settings)

    def _find_working_settings(self) -> Iterator[Mapping[str, str]]:
        for library in find_libraries():
            for fix in _MONOTONIC_FIXES:
                settings = {
                    'LD_PRELOAD': ':'.join((*self._preload, str(library))),
                    'FAKETIME_DONT_FAKE_MONOTONIC': '1',
                    'DONT_FAKE_MONOTONIC': '1',  # its name up to 0.9.7
                    'FAKETIME_FORCE_MONOTONIC_FIX': fix,
                    'NO_FAKE_STAT': '1',  # runtimes ask in some ways of which it knows not all
                }
                if self._is_reliable(settings):
                    yield settings

    def _is_reliable(self, settings: Mapping[str, str]) -> bool:
        with self._sandbox.start(self._probe(_set_start(_PROBED_DATE, settings))) as process:
            output = process.stdout.read(_OUTPUT_BYTES)
            while more := process.stdout.read(_OUTPUT_BYTES - len(output)):
                output += more
            if process.wait() != 0:
                return False
        clock, *waits = map(int, output.split())
        late = clock - _PROBED_DATE.timestamp() * 1000
        return abs(late) < _LATE_MILLIS and all(
            -_EARLY_MILLIS <= took - _WAIT_MILLIS < _LATE_MILLIS for took in waits
        )


def _set_start(start: datetime, settings: Mapping[str, str]) -> Mapping[str, str]:
    # never before the date: less than a second after it
    seconds = ceil((start - datetime.now(UTC)).total_seconds())
    return {**settings, 'FAKETIME': f'{seconds:+d}'}
