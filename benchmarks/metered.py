"""Run a command of coevo and say what it used: CPU seconds of its process and of every sandbox.

    python -m benchmarks.metered OUT.json ARCHIVES mine ...

ARCHIVES is the folder for class archives, so that each run can have to make its own. What the builder's
costs, which is made once on a machine whatever is mined, is told apart (`once`).
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

from coevo.command.main import main as coevo_main
from coevo.languages.java.revisions import shared_builds
from coevo.sandboxes.process import Process

_guard = threading.Lock()
_sandboxed: list[float] = []
_once: list[float] = []
_of_the_machine: set[int] = set()


def _meter() -> None:
    start, reap = Process.__init__, Process._reap

    def started(process: Process, *arguments: object, **named: object) -> None:
        frame = sys._getframe(1)
        while (above := frame.f_back) is not None and frame.f_code.co_name != 'builder_job':
            frame = above
        if frame.f_code.co_name == 'builder_job':
            _of_the_machine.add(id(process))
        start(process, *arguments, **named)  # type: ignore[arg-type]

    def metered(process: Process) -> None:
        process._sample_usage()
        reap(process)
        with _guard:
            kept = _once if id(process) in _of_the_machine else _sandboxed
            kept.append(process._cpu_seconds)
            _of_the_machine.discard(id(process))

    Process.__init__ = started  # type: ignore[assignment]  # nothing public tells of all
    Process._reap = metered  # type: ignore[assignment]  # nothing public tells of all


def main() -> None:
    out, archives = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
    _meter()
    try:
        with mock.patch.object(shared_builds, 'find_cache_folder', return_value=archives):
            status = coevo_main()
    finally:
        own = resource.getrusage(resource.RUSAGE_SELF)
        used = {
            'own': own.ru_utime + own.ru_stime,
            'sandboxed': sum(_sandboxed),
            'once': sum(_once),
        }
        out.write_text(json.dumps({**used, 'processes': len(_sandboxed)}))
    sys.exit(status)


if __name__ == '__main__':
    main()
