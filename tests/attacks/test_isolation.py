"""Nothing gets out of a sandbox: every probe fails in both back ends, and succeeds without one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from coevo.sandboxes.sandbox import Job, Mount, Sandbox
from tests.attacks.jobs import LIMITS, Done, run
from tests.attacks.probes import ALL, Probe
from tests.attacks.victim import SECRET, Victim

PROBES = [
    pytest.param(probe, id=f'{group}-{probe.name}')
    for group, probes in ALL.items()
    for probe in probes
]


def attack(sandbox: Sandbox, probe: Probe, victim: Victim) -> Done:
    job = Job(
        argv=('bash', '-c', probe.script),
        limits=LIMITS,
        mounts=(Mount(source=victim.inputs, target='/in'),),
        environment={**victim.names, 'IN': '/in'},
        cwd='/w',
    )
    return run(sandbox, job)


@pytest.mark.sampled(20)
@pytest.mark.parametrize('probe', PROBES)
def test_escape_probe_fails_inside_the_sandbox(
    sandbox: Sandbox, probe: Probe, victim: Victim
) -> None:
    before = state(victim.inputs)
    done = attack(sandbox, probe, victim)
    assert 'OUT' not in done.output.split(), done
    assert done.exceeded is None
    assert victim.process.poll() is None
    assert state(victim.inputs) == before


def state(folder: Path) -> list[tuple[str, int, float, bytes]]:
    paths = sorted(folder.rglob('*'))
    return [
        (str(p), p.stat().st_mode, p.stat().st_mtime, p.read_bytes() if p.is_file() else b'')
        for p in paths
    ]


@pytest.mark.parametrize('probe', [one for one in PROBES if one.values[0].bare])
def test_escape_probe_succeeds_without_a_sandbox(
    probe: Probe, victim: Victim, tmp_path: Path
) -> None:
    inputs = shutil.copytree(victim.inputs, tmp_path / 'inputs')
    names = {
        **victim.names,
        'IN': str(inputs),
        'COEVO_SECRET': SECRET,
        'PATH': '/usr/bin:/bin:/sbin',
    }
    command = ['bash', '-c', probe.script]
    done = subprocess.run(
        command, env=names, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert 'OUT' in done.stdout.split(), done
