"""Two demos in one folder: the second one says so and touches nothing."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coevo.model.errors import Fatal
from coevo.storage.sole_use import lock_for_sole_use_or_refuse


def test_folder_is_locked_for_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        lock_for_sole_use_or_refuse(tmp_path / 'new'),
        pytest.raises(Fatal, match=rf'new is in use by another run \(process {os.getpid()}\)'),
        lock_for_sole_use_or_refuse(tmp_path / 'new'),
    ):
        pass
    with lock_for_sole_use_or_refuse(tmp_path / 'new'):
        pass


@pytest.mark.sampled(1)
@pytest.mark.parametrize('module', ['flows.demo', 'tests.live_demo'])
def test_second_demo_in_a_folder_is_refused_and_touches_nothing(
    tmp_path: Path, module: str
) -> None:
    begun = tmp_path / 'demo' / 'repository'
    begun.mkdir(parents=True)
    (begun / 'half').touch()
    words = () if module == 'flows.demo' else ('demo',)
    root = Path(__file__).parents[3]
    with lock_for_sole_use_or_refuse(tmp_path / 'demo'):
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


def test_lock_file_that_was_removed_meanwhile_is_locked_anew(tmp_path: Path) -> None:
    """A process that opened the removed lock must not believe that it holds the folder."""
    folder = tmp_path / 'new'
    opened: list[int] = []
    flock = fcntl.flock

    def remove_first(descriptor: int, operation: int) -> None:
        """Let the holder before remove the file between this process's opening and locking."""
        opened.append(descriptor)
        if len(opened) == 1:
            (folder / '.lock').unlink()
            folder.rmdir()
        flock(descriptor, operation)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fcntl, 'flock', remove_first)
        with lock_for_sole_use_or_refuse(folder):
            assert len(opened) == 2
            with (
                pytest.raises(Fatal, match='is in use by another run'),
                lock_for_sole_use_or_refuse(folder),
            ):
                pass
