"""Threads of a server that jobs talk to: so many at once, and further connections wait in the socket's queue."""

from __future__ import annotations

import threading
from socketserver import ThreadingMixIn
from typing import Any

CONNECTIONS = 64


class BoundedThreads(ThreadingMixIn):
    """Stands before a server's class, as `ThreadingMixIn` does."""

    daemon_threads = True

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__(*arguments, **options)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._free.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()
