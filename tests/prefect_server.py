"""A Prefect server of a test's own, and workers: real processes, all their files in one folder."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from flows.batches.contained import end_process_tree

ROOT = Path(__file__).parent.parent
PREFECT = Path(sys.executable).with_name('prefect')
POOL = 'coevo'
# The first start of a server makes its database, step by step.
_START_SECONDS = 1800.0
_BUSY_SECONDS = 60.0
OVER = ('COMPLETED', 'FAILED', 'CRASHED', 'CANCELLED')


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where it listens, and the environment of whoever is to talk to it."""

    api: str
    port: int
    pid: int
    folder: Path
    environment: Mapping[str, str]

    def prefect(self, *words: str) -> str:
        """What a command of Prefect's prints; it has to succeed."""
        done = subprocess.run(
            (PREFECT, '--no-prompt', *words),
            cwd=ROOT,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """An answer of Prefect's API: to a POST where there is a body, else to a GET.

        A busy server says 503 or nothing, for which its own clients wait, too.
        """
        request = urllib.request.Request(
            f'{self.api}/{path}',
            data=None if body is None else json.dumps(body).encode(),
            headers={'Content-Type': 'application/json'},
        )
        deadline = time.monotonic() + 5 * _BUSY_SECONDS
        while True:
            try:
                with urllib.request.urlopen(request, timeout=_BUSY_SECONDS) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code != HTTPStatus.SERVICE_UNAVAILABLE or time.monotonic() > deadline:
                    raise
            except TimeoutError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.5)

    def start(self, deployment: str, **parameters: Any) -> str:
        """Start a run of FLOW/DEPLOYMENT; its id."""
        found = self.ask(f'deployments/name/{deployment}')
        wanted = {
            'parameters': parameters,
            'state': {'type': 'SCHEDULED'},
            'idempotency_key': uuid.uuid4().hex,  # a busy server may have heard the first time
        }
        return str(self.ask(f'deployments/{found["id"]}/create_flow_run', wanted)['id'])

    def state(self, run: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask(f'flow_runs/{run}')['state']
        return found

    def wait(self, run: str, seconds: float = 600) -> str:
        """What a run says when it is done; anything but a completed one is an error."""
        state = self.over(run, seconds)
        assert state['type'] == 'COMPLETED', state
        return str(state['message'])

    def over(self, run: str, seconds: float = 600) -> dict[str, Any]:
        """The state in which a run ends."""
        deadline = time.monotonic() + seconds
        while (state := self.state(run))['type'] not in OVER:
            assert time.monotonic() < deadline, state
            time.sleep(0.5)
        return state

    def runs(self, deployment: str) -> list[str]:
        """The ids of all runs of FLOW/DEPLOYMENT that were asked for, the oldest first."""
        found = self.ask(f'deployments/name/{deployment}')
        wanted = {'deployments': {'id': {'any_': [found['id']]}}, 'sort': 'EXPECTED_START_TIME_ASC'}
        return [
            one['id'] for one in self.ask('flow_runs/filter', wanted) if not one['auto_scheduled']
        ]

    def never_run(self) -> list[str]:
        """The deployments of which no run was ever completed."""
        found = []
        for one in self.ask('deployments/filter', {}):
            wanted = {
                'deployments': {'id': {'any_': [one['id']]}},
                'flow_runs': {'state': {'type': {'any_': ['COMPLETED']}}},
            }
            if not self.ask('flow_runs/filter', wanted):
                found.append(str(one['name']))
        return found

    def tables(self, run: str) -> dict[str, list[dict[str, Any]]]:
        """The tables that a run left as artifacts, by their keys."""
        wanted = {'artifacts': {'flow_run_id': {'any_': [run]}, 'type': {'any_': ['table']}}}
        found = self.ask('artifacts/filter', wanted)
        return {one['key']: json.loads(one['data']) for one in found}


@contextmanager
def prefect_server(folder: Path, port: int | None = None, **more: str) -> Iterator[Server]:
    """A server with a database in `folder`; `more` is added to everybody's environment."""
    port = port or _free_port()
    api = f'http://127.0.0.1:{port}/api'
    environment = _environment(folder, api) | more
    command = (PREFECT, 'server', 'start', '--host', '127.0.0.1', '--port', str(port))
    with logged(folder / 'server.log', command, environment) as process:
        _wait(f'{api}/health', process)
        yield Server(api=api, port=port, pid=process.pid, folder=folder, environment=environment)


def deploy(server: Server) -> None:
    """A pool of processes, and what `prefect.yaml` says."""
    server.prefect('work-pool', 'create', POOL, '--type', 'process')
    server.prefect('deploy', '--all')


@contextmanager
def worker(server: Server, name: str, limit: int = 4) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of the process pool, with so many runs at once; they end with it."""
    command = (PREFECT, 'worker', 'start', '--pool', POOL, '--name', name, '--limit', str(limit))
    with logged(server.folder / f'{name}.log', command, server.environment) as process:
        yield process


def _environment(folder: Path, api: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith('PREFECT_')}
    return kept | {
        'PREFECT_HOME': str(folder / 'prefect'),
        'PREFECT_API_URL': api,
        'PREFECT_SERVER_ANALYTICS_ENABLED': 'false',
        'PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT': 'false',
        'PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS': 'false',
        'DO_NOT_TRACK': '1',
        'PREFECT_SERVER_DATABASE_TIMEOUT': str(_BUSY_SECONDS),
        'PREFECT_WORKER_QUERY_SECONDS': '1',
        'PREFECT_LOGGING_TO_API_BATCH_INTERVAL': '0.5',
        'PYTHONPATH': os.pathsep.join(filter(None, (str(ROOT), os.environ.get('PYTHONPATH')))),
    }


@contextmanager
def logged(
    log: Path, command: tuple[str | Path, ...], environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A process with its output in a file; in the end, it and all that it started are gone."""
    log.parent.mkdir(parents=True, exist_ok=True)
    # A worker ends by Ctrl-C, which whoever runs tests in the background has told all to ignore.
    heeding = ('env', '--default-signal=INT')
    with log.open('ab') as output:
        process = subprocess.Popen(
            (*heeding, *command),
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        end_process_tree(process)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    raise AssertionError(f'{url} does not answer')


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return int(probe.getsockname()[1])
