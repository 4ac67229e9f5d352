"""The flow `mine` under a real server, started as a person would, and what it leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coevo.leases import standings
from coevo.place import place_of
from tests.flows.mining_runs import different
from tests.flows.mining_runs import released
from tests.prefect_server import POOL
from tests.prefect_server import prefect_server
from tests.prefect_server import worker
from tests.projects import NAME


@pytest.mark.live
@pytest.mark.jvm
@pytest.mark.timeout(600)
def test_a_run_from_the_command_line(repository: Path, undisturbed: Path, tmp_path: Path) -> None:
    """A folder that is no repository is refused, kept as a failure, and stops nothing."""
    store = tmp_path / 'store'
    (tmp_path / 'nothing').mkdir()
    repositories = json.dumps([str(tmp_path / 'nothing'), f'{NAME}={repository}'])
    with prefect_server(tmp_path / 'live', COEVO_STORE=str(store)) as server:
        server.prefect('work-pool', 'create', POOL, '--type', 'process')
        server.prefect('deploy', '--all')
        with worker(server, 'one'):
            words = ('--param', f'repositories={repositories}', '--param', 'profile=quick')
            server.prefect('deployment', 'run', 'mine/batch', *words, '--watch')
        (run,) = server.read('flow_runs', {'deployments': {'name': {'any_': ['batch']}}})
        artifacts = {
            one['key']: json.loads(one['data'])
            for one in server.read('artifacts', {})
            if one['type'] == 'table'
        }
    assert run['state']['message'] == '1 mined, 1 refused, 4 pairs executed'
    assert different(released(store), undisturbed) == []
    refused, good = artifacts['repositories']
    assert 'is not a Git repository' in refused['why']
    assert (store / refused['record']).is_file()
    assert (good['repository'], good['executed now']) == (NAME, 4)
    assert {row['stage'] for row in artifacts['funnel']} == {
        'walk',
        'pair',
        'sieve',
        'label',
        'track',
    }
    assert not standings(place_of(store), 'claims/repositories')
