"""Run a command of coevo and say what it used: CPU seconds of its process and of every sandbox.

    python -m benchmarks.metered OUT.json ARCHIVES mine ...

ARCHIVES is the folder for class archives, so that each run can have to make its own.
The kernel does not add up processes that are killed, as sessions are in the end: hence a meter at
each sandboxed process instead of one question at last.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
from pathlib import Path
from unittest import mock

from coevo.cli import main as coevo_main
from coevo.languages.java_maven import yard
from coevo.sandboxes.process import Process

_guard = threading.Lock()
_sandboxed: list[float] = []


def _meter() -> None:
    reap = Process._reap

    def metered(process: Process) -> None:
        process._sample()
        reap(process)
        with _guard:
            _sandboxed.append(process._cpu_seconds)

    Process._reap = metered  # type: ignore[assignment]  # nothing public tells of all


def main() -> None:
    out, archives = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
    _meter()
    try:
        with mock.patch.object(yard, 'cache_folder', return_value=archives):
            status = coevo_main()
    finally:
        own = resource.getrusage(resource.RUSAGE_SELF)
        used = {'own': own.ru_utime + own.ru_stime, 'sandboxed': sum(_sandboxed)}
        out.write_text(json.dumps({**used, 'processes': len(_sandboxed)}))
    sys.exit(status)


if __name__ == '__main__':
    main()
