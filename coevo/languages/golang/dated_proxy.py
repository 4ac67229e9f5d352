"""The module proxy as it was on a day: where no version is asked for, nothing newer is offered.

The go command has no such option, so it asks a server on this machine's loopback, which asks the proxy that
it would ask itself, and leaves out of lists what came later (https://go.dev/ref/mod#goproxy-protocol). What has a version is
fetched from where it always is, and checked as always.
"""

from __future__ import annotations

import bisect
import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Self

from coevo.languages.golang.go_command import ask
from coevo.languages.golang.toolchains import GoToolchain

_SECONDS = 60
_LIST = re.compile(r'/(.+)/@v/list')
_LATEST = re.compile(r'/(.+)/@latest')
_VERSION = re.compile(r'v(\d+)\.(\d+)\.(\d+)(-[\w.-]+)?(\+incompatible)?')


class DatedProxy:
    """For one question of the go command; `settings` are the variables that lead it here.

    when  None: now. Where the machine asks no server, nothing is changed.
    """

    def __init__(self, toolchain: GoToolchain, when: datetime | None, folder: Path) -> None:
        self._when = when
        self._upstream = None if when is None else _upstream(toolchain, folder)
        self._server: ThreadingHTTPServer | None = None
        self.settings: Mapping[str, str] = {}

    def __enter__(self) -> Self:
        if self._upstream is not None and self._when is not None:
            dates = Dates(self._upstream, self._when)
            self._server = ThreadingHTTPServer(('127.0.0.1', 0), _handler(self._upstream, dates))
            threading.Thread(target=self._server.serve_forever, daemon=True).start()
            address = f'http://127.0.0.1:{self._server.server_address[1]}'
            self.settings = {'GOPROXY': address, 'NO_PROXY': '127.0.0.1', 'no_proxy': '127.0.0.1'}
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


class Dates:
    """Which versions of modules there were on a day, as a proxy tells."""

    def __init__(self, upstream: str, when: datetime) -> None:
        self._upstream, self._when = upstream, when

    def versions(self, module: str) -> list[str]:
        """Those of a list up to one that was there, whose successor was not: dates are taken to rise."""
        found = self._listed(module)
        first_new = bisect.bisect_left(
            found, True, key=lambda one: not self._is_old(f'{module}/@v/{one}.info')
        )
        return found[:first_new]

    def latest(self, module: str) -> bytes | None:
        """What a module is at of which no version was there: its oldest one, or its newest commit if it has none.

        Which commits there were on a day no proxy tells. Of a module that had versions, the newest one
        only if it is no newer.
        """
        listed = self._listed(module)
        if listed and not self._is_old(f'{module}/@v/{listed[0]}.info'):
            return _fetched(f'{self._upstream}/{module}/@v/{listed[0]}.info')
        info = _fetched(f'{self._upstream}/{module}/@latest')
        return info if not listed or _is_before(info, self._when) else None

    def _listed(self, module: str) -> list[str]:
        return sorted(_fetched(f'{self._upstream}/{module}/@v/list').decode().split(), key=_order)

    def _is_old(self, path: str) -> bool:
        return _is_before(_fetched(f'{self._upstream}/{path}'), self._when)


def _is_before(info: bytes, when: datetime) -> bool:
    text = json.loads(info).get('Time')
    return text is None or datetime.fromisoformat(text) <= when


def _order(version: str) -> tuple[int, int, int, int, str]:
    found = _VERSION.fullmatch(version)
    if found is None:
        return (0, 0, 0, 0, version)
    return (int(found[1]), int(found[2]), int(found[3]), int(found[4] is None), found[4] or '')


def _upstream(toolchain: GoToolchain, folder: Path) -> str | None:
    """The first server that the go command asks."""
    named = ask(toolchain, ('env', 'GOPROXY'), folder).output.strip()
    return next(
        (text.rstrip('/') for text in re.split('[,|]', named) if text.startswith('http')), None
    )


_known: dict[str, bytes] = {}


def _fetched(url: str) -> bytes:
    """Of versions, what a proxy says never changes."""
    if url in _known:
        return _known[url]
    with urllib.request.urlopen(url, timeout=_SECONDS) as response:
        content: bytes = response.read()
    if url.endswith('.info'):
        _known[url] = content
    return content


def _handler(upstream: str, dates: Dates) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                self._answer()
            except urllib.error.HTTPError as error:
                self._send(error.code, error.read())
            except (urllib.error.URLError, OSError, ValueError) as error:
                self._send(502, str(error).encode())

        def _answer(self) -> None:
            if found := _LIST.fullmatch(self.path):
                text = ''.join(f'{one}\n' for one in dates.versions(found[1]))
                self._send(200, text.encode())
            elif found := _LATEST.fullmatch(self.path):
                info = dates.latest(found[1])
                self._send(404 if info is None else 200, info or b'not found: of a later day')
            else:
                self.send_response(302)
                self.send_header('Location', upstream + self.path)
                self.send_header('Content-Length', '0')
                self.end_headers()

        def _send(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header('Content-Length', str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Said to nobody."""

    return Handler
