"""Leads connections to a socket in a sandbox's network on to a Unix socket of this machine."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_BLOCK = 1 << 16
_BACKLOG = 64


@contextmanager
def pump_connections(listening: socket.socket, target: Path) -> Iterator[None]:
    """Until the end of the block; connections that are open then are left to their peers."""
    listening.listen(_BACKLOG)
    threading.Thread(target=_accept_connections, args=(listening, target), daemon=True).start()
    try:
        yield
    finally:
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)  # wakes up who accepts
        listening.close()


def _accept_connections(listening: socket.socket, target: Path) -> None:
    while True:
        try:
            near, _ = listening.accept()
        except OSError:
            return
        far = socket.socket(socket.AF_UNIX)
        try:
            with shorten_address(target) as address:
                far.connect(address)
        except OSError:
            near.close()
            far.close()
            return
        for ends in ((near, far), (far, near)):
            threading.Thread(target=_copy_stream, args=ends, daemon=True).start()


def _copy_stream(source: socket.socket, sink: socket.socket) -> None:
    """Until one side ends, then both: HTTP clients do not close by halves."""
    with suppress(OSError):
        while block := source.recv(_BLOCK):
            sink.sendall(block)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


# Addresses of Unix sockets whose paths may be of any length: an address holds 107 bytes
# (unix(7)).
#
# Linux shows an open folder as /proc/self/fd/N, and what lies in it is named from there.


@contextmanager
def shorten_address(path: Path) -> Iterator[str]:
    """An address by which this process binds or connects the socket at `path`, within the block."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f'/proc/self/fd/{folder}/{path.name}'
    finally:
        os.close(folder)
