"""A module proxy that a test fills with versions of modules, as https://go.dev/ref/mod#goproxy-protocol has it."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODULE = 'example.org/shelf'


@dataclass(slots=True, kw_only=True)
class ModuleServer:
    """A server while it serves.

    files   bodies by path, such as `example.org/shelf/@v/list`
    status  of all answers, where it is not 200 or 404
    asked   paths, in the order in which they were asked for
    """

    url: str = ''
    files: dict[str, bytes] = field(default_factory=dict)
    status: int | None = None
    asked: list[str] = field(default_factory=list)

    def add(
        self, version: str, year: int, module: str = MODULE, extra: Mapping[str, str] | None = None
    ) -> None:
        """Publish a version with a function `Stock`, which returns the number of its patch release."""
        folder = f'{module}/@v'
        listed = self.files.get(f'{folder}/list', b'').decode()
        self.files[f'{folder}/list'] = f'{listed}{version}\n'.encode()
        info = {'Version': version, 'Time': f'{year}-01-01T00:00:00Z'}
        self.files[f'{folder}/{version}.info'] = json.dumps(info).encode()
        self.files[f'{module}/@latest'] = self.files[f'{folder}/{version}.info']
        go_mod = f'module {module}\n\ngo 1.21\n'
        self.files[f'{folder}/{version}.mod'] = go_mod.encode()
        files = {
            'go.mod': go_mod,
            'shelf.go': f'package shelf\n\nfunc Stock() int {{ return {version.rpartition(".")[2]} }}\n',
            **(extra or {}),
        }
        self.files[f'{folder}/{version}.zip'] = packed(
            {f'{module}@{version}/{name}': text for name, text in files.items()}
        )


def packed(files: Mapping[str, str]) -> bytes:
    """Return a zip of texts."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


@contextmanager
def module_server() -> Iterator[ModuleServer]:
    """Give a server without modules, on the loopback."""
    served = ModuleServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.lstrip('/')
            served.asked.append(path)
            body = served.files.get(path)
            status = served.status or (404 if body is None else 200)
            self.send_response(status)
            self.send_header('Content-Length', str(len(body or b'')))
            self.end_headers()
            self.wfile.write(body or b'')

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    served.url = f'http://127.0.0.1:{server.server_address[1]}'
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
