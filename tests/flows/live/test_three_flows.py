"""The flows that matter, in short: mined, released and run again under a server, with no worker in between."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from coevo.snapshots.catalogue import find_latest
from coevo.snapshots.verification import verify_snapshot
from tests.prefect_server import ROOT, prefect_server
from tests.projects import junit, pom, source, write

FLOWS = """\
import sys
from flows.live.mine import mine
from flows.live.measure import measure
from flows.live.release import release
from flows.live.reverify import reverify
mine([sys.argv[1]], profile='quick', reached='2024-02-01')
measure(runs=4)
release(families=['maintenance'], code_free=sys.argv[2], withhold_gold=sys.argv[3], untested=True, urls=['local/repository=https://example.org/r.git'])
reverify(sample=1)
"""


@pytest.mark.jvm
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_mine_measure_release_and_reverify_flows_succeed_in_sequence(tmp_path: Path) -> None:
    """The month is the one before that of the clock that the flows are given."""
    steps = [
        {
            'pom.xml': pom(),
            **source('Till', f'    public static int last() {{ return {number}; }}\n'),
            **junit('TillTest', f'rings: assertEquals({number}, Till.last());'),
        }
        for number in range(2)
    ]
    repository = write(tmp_path / 'repository', steps)
    snapshots, clock = tmp_path / 'snapshots', tmp_path / 'clock'
    clock.write_text('2024-02-03\n')
    places = {
        'COEVO_STORE': str(tmp_path / 'store'),
        'COEVO_SNAPSHOTS': str(snapshots),
        'COEVO_CLOCK': str(clock),
    }
    with prefect_server(tmp_path / 'live', **places) as server:
        done = subprocess.run(
            (sys.executable, '-c', FLOWS, repository, tmp_path / 'code-free', tmp_path / 'no-gold'),
            cwd=ROOT,
            env=dict(server.environment),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found = server.ask('flow_runs/filter', {'sort': 'START_TIME_ASC'})
    assert [one['state']['message'] for one in found] == [
        '1 done, 1 pair executed',
        '1 pair with tasks measured, 0 wait, 0 partitions could not be looked at',
        '1 task in 2024-01',
        '1 of 1 labels: 1 hold, 0 lost, 0 unknown',
    ]
    assert find_latest(str(snapshots)) == str(snapshots / '2024-01')
    assert verify_snapshot(snapshots / '2024-01') == verify_snapshot(tmp_path / 'code-free') == []
    assert verify_snapshot(tmp_path / 'no-gold') == []
