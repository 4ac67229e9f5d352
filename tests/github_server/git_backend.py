"""Clones and fetches over HTTP: Git's own `git http-backend` as a CGI program.

https://git-scm.com/docs/git-http-backend
"""

from __future__ import annotations

import subprocess
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

from tests.repos import CLEAN


def serve_git(handler: BaseHTTPRequestHandler, repositories: Path | None) -> None:
    """Answer one request below /git/ from the bare repositories OWNER/NAME.git in a folder."""
    if repositories is None:
        handler.send_error(404)
        return
    split = urlsplit(handler.path)
    environment = {
        **CLEAN,
        'GIT_PROJECT_ROOT': str(repositories),
        'GIT_HTTP_EXPORT_ALL': '1',
        'PATH_INFO': split.path.removeprefix('/git'),
        'QUERY_STRING': split.query,
        'REQUEST_METHOD': handler.command,
        'CONTENT_TYPE': handler.headers.get('Content-Type', ''),
        'HTTP_CONTENT_ENCODING': handler.headers.get('Content-Encoding', ''),
        'GIT_PROTOCOL': handler.headers.get('Git-Protocol', ''),
        'REMOTE_ADDR': handler.client_address[0],
    }
    done = subprocess.run(
        ['git', 'http-backend'],
        input=_body(handler),
        capture_output=True,
        env=environment,
        check=False,
    )
    _relay(handler, done.stdout)


def _body(handler: BaseHTTPRequestHandler) -> bytes:
    if handler.headers.get('Transfer-Encoding', '').lower() != 'chunked':
        return handler.rfile.read(int(handler.headers.get('Content-Length', '0')))
    parts = []
    while size := int(handler.rfile.readline().split(b';')[0], 16):
        parts.append(handler.rfile.read(size))
        handler.rfile.readline()
    handler.rfile.readline()
    return b''.join(parts)


def _relay(handler: BaseHTTPRequestHandler, output: bytes) -> None:
    head, _, body = output.partition(b'\r\n\r\n')
    headers = dict(line.split(': ', 1) for line in head.decode().split('\r\n') if ': ' in line)
    handler.send_response_only(int(headers.pop('Status', '200').split()[0]))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header('Content-Length', str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
