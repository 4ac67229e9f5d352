"""Start processes from one thread that lives as long as coevo.

The kernel's "die with your parent" means the thread that forked: a sandbox that a worker thread
started itself would be killed as soon as that thread ends.
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
# A forked process has the executor but not its thread.
os.register_at_fork(after_in_child=_renew_executor)

Popen = subprocess.Popen[bytes]


def spawn(start: Callable[[], Popen]) -> Popen:
    """What `start` returns or raises, called in the one thread."""
    return _threads[0].submit(start).result()
