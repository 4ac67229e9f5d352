"""Start processes from one thread that lives as long as coevo.

"Die with parent" (PR_SET_PDEATHSIG) refers to the thread that forked, not to the process: a sandbox
that a worker thread started would be killed as soon as that thread ends.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

_threads: list[ThreadPoolExecutor] = []


def _renew_executor() -> None:
    _threads[:] = [ThreadPoolExecutor(max_workers=1, thread_name_prefix='coevo-spawner')]


_renew_executor()
# A forked process inherits the executor object but not its thread.
os.register_at_fork(after_in_child=_renew_executor)

Popen = subprocess.Popen[bytes]


def spawn(start: Callable[[], Popen]) -> Popen:
    """Call `start` in the spawning thread; return its result or raise its error."""
    return _threads[0].submit(start).result()
