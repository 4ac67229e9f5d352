"""A socket that listens inside a sandbox's network and belongs to a process outside of it.

A child enters the network name space, opens the socket there, hands it over and ends: nothing of
ours stays where a job could find it, and no port of the host is open.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from coevo.model.errors import Transient

# Prepared as text, since it runs without coevo: setns is not in Python before 3.12, and a process
# with threads may not enter a user name space.
_ENTER = """
import array, ctypes, errno, os, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
for descriptor in map(int, sys.argv[2:]):
    if libc.setns(descriptor, 0):
        sys.exit(os.strerror(ctypes.get_errno()))
server, deadline = socket.socket(), time.monotonic() + 10
while True:
    try:
        server.bind(('127.0.0.1', 0))
        break
    except OSError as error:
        if error.errno != errno.EADDRNOTAVAIL or time.monotonic() > deadline:
            raise
        time.sleep(0.01)
server.listen(1)
socket.send_fds(socket.socket(fileno=int(sys.argv[1])), [b'x'], [server.fileno()])
"""


def listen_in_network(process: int | None) -> socket.socket:
    """A listening socket on the loopback of a process's network, of our own network for None."""
    if process is None:
        return socket.create_server(('127.0.0.1', 0), backlog=1)
    # Root is above the name space's owner; anyone else is its owner, once inside.
    kinds = ('net',) if os.geteuid() == 0 else ('user', 'net')
    ours, theirs = socket.socketpair()
    spaces: list[int] = []
    with ours, theirs:
        try:
            spaces += [os.open(f'/proc/{process}/ns/{kind}', os.O_RDONLY) for kind in kinds]
            numbers = (theirs.fileno(), *spaces)
            done = subprocess.run(
                [sys.executable, '-I', '-S', '-c', _ENTER, *map(str, numbers)],
                pass_fds=numbers,
                capture_output=True,
                text=True,
                check=False,
            )
            theirs.close()
            _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        except OSError as error:
            raise Transient(f"the sandbox's network cannot be entered: {error}") from error
        finally:
            for space in spaces:
                os.close(space)
        if not descriptors:
            raise Transient(f"the sandbox's network cannot be entered: {done.stderr.strip()}")
        return socket.socket(fileno=descriptors[0])
