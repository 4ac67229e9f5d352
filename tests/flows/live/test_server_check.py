"""Workers and alerts without a server, or with one of another version: one sentence, status 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.prefect_server import ROOT


@pytest.fixture
def old_server() -> Iterator[str]:
    """What a server of Prefect 2 answers, and a page that is none at all."""

    class Old(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.path == '/api/admin/version'
            self.send_response(200 if known else 404)
            self.end_headers()
            self.wfile.write(json.dumps('2.20.4').encode() if known else b'')

        def log_message(self, format: str, *arguments: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(('127.0.0.1', 0), Old) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f'http://127.0.0.1:{server.server_port}'
        finally:
            server.shutdown()
            thread.join()


def refusal(module: str, folder: Path, **more: str) -> str:
    """What a command says that ends with status 2: one line."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith('PREFECT_')}
    environment = {**kept, 'PREFECT_HOME': str(folder), 'PREFECT_CLIENT_MAX_RETRIES': '0', **more}
    done = subprocess.run(
        (sys.executable, '-m', module),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.slow
def test_missing_server_address_is_reported(tmp_path: Path) -> None:
    told = refusal('flows.live.worker', tmp_path)
    assert told.startswith('worker: $PREFECT_API_URL names no server: export it')


@pytest.mark.slow
def test_unreachable_server_is_reported(tmp_path: Path) -> None:
    api = 'http://127.0.0.1:9/api'  # where nobody listens
    told = refusal('flows.live.alerts', tmp_path, PREFECT_API_URL=api)
    assert told.startswith(f'alerts: no Prefect server answers at {api} (ConnectError): start it')


@pytest.mark.slow
def test_server_of_another_version_is_reported(old_server: str, tmp_path: Path) -> None:
    told = refusal('flows.live.worker', tmp_path, PREFECT_API_URL=f'{old_server}/api')
    assert f'the server at {old_server}/api is Prefect 2.20.4, here is 3.' in told
    assert told.endswith('bring both to the same version (make setup on both machines)')


@pytest.mark.slow
def test_address_without_a_prefect_server_is_reported(old_server: str, tmp_path: Path) -> None:
    told = refusal('flows.live.worker', tmp_path, PREFECT_API_URL=old_server)
    assert f'{old_server} answers "Not Found": is it the address of a Prefect server' in told
