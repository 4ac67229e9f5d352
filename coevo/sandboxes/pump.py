"""Forward connections from a socket in a sandbox's network to a Unix socket of this machine."""

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
def forward_connections(listening: socket.socket, target: Path) -> Iterator[None]:
    """Forward connections from `listening` to `target` until the end of the block.

    No new connection is accepted afterwards; open ones stay until one of their peers closes them.
    """
    listening.listen(_BACKLOG)
    threading.Thread(target=_accept_connections, args=(listening, target), daemon=True).start()
    try:
        yield
    finally:
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)  # ends the blocking accept()
        listening.close()


def _accept_connections(listening: socket.socket, target: Path) -> None:
    """Forward each connection in threads of its own, until the listening socket is closed.

    A connection is closed at once if `target` cannot be reached.
    """
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
            continue
        for ends in ((near, far), (far, near)):
            threading.Thread(target=_copy_stream, args=ends, daemon=True).start()


def _copy_stream(source: socket.socket, sink: socket.socket) -> None:
    """Copy from `source` to `sink` until either ends, then close both sockets in both directions.

    HTTP clients do not close a single direction.
    """
    with suppress(OSError):
        while block := source.recv(_BLOCK):
            sink.sendall(block)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


# The address of a Unix socket holds at most 107 bytes (unix(7)), but paths may be longer. Linux
# shows an open folder as /proc/self/fd/N, so a short address can name a file in it.


@contextmanager
def shorten_address(path: Path) -> Iterator[str]:
    """Yield a short address of the socket at `path`, to bind or connect it within the block."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f'/proc/self/fd/{folder}/{path.name}'
    finally:
        os.close(folder)
