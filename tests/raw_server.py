"""A server on loopback that says what no web server would: bytes as they are, once or for ever."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

STEP = 0.05
"""Seconds between two drips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What each connection is told.

    to_head  who asks by HEAD, and no more; the same as others where it is empty
    first    at once
    drip     then again and again, each after `STEP`
    forever  then again and again, without a pause
    """

    to_head: bytes = b''
    first: bytes = b''
    drip: bytes = b''
    forever: bytes = b''


@contextmanager
def saying(said: Said) -> Iterator[str]:
    """The URL of a file there."""
    over = threading.Event()
    with socket.create_server(('127.0.0.1', 0)) as listening:
        listening.settimeout(0.02)
        thread = threading.Thread(target=_accept, args=(listening, said, over))
        thread.start()
        try:
            yield f'http://127.0.0.1:{listening.getsockname()[1]}/file'
        finally:
            over.set()
            thread.join()


def _accept(listening: socket.socket, said: Said, over: threading.Event) -> None:
    threads = []
    while not over.is_set():
        with suppress(TimeoutError):
            connection, _ = listening.accept()
            connection.settimeout(0.2)
            threads.append(threading.Thread(target=_answer, args=(connection, said, over)))
            threads[-1].start()
    for one in threads:
        one.join()


def _answer(connection: socket.socket, said: Said, over: threading.Event) -> None:
    with connection, suppress(OSError):
        if connection.recv(1 << 16).startswith(b'HEAD ') and said.to_head:
            connection.sendall(said.to_head)
            return
        connection.sendall(said.first)
        while said.drip and not over.wait(STEP):
            connection.sendall(said.drip)
        while said.forever and not over.is_set():
            connection.sendall(said.forever)
