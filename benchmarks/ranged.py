"""A static web server that answers ranges and counts what it sends."""

from __future__ import annotations

import re
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import ClassVar


class Ranged(SimpleHTTPRequestHandler):
    """GET and HEAD of files; `sent` counts the bytes of all bodies, `requests` those with one."""

    protocol_version = 'HTTP/1.1'
    sent: ClassVar[int] = 0
    requests: ClassVar[int] = 0

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        size = path.stat().st_size
        found = re.fullmatch(r'bytes=(\d+)-(\d*)', self.headers.get('Range', ''))
        first = int(found[1]) if found else 0
        last = min(int(found[2]), size - 1) if found and found[2] else size - 1
        with path.open('rb') as file:
            file.seek(first)
            body = file.read(last - first + 1)
        self.send_response(206 if found else 200)
        self.send_header('Content-Length', str(len(body)))
        if found:
            self.send_header('Content-Range', f'bytes {first}-{last}/{size}')
        self.end_headers()
        self.wfile.write(body)
        Ranged.sent += len(body)
        Ranged.requests += 1

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: there are many."""
