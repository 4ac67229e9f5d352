"""A web hook is told by the server itself of a run that failed, and of a month that is late."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.prefect_server import OVER, ROOT, Server, deploy, prefect_server, worker

_PATIENCE = 300.0
# Prefect takes no shorter time than ten seconds for what is to be missed.
SOON = 10 / 3600


@contextmanager
def hook() -> Iterator[tuple[str, list[str]]]:
    """An address, and the sentences that it was told."""
    told: list[str] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers['Content-Length']))
            told.append(json.loads(body)['text'])
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """What was asked is kept in `told`."""

    with ThreadingHTTPServer(('127.0.0.1', 0), Hook) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f'http://127.0.0.1:{server.server_port}/hook', told
        finally:
            server.shutdown()
            thread.join()


def alerts(server: Server, *words: str, **more: str) -> str:
    done = subprocess.run(
        (sys.executable, '-m', 'flows.live.alerts', *words),
        cwd=ROOT,
        env={**server.environment, **more},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def wait_for_word(told: list[str], word: str) -> str:
    deadline = time.monotonic() + _PATIENCE
    while not (found := [one for one in told if word in one]):
        assert time.monotonic() < deadline, told
        time.sleep(0.2)
    return found[0]


@pytest.mark.live
@pytest.mark.timeout(900)
def test_web_hook_is_alerted_of_a_failed_and_a_late_run(tmp_path: Path) -> None:
    places = {
        'COEVO_STORE': str(tmp_path / 'store'),
        'COEVO_SNAPSHOTS': str(tmp_path / 'snapshots'),
    }
    with hook() as (url, told), prefect_server(tmp_path / 'live', **places) as server:
        deploy(server)
        for _ in range(2):  # the second time it replaces what was there
            assert 'alerts are sent' in alerts(server, '--late', str(SOON), COEVO_WEBHOOK=url)
        assert len(server.ask('automations/filter', {})) == 3
        run = server.start('release/monthly', month='2024-01')
        late = wait_for_word(told, 'not over after')
        assert 'release/monthly' in late
        assert run in late
        with worker(server, 'one'):
            while server.state(run)['type'] not in OVER:
                time.sleep(0.5)
            state = server.state(run)
            assert state['type'] == 'FAILED'
            failed = wait_for_word(told, 'failed: ')
        assert 'coevo mine' in failed
        assert run in failed
        assert sum('failed: ' in one for one in told) == 1
        alerts(server, '--remove')
        assert server.ask('automations/filter', {}) == []
        # An address like this is a secret: who may read the server's blocks does not see it.
        (block,) = server.ask('block_documents/filter', {})
        assert url not in json.dumps(block)
