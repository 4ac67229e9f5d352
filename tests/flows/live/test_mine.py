"""The flow `mine` under a real server, and what it leaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.snapshots.catalogue import find_latest
from coevo.storage.leases import list_unreleased_lease_states
from coevo.storage.places import open_place
from tests.flows.mining_runs import PAIRS
from tests.prefect_server import Server, deploy, prefect_server, worker

STAGES = {'walk', 'pair', 'filter', 'label', 'track'}


def scheduled(server: Server) -> set[str]:
    """The deployments of which Prefect's scheduler has planned runs, as their crons say."""
    planned = [one for one in server.ask('flow_runs/filter', {}) if one['auto_scheduled']]
    names = {one['id']: one['name'] for one in server.ask('deployments/filter', {})}
    return {names[one['deployment_id']] for one in planned}


@pytest.fixture(scope='module')
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp('live')
    places = {'COEVO_STORE': str(folder / 'store'), 'COEVO_SNAPSHOTS': str(folder / 'snapshots')}
    with prefect_server(folder / 'server', **places) as found:
        deploy(found)
        yield found


@pytest.mark.live
@pytest.mark.jvm
@pytest.mark.timeout(1500)
def test_unminable_repository_does_not_stop_the_others_of_its_batch(
    server: Server, repository: Path, tmp_path: Path
) -> None:
    """It is refused, kept as a failure with what it complained of, and the next one is mined."""
    store = Path(server.environment['COEVO_STORE'])
    nothing = tmp_path / 'nothing'
    nothing.mkdir()
    with worker(server, 'one'):
        asked = [str(nothing), str(repository)]
        run = server.start('mine/batch', repositories=asked, profile='quick')
        template = ('--base-job-template', 'infra/kubernetes-job.json')
        server.prefect('work-pool', 'create', 'jobs', '--type', 'kubernetes', *template)
        assert server.wait(run) == f'1 done, 1 refused, {PAIRS} pairs executed'
        assert server.ask(f'flow_runs/{run}')['name'] == f'mine {nothing} and 1 more'
        assert scheduled(server) >= {'daily', 'monthly', 'weekly', 'minutes'}
        is_released_and_holds(server)
    tables = server.tables(run)
    refused, good = tables['repositories']
    assert 'is not a Git repository' in refused['why']
    record = (store / refused['record']).read_text()
    assert 'is not a Git repository' in record
    assert run in record
    assert (good['pairs'], good['executed now'], good['known before']) == (PAIRS, PAIRS, 0)
    assert {row['stage'] for row in tables['funnel']} == STAGES
    assert not list_unreleased_lease_states(open_place(store), 'claims/repositories')
    assert not list_unreleased_lease_states(open_place(store), 'claims/runs')


def is_released_and_holds(server: Server) -> None:
    """The month is in the catalogue, says what is new, and its labels come out again."""
    snapshots = server.environment['COEVO_SNAPSHOTS']
    run = server.start('release/monthly', month='2024-01', reached='2024-02-01')
    assert server.wait(run) == f'{PAIRS} tasks in 2024-01'
    assert find_latest(snapshots) == f'{snapshots}/2024-01'
    assert (Path(snapshots) / 'catalogue.json').is_file()
    (news,) = server.tables(run)['news']
    assert (news['new'], news['changed'], news['withdrawn']) == (PAIRS, 0, 0)
    run = server.start('reverify/weekly', sample=1)
    assert server.wait(run) == f'1 of {PAIRS} labels: 1 hold, 0 lost, 0 unknown'
