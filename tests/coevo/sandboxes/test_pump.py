"""Connections that are forwarded to a Unix socket."""

from __future__ import annotations

import socket
from pathlib import Path

from coevo.sandboxes.read_only_proxy import forward_connections


def test_a_refused_connection_is_closed_and_later_ones_are_forwarded(tmp_path: Path) -> None:
    target = tmp_path / 'target.socket'
    with socket.create_server(('127.0.0.1', 0)) as listening:
        address = listening.getsockname()
        with forward_connections(listening, target):
            with socket.create_connection(address, timeout=10) as refused:
                assert refused.recv(1) == b''
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(target))
                server.listen()
                with socket.create_connection(address, timeout=10) as client:
                    client.sendall(b'hello')
                    accepted, _ = server.accept()
                    with accepted:
                        assert accepted.recv(5) == b'hello'
