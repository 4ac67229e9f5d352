"""Leads the sandbox's loopback on to the Unix socket of the artifact proxy."""

from __future__ import annotations

import contextlib
import socket
import threading

_BLOCK = 1 << 16


def start_relay(path: str) -> socket.socket:
    """Listen on a free port until the socket is shut down."""
    server = socket.create_server(('127.0.0.1', 0), backlog=64)
    threading.Thread(target=_accept, args=(server, path), daemon=True).start()
    return server


def _accept(server: socket.socket, path: str) -> None:
    while True:
        try:
            near, _ = server.accept()
        except OSError:
            return  # shut down
        far = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        far.connect(path)
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=_pump, args=(one, other), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while block := source.recv(_BLOCK):
            sink.sendall(block)
    for one in (source, sink):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
