"""Run test processes with a clock that starts at a given date and then runs on, by libfaketime.

Only dates are changed. Monotonic clocks, waits and file times stay real. A Java agent or patches of
Python modules would not do: runtimes and native libraries read the clock, too, and code that checks
its own class files would see changed ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coevo.sandboxes.job import Job
    from coevo.sandboxes.sandbox import Sandbox

# Patterns of the paths at which distributions install it; every sandbox shows these folders.
PLACES = tuple(
    f'/usr/{folder}/libfaketime.so.1'
    for folder in ('lib/*/faketime', 'lib/faketime', 'lib64/faketime', 'lib/*', 'lib64')
)


def find_libraries() -> tuple[Path, ...]:
    """Return the paths of the installed copies of libfaketime, in the order of `PLACES`.

    There is one for each architecture. Empty if libfaketime is not installed.
    """
    paths = (path for pattern in PLACES for path in sorted(Path('/').glob(pattern.lstrip('/'))))
    return tuple(dict.fromkeys(paths))


# Values of libfaketime's setting for time-outs of a monotonic clock. Which one is right depends on
# the versions of libfaketime and the C library. With the wrong one, `Object.wait` returns at once
# or never (measured; https://github.com/wolfcw/libfaketime/issues/425 and 460).
_MONOTONIC_FIXES = ('0', '1')

# Milliseconds: how long each wait of the probe lasts, how much shorter it may be by rounding, and
# how much longer on a busy machine. The limit is generous: the result is used for the whole run.
_WAIT_MILLIS, _EARLY_MILLIS, _LATE_MILLIS = 200, 5, 240_000

_PROBED_DATE = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)
_OUTPUT_BYTES = 200


class ProcessClock:
    """Sets the clock of one runtime's processes in a sandbox; safe from several threads.

    Before its first use it runs a probe to find settings under which dates and waits are right.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        probe: Callable[[Mapping[str, str]], Job],
        preload: Sequence[str] = (),
    ) -> None:
        """Prepare a clock; the probe runs only when an environment is first asked for.

        probe    makes a job with the given environment variables. The job prints the milliseconds
                 since 1970 by its clock, then the measured lengths of several waits of 200 ms,
                 and exits with 0
        preload  libraries to load before libfaketime, as paths in the sandbox
        """
        self._sandbox, self._probe, self._preload = sandbox, probe, preload
        self._lock = threading.Lock()
        self._settings: Mapping[str, str] | None = None
        self._tried = False

    def make_environment(self, start: datetime) -> Mapping[str, str] | None:
        """Return the environment variables of a process whose clock starts at `start`.

        None if the probe found no working settings, such as without libfaketime.
        """
        with self._lock:
            if not self._tried:
                self._settings = next(self._find_working_settings(), None)
                self._tried = True
        return None if self._settings is None else _set_start(start, self._settings)

    def _find_working_settings(self) -> Iterator[Mapping[str, str]]:
        """Yield the settings of libfaketime under which the probe shows right dates and waits."""
        for library in find_libraries():
            for fix in _MONOTONIC_FIXES:
                settings = {
                    'LD_PRELOAD': ':'.join((*self._preload, str(library))),
                    'FAKETIME_DONT_FAKE_MONOTONIC': '1',
                    'DONT_FAKE_MONOTONIC': '1',  # its name up to 0.9.7
                    'FAKETIME_FORCE_MONOTONIC_FIX': fix,
                    'NO_FAKE_STAT': '1',  # it does not intercept all the calls that runtimes use
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
    # Rounded up, so that the clock starts less than a second after `start`, and never before it.
    seconds = ceil((start - datetime.now(UTC)).total_seconds())
    return {**settings, 'FAKETIME': f'{seconds:+d}'}
