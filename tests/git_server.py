"""A Git server on loopback: `git http-backend` over the repositories of a folder, with faults on order.

    with serving(GitBackend(folder)) as url:  # folder/octo/cat.git is at f'{url}/octo/cat'
        ...

Another HTTP server mounts it under a prefix: its handler calls `backend.answer(self)`, which says
whether the request was for Git.
"""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from tests.repos import CLEAN

_CHUNK = 1 << 16
# Like GitHub: commits that no ref leads to can be asked for, and blobs left out.
_SETTINGS = {
    'GIT_CONFIG_COUNT': '2',
    'GIT_CONFIG_KEY_0': 'uploadpack.allowAnySHA1InWant',
    'GIT_CONFIG_VALUE_0': 'true',
    'GIT_CONFIG_KEY_1': 'uploadpack.allowFilter',
    'GIT_CONFIG_VALUE_1': 'true',
}


@dataclass(slots=True, kw_only=True)
class Fault:
    """What becomes of requests instead of an answer.

    path    a pattern that is searched for in the request's method and path, such as `POST .*cat`;
            with protocol 2, a fetch is a GET and two POSTs: the refs, then the objects
    status  answer with this status and no more
    after   else break the connection off when so many bytes were sent, over all such requests
    hang    do not break it off then, but send nothing more until the server ends
    skip    requests that pass before the first one that is hit
    times   requests that are hit; None for all
    """

    path: str = ''
    status: int | None = None
    after: int = 0
    hang: bool = False
    skip: int = 0
    times: int | None = 1


@dataclass(slots=True)
class GitBackend:
    """Answers for bare repositories (or work trees) below a folder, also without `.git`.

    requests  method and path of what was asked for, in order
    sent      bytes of bodies sent so far
    """

    folder: Path
    prefix: str = ''
    faults: list[Fault] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    sent: int = 0
    _state: threading.Lock = field(default_factory=threading.Lock)
    _closing: threading.Event = field(default_factory=threading.Event)

    def answer(self, handler: BaseHTTPRequestHandler) -> bool:
        """Answer a request if it is for a path below the prefix; whether it was."""
        if not handler.path.startswith(f'{self.prefix}/'):
            return False
        fault = self._fault(f'{handler.command} {handler.path}')
        if fault and fault.status:
            self._spend(fault)
            _refuse(handler, fault.status)
            return True
        with subprocess.Popen(
            ['git', 'http-backend'],
            env=self._environment(handler),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as backend:
            feeding = threading.Thread(target=_feed, args=(handler, backend.stdin))
            feeding.start()
            try:
                assert backend.stdout
                self._relay(handler, backend.stdout, fault)
            finally:
                backend.kill()
                feeding.join()
        return True

    def close(self) -> None:
        """Let go of all who were left hanging."""
        self._closing.set()

    def _fault(self, request: str) -> Fault | None:
        with self._state:
            self.requests.append(request)
            for fault in self.faults:
                if fault.times == 0 or not re.search(fault.path, request):
                    continue
                if fault.skip:
                    fault.skip -= 1
                    continue
                return fault
        return None

    def _spend(self, fault: Fault) -> None:
        with self._state:
            fault.times = None if fault.times is None else fault.times - 1

    def _environment(self, handler: BaseHTTPRequestHandler) -> dict[str, str]:
        url = urlsplit(handler.path.removeprefix(self.prefix))
        headers = handler.headers
        return {
            **CLEAN,
            **_SETTINGS,
            'GIT_PROJECT_ROOT': str(self.folder),
            'GIT_HTTP_EXPORT_ALL': '1',
            'GIT_PROTOCOL': headers.get('Git-Protocol', ''),
            'REQUEST_METHOD': handler.command,
            'PATH_INFO': unquote(url.path),
            'QUERY_STRING': url.query,
            'REMOTE_ADDR': '127.0.0.1',
            'CONTENT_TYPE': headers.get('Content-Type', ''),
            'CONTENT_LENGTH': headers.get('Content-Length', ''),
            'HTTP_CONTENT_ENCODING': headers.get('Content-Encoding', ''),
        }

    def _relay(
        self, handler: BaseHTTPRequestHandler, output: IO[bytes], fault: Fault | None
    ) -> None:
        """Pass on what the backend answers, in chunks, as far as the fault lets it."""
        _pass_head(handler, output)
        while content := output.read1(_CHUNK):  # type: ignore[attr-defined]
            part = content if fault is None else content[: fault.after]
            handler.wfile.write(b'%x\r\n%s\r\n' % (len(part), part) if part else b'')
            with self._state:
                self.sent += len(part)
            if fault:
                fault.after -= len(part)
            if part != content:
                break
        else:
            handler.wfile.write(b'0\r\n\r\n')
            return
        assert fault
        self._spend(fault)
        handler.wfile.flush()
        if fault.hang:
            self._closing.wait()
        handler.close_connection = True


@contextmanager
def serving(backend: GitBackend) -> Iterator[str]:
    """A server for Git alone; its URL, with the backend's prefix."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def do_GET(self) -> None:
            try:
                if not backend.answer(self):
                    _refuse(self, 404)
            except (BrokenPipeError, ConnectionResetError):  # the client was killed, or went
                self.close_connection = True

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    # A client that was killed may have left a connection open on which nothing will come.
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f'http://127.0.0.1:{server.server_port}{backend.prefix}'
    finally:
        backend.close()
        server.shutdown()
        thread.join()
        server.server_close()


def _refuse(handler: BaseHTTPRequestHandler, status: int) -> None:
    """The body of the request may be unread, so nothing else can come on this connection."""
    handler.close_connection = True
    handler.send_response(status)
    handler.send_header('Content-Length', '0')
    handler.send_header('Connection', 'close')
    handler.end_headers()


def _pass_head(handler: BaseHTTPRequestHandler, output: IO[bytes]) -> None:
    """Read the CGI head and answer with its status and headers, the body to come in chunks."""
    status, headers = 200, []
    while line := output.readline().strip():
        name, _, value = line.decode('latin-1').partition(':')
        if name == 'Status':
            status = int(value.split()[0])
        else:
            headers.append((name, value.strip()))
    handler.send_response(status)
    for name, value in headers:
        handler.send_header(name, value)
    handler.send_header('Transfer-Encoding', 'chunked')
    handler.end_headers()


def _feed(handler: BaseHTTPRequestHandler, stdin: IO[bytes]) -> None:
    """Pass the request's body on as it comes; it may still be compressed, which Git undoes."""
    try:
        with stdin:
            for part in _body(handler):
                stdin.write(part)
    except (BrokenPipeError, ConnectionResetError):  # the backend has heard enough
        handler.close_connection = True


def _body(handler: BaseHTTPRequestHandler) -> Iterator[bytes]:
    if handler.headers.get('Transfer-Encoding', '').lower() != 'chunked':
        yield from _exactly(handler, int(handler.headers.get('Content-Length') or 0))
        return
    while size := int(handler.rfile.readline().partition(b';')[0], 16):
        yield from _exactly(handler, size)
        handler.rfile.readline()
    handler.rfile.readline()


def _exactly(handler: BaseHTTPRequestHandler, left: int) -> Iterator[bytes]:
    while left and (part := handler.rfile.read(min(left, _CHUNK))):
        left -= len(part)
        yield part
