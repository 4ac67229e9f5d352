"""A web server of coevo on a sandbox's loopback, the only network of a job that downloads, and its
connections.

The job may only send GET and HEAD. A function of coevo checks and answers each requested path. The
job chooses no host and no method, and none of its headers is sent on.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any

from coevo.model.errors import Transient
from coevo.sandboxes.process import Process

# A web server of coevo on a sandbox's loopback: the only network of a job that downloads.

# The most threads that serve jobs at once; further connections wait in the socket's queue.

CONNECTIONS = 64


class BoundedThreads(ThreadingMixIn):
    """A mix-in that serves each request in a thread, `CONNECTIONS` at most.

    It comes before the server class in the list of bases, as `ThreadingMixIn` does.
    """

    daemon_threads = True

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__(*arguments, **options)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Wait for a free thread, then serve the request in it."""
        self._free.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve the request and free the thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()


_IDLE_SECONDS = 60.0
_LONGEST_PATH = 2048
_MOST_TROUBLE = 20

# The status for a failure of coevo itself: a client must not take it for "not found".
_BAD_GATEWAY = 502


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyAnswer:
    """The response to a request.

    body     bytes, or a file of the host whose content is sent
    headers  headers to send; they may override Content-Length
    """

    status: int = 200
    body: bytes | Path = b''
    headers: Mapping[str, str] = field(default_factory=dict)


NOT_THERE = ProxyAnswer(status=404)
REFUSED = ProxyAnswer(status=403)

Answering = Callable[[str, Message], ProxyAnswer]
"""Takes a request's target, such as `/simple/six/?x=1`, and its headers; returns the response.
Raises Transient for a failure of coevo itself."""


@dataclass(slots=True, kw_only=True)
class RunningProxy:
    """A proxy that serves a job.

    url      its address in the sandbox, without a slash at its end
    trouble  why requests could not be answered, the first 20 reasons. If there are any, the job's
             result must not be taken for a verdict
    bug      the first unexpected error while answering; the caller must raise it
    """

    url: str
    trouble: list[str] = field(default_factory=list)
    bug: Exception | None = None

    def raise_trouble_if_any(self) -> None:
        """Raise what kept requests from being answered: an unexpected error first, else Transient.

        Do nothing if all requests were answered.
        """
        if self.bug is not None:
            raise self.bug
        if self.trouble:
            raise Transient(self.trouble[0])


@contextmanager
def serve_job(
    process: Process,
    answer: Answering,
    announce: Answering | None = None,
    *,
    ends_at_trouble: bool = False,
) -> Iterator[RunningProxy]:
    """Serve a job until the end of the block; the job must be waiting for the proxy's address.

    answer           answers GET requests
    announce         answers HEAD requests where that is less work than GET; the headers of its
                     response may give Content-Length. None: `answer` is used
    ends_at_trouble  whether to kill the job when a request cannot be answered, since the rest of
                     its work would be wasted

    Raises: Transient if the job's network cannot be entered.
    """
    listening = process.listen()
    served = RunningProxy(url=f'http://127.0.0.1:{listening.getsockname()[1]}')
    server = _ProxyServer(
        served, answer, announce or answer, process.kill if ends_at_trouble else _do_nothing
    )
    server.socket.close()
    server.socket = listening
    listening.listen(CONNECTIONS)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()


def _do_nothing() -> None:
    return


class _ProxyServer(BoundedThreads, HTTPServer):
    block_on_close = False

    def __init__(
        self,
        served: RunningProxy,
        answer: Answering,
        announce: Answering,
        end: Callable[[], None],
    ) -> None:
        self.served, self.answer, self.announce, self.end = served, answer, announce, end
        super().__init__(('127.0.0.1', 0), _ProxyHandler, bind_and_activate=False)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; keep the first other error in `RunningProxy.bug`."""
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and not isinstance(error, (ConnectionError, TimeoutError)):
            self.served.bug = self.served.bug or error


class _ProxyHandler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server_version = 'coevo'
    sys_version = ''
    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = (
        True  # head and body are two writes: a client would wait 40 ms for the second
    )
    server: _ProxyServer

    def do_GET(self) -> None:
        """Answer a GET or HEAD request.

        The status is 403 for a path that is too long or has no leading slash, and 502 if coevo
        fails with Transient; the reason is then added to `RunningProxy.trouble`.
        """
        if len(self.path) > _LONGEST_PATH or not self.path.startswith('/'):
            return self._send_answer(REFUSED)
        respond = self.server.answer if self.command == 'GET' else self.server.announce
        try:
            return self._send_answer(respond(self.path, self.headers))
        except Transient as error:
            if len(self.server.served.trouble) < _MOST_TROUBLE:
                self.server.served.trouble.append(str(error))
            self.server.end()
            return self._send_answer(ProxyAnswer(status=_BAD_GATEWAY))

    do_HEAD = do_GET

    def _send_answer(self, answer: ProxyAnswer) -> None:
        if isinstance(answer.body, Path):
            with answer.body.open('rb') as stream:
                self._send_head(answer, answer.body.stat().st_size)
                if self.command == 'GET':
                    shutil.copyfileobj(stream, self.wfile)
            return
        self._send_head(answer, len(answer.body))
        if self.command == 'GET':
            self.wfile.write(answer.body)

    def _send_head(self, answer: ProxyAnswer, size: int) -> None:
        self.send_response(answer.status)
        for name, text in {'Content-Length': str(size), **answer.headers}.items():
            self.send_header(name, text)
        self.end_headers()

    def address_string(self) -> str:
        """Return a fixed name instead of looking the client's address up."""
        return 'sandbox'

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: a job may request hundreds of files."""


# Forward connections from a socket in a sandbox's network to a Unix socket of this machine.

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
