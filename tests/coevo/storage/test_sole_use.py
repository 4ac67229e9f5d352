"""Two demos in one folder: the second one says so and touches nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coevo.model.errors import Fatal
from coevo.storage.sole_use import sole_use


def test_one_at_a_time(tmp_path: Path) -> None:
    with (
        sole_use(tmp_path / 'new'),
        pytest.raises(Fatal, match=rf'new is in use by another run \(process {os.getpid()}\)'),
        sole_use(tmp_path / 'new'),
    ):
        pass
    with sole_use(tmp_path / 'new'):
        pass


@pytest.mark.parametrize('module', ['flows.demo', 'tests.live_demo'])
def test_a_second_demo(tmp_path: Path, module: str) -> None:
    begun = tmp_path / 'demo' / 'repository'
    begun.mkdir(parents=True)
    (begun / 'half').touch()
    words = () if module == 'flows.demo' else ('demo',)
    root = Path(__file__).parents[3]
    with sole_use(tmp_path / 'demo'):
        done = subprocess.run(
            (sys.executable, '-m', module, *words),
            cwd=tmp_path,
            env={**os.environ, 'PYTHONPATH': str(root)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2, done.stderr
    told = ' '.join((done.stdout + done.stderr).split())
    assert f'in use by another run (process {os.getpid()}): wait for its end' in told
    assert (begun / 'half').exists()
