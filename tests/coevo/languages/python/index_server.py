"""A package index on this machine, whose packages and faults a test chooses; coevo is led to it by uv's own variable.

with serving(monkeypatch, Shelf()) as shelf:
    shelf.add_wheel('shoe', '1.0')
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import pytest

from coevo.languages.python.package_index import get_machine_index

UPLOADED = '2024-01-01T00:00:00Z'


@dataclass(kw_only=True)
class Shelf:
    """What the index has.

    statuses   what is answered to a path instead of what is there
    is_html    whether pages are HTML
    login      what a request has to log in with, as `user:password`
    has_parts  whether parts of files are sent
    asked      paths so far, with the range that was asked for
    """

    url: str = ''
    content: dict[str, bytes] = field(default_factory=dict)
    pages: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    is_html: bool = False
    has_parts: bool = True
    login: str = ''
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    silent: threading.Event = field(default_factory=threading.Event)

    def add(self, name: str, file: str, content: bytes, **row: object) -> dict[str, Any]:
        """Put a file on a project's page."""
        self.content[f'/files/{file}'] = content
        entry: dict[str, Any] = {
            'filename': file,
            'url': f'../../files/{file}',
            'hashes': {'sha256': hashlib.sha256(content).hexdigest()},
            'upload-time': UPLOADED,
            **row,
        }
        self.pages.setdefault(name, []).append(entry)
        return entry

    def add_wheel(
        self, name: str, version: str, requires: tuple[str, ...] = (), **files: bytes
    ) -> dict[str, Any]:
        return self.add(
            name, f'{name}-{version}-py3-none-any.whl', wheel(name, version, requires, files)
        )

    def add_source(self, name: str, version: str, files: Mapping[str, str]) -> None:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode='w:gz') as archive:
            for path, text in files.items():
                member = tarfile.TarInfo(f'{name}-{version}/{path}')
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
        self.add(name, f'{name}-{version}.tar.gz', packed.getvalue())

    def page(self, name: str) -> tuple[str, bytes]:
        if not self.is_html:
            text = json.dumps(
                {'meta': {'api-version': '1.1'}, 'name': name, 'files': self.pages[name]}
            )
            return 'application/vnd.pypi.simple.v1+json', text.encode()
        links = (
            f'<a href="{row["url"]}#sha256={row["hashes"]["sha256"]}">{row["filename"]}</a>'
            for row in self.pages[name]
        )
        return 'text/html; charset=utf-8', '\n'.join(links).encode()


def wheel(
    name: str,
    version: str,
    requires: tuple[str, ...] = (),
    files: Mapping[str, bytes] | None = None,
) -> bytes:
    packed = io.BytesIO()
    info = f'{name}-{version}.dist-info'
    lines = ''.join(f'Requires-Dist: {one}\n' for one in requires)
    content = {
        f'{name}.py': f'version = {version!r}\n'.encode(),
        **(files or {}),
        f'{info}/METADATA': f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{lines}'.encode(),
        f'{info}/WHEEL': b'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    }
    record = ''.join(f'{path},,\n' for path in [*content, f'{info}/RECORD'])
    with zipfile.ZipFile(packed, 'w') as archive:
        for path, text in {**content, f'{info}/RECORD': record.encode()}.items():
            archive.writestr(path, text)
    return packed.getvalue()


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch, shelf: Shelf) -> Iterator[Shelf]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def do_GET(self) -> None:
            part = self.headers.get('Range')
            shelf.asked.append((self.path, part))
            if shelf.statuses.get(self.path) == 0:  # says nothing until the end of the test
                shelf.silent.wait()
                self.close_connection = True
                return
            path, kind, body = unquote(self.path), 'application/octet-stream', b''
            status = shelf.statuses.get(path, 200)
            wanted = f'Basic {b64encode(shelf.login.encode()).decode()}'
            if shelf.login and self.headers.get('Authorization') != wanted:
                status = 401
            name = path.removeprefix('/simple/').removesuffix('/')
            if status == 200 and name in shelf.pages:
                kind, body = shelf.page(name)
            elif status == 200 and path in shelf.content:
                body = shelf.content[path]
            elif status == 200:
                status = 404
            self.send_response(206 if part and shelf.has_parts and status == 200 else status)
            if part and shelf.has_parts and status == 200:
                first, last = map(int, part.removeprefix('bytes=').split('-'))
                last = min(last, len(body) - 1)
                self.send_header('Content-Range', f'bytes {first}-{last}/{len(body)}')
                body = body[first : last + 1]
            self.send_header('Content-Type', kind)
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    shelf.url = f'http://127.0.0.1:{server.server_port}/simple/'
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    monkeypatch.setenv('UV_DEFAULT_INDEX', shelf.url)
    get_machine_index.cache_clear()
    try:
        yield shelf
    finally:
        shelf.silent.set()
        server.shutdown()
        server.server_close()
        get_machine_index.cache_clear()
