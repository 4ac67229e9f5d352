"""Runs that are late: one does the work of all, but for those that are to do something else."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.prefect_server import PREFECT, ROOT, Server, deploy, prefect_server

ASKED_FOR = """\
import sys
from pathlib import Path
from flows.live.reap import list_requested_repositories
print(*sorted(list_requested_repositories(Path(sys.argv[1]), 'mine/batch', {'profile': sys.argv[2]})))
"""

MANY = 450
START_MANY = f"""\
from prefect.client.orchestration import get_client
with get_client(sync_client=True) as client:
    deployment = client.read_deployment_by_name('mine/batch')
    for number in range({MANY}):
        client.create_flow_run_from_deployment(
            deployment.id, parameters={{'profile': 'many', 'repositories': [f'ada/{{number}}']}}
        )
"""


def schedule(server: Server, deployment: str, since: timedelta) -> None:
    """As the server does for what is to come: all runs of its schedule from a time in the past on."""
    found = server.ask(f'deployments/name/{deployment}')
    now = datetime.now(tz=UTC)
    times = f'{{"start_time": "{now - since:%FT%TZ}", "end_time": "{now:%FT%TZ}", "min_runs": 9}}'
    request = urllib.request.Request(
        f'{server.api}/deployments/{found["id"]}/schedule',
        data=times.encode(),
        headers={'Content-Type': 'application/json'},
    )
    with urllib.request.urlopen(request, timeout=60):
        pass


def late(server: Server, deployment: str) -> list[str]:
    """Ids of the runs that were to begin by now, the oldest first."""
    found = server.ask(f'deployments/name/{deployment}')
    wanted = {
        'flow_runs': {
            'deployment_id': {'any_': [found['id']]},
            'expected_start_time': {'before_': f'{datetime.now(tz=UTC):%FT%TZ}'},
        },
        'sort': 'EXPECTED_START_TIME_ASC',
    }
    return [one['id'] for one in server.ask('flow_runs/filter', wanted)]


def find_start(server: Server, run: str) -> str:
    """When a run is to start, as ISO 8601."""
    return str(server.ask(f'flow_runs/{run}')['expected_start_time'])


def command(server: Server, *words: str | Path) -> str:
    done = subprocess.run(
        words, cwd=ROOT, env=dict(server.environment), capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_one_run_does_the_work_of_all_overdue_runs_of_a_schedule(tmp_path: Path) -> None:
    store = tmp_path / 'store'
    with prefect_server(tmp_path / 'live', COEVO_STORE=str(store)) as server:
        deploy(server)
        schedule(server, 'reap/minutes', timedelta(minutes=20))
        first, *others = late(server, 'reap/minutes')
        assert len(others) >= 3
        command(server, PREFECT, 'flow-run', 'execute', first)
        assert server.state(first)['type'] == 'COMPLETED'
        assert late(server, 'reap/minutes') == [first]

        # Two months are two releases, however late the first one is; six days of a month are one.
        schedule(server, 'release/monthly', timedelta(days=70))
        first, *others = late(server, 'release/monthly')
        month, *months = [find_start(server, one)[:7] for one in (first, *others)]
        later = [one for one, its in zip(others, months, strict=True) if its != month]
        assert 1 <= len(later) < len(others)
        told = command(server, PREFECT, 'flow-run', 'execute', first)
        sentence = f'{store} holds nothing: mine a repository first (coevo mine)'
        assert (server.state(first)['type'], server.state(first)['message']) == ('FAILED', sentence)
        assert 'Traceback' not in told
        assert told.count(sentence) == 1, told
        assert late(server, 'release/monthly') == [first, *later]
        assert {server.state(one)['type'] for one in later} == {'SCHEDULED'}

        # What a batch that waits is to do is not asked for again, unless in another way.
        server.start('mine/batch', repositories=['ada/till', 'ada/scale'])
        server.start('mine/batch', repositories=['ada/bell'], again=True)
        for profile, names in (('default', 'ada/scale ada/till'), ('quick', '')):
            told = command(server, sys.executable, '-c', ASKED_FOR, store, profile)
            assert told.strip() == names
        subprocess.run(
            [sys.executable, '-c', START_MANY], cwd=ROOT, env=dict(server.environment), check=True
        )
        told = command(server, sys.executable, '-c', ASKED_FOR, store, 'many')
        assert told.split() == sorted(f'ada/{number}' for number in range(MANY))
