"""Worker processes of a command: they end with its main process, and do not see interruptions."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import wait
from multiprocessing.synchronize import Event


def follow_main_process(is_stopped: Event | None = None) -> None:
    """Leave interruptions to the main process, and end this process when that one ends.

    A killed main process cannot ask for it.

    is_stopped  an event that ends this process at once, whatever it is doing; None waits for none
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_main_process, daemon=True).start()
    if is_stopped is not None:
        threading.Thread(target=_end_when_stopped, args=(is_stopped,), daemon=True).start()


def _end_with_main_process() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _end_when_stopped(is_stopped: Event) -> None:
    is_stopped.wait()
    os._exit(1)
