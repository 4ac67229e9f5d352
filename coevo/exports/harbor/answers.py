"""A server on this machine that keeps the answers of a Python index, and gives them again.

coevo keeps the files of libraries in its tool cache, but asks for the pages of a Python index, which
name them, anew. A verifier has no network. So these are asked through this server: while the image
is built it passes each request on and keeps the answer, and later it answers by what it kept. What
it never saw gets status 503, which coevo takes as trouble, never as a verdict.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from coevo.model.errors import Transient
from coevo.storage.durable import load_checksummed_removing_damaged, write_checksummed
from coevo.storage.fetching import FetchAnswer, Fetcher

# The address is a part of what stored environments are known by: it is the same at each start.
PORT = 18_451

_MOST_BYTES, _SECONDS = 512 << 20, 900.0
# Files that the tool cache keeps.
_KEPT_ELSEWHERE = ('.zip', '.whl', '.tar.gz')
_NOT_KEPT = 503

# Builds of images that have the network of their machine have its ports, too, and wait for each other.
_PORT_SECONDS, _POLL_SECONDS = 3600.0, 0.5

_INDEX = 'UV_DEFAULT_INDEX'
_EMITTED = re.compile(r'^--index-url (\S+)$', re.MULTILINE)


@contextmanager
def serve_package_index(folder: Path, *, offline: bool, port: int = PORT) -> Iterator[None]:
    """Let coevo ask for Python's packages through a server that keeps answers in a folder.

    offline  whether requests are answered by what the folder has, and none is passed on

    Raises: Transient if another process keeps the port.
    """
    upstream = '' if offline else find_package_index()
    handler = partial(_AnswerHandler, upstream, folder, None if offline else Fetcher())
    folder.mkdir(parents=True, exist_ok=True)
    with _open_server(port, handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            with _set_environment_variable(_INDEX, f'http://127.0.0.1:{server.server_port}'):
                yield
        finally:
            server.shutdown()
            thread.join()


def _open_server(port: int, handler: Callable[..., BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    """Return a server at a port; wait as long as another process has it."""
    deadline = time.monotonic() + _PORT_SECONDS
    while True:
        try:
            return ThreadingHTTPServer(('127.0.0.1', port), handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            if time.monotonic() > deadline:
                raise Transient(f'another process keeps port {port} of this machine') from None
        time.sleep(_POLL_SECONDS)


def find_package_index() -> str:
    """Return the address of the index that this machine's uv asks first.

    Raises: Transient if uv names none.
    """
    words = ('pip', 'compile', '-', '--emit-index-url', '--no-header', '--quiet')
    done = subprocess.run(
        [sys.executable, '-m', 'uv', *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    emitted = _EMITTED.search(done.stdout)
    if emitted is None:
        raise Transient(f'uv names no package index: {done.stderr.strip()[-200:]}')
    return emitted[1].rstrip('/')


@contextmanager
def _set_environment_variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name)
        else:
            os.environ[name] = before


class _AnswerHandler(BaseHTTPRequestHandler):
    """Answers one request; `fetcher` is None where nothing is passed on."""

    def __init__(
        self,
        upstream: str,
        folder: Path,
        fetcher: Fetcher | None,
        *connection: object,
    ) -> None:
        self._upstream, self._folder, self._fetcher = upstream, folder, fetcher
        super().__init__(*connection)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer by what was kept, or pass the request on and keep the answer."""
        accept = self.headers.get('Accept') or '*/*'
        key = hashlib.sha256(f'{self.path}\n{accept}'.encode()).hexdigest()
        path = self._folder / key  # own name: a digest
        answer = _load_answer(path) if self._fetcher is None else self._forward_request(accept)
        if answer is None:
            answer = FetchAnswer(status=_NOT_KEPT)
        elif self._fetcher is not None and not self.path.endswith(_KEPT_ELSEWHERE):
            _save_answer(path, answer)
        self.send_response(answer.status)
        self.send_header('Content-Type', answer.headers.get('content-type', ''))
        self.send_header('Content-Length', str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def _forward_request(self, accept: str) -> FetchAnswer | None:
        """Return the answer of the index; None if it does not answer."""
        url = f'{self._upstream}{urlsplit(self.path).path}'
        try:
            assert self._fetcher is not None, 'requests are passed on'
            return self._fetcher.fetch(url, most_bytes=_MOST_BYTES, seconds=_SECONDS, accept=accept)
        except Transient:
            return None

    def log_message(self, format: str, *words: object) -> None:
        """Say nothing: what a verifier prints is about its task."""


def _save_answer(path: Path, answer: FetchAnswer) -> None:
    about = {'status': answer.status, 'type': answer.headers.get('content-type', '')}
    write_checksummed(path, json.dumps(about).encode() + b'\n' + answer.content)


def _load_answer(path: Path) -> FetchAnswer | None:
    data = load_checksummed_removing_damaged(path)
    if data is None:
        return None
    head, _, content = data.partition(b'\n')
    about = json.loads(head)
    return FetchAnswer(
        status=int(about['status']), headers={'content-type': str(about['type'])}, content=content
    )
