"""A Docker daemon for the tests: the one that answers, else one of our own where root may."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_START_SECONDS = 60


@contextmanager
def docker_daemon() -> Iterator[str | None]:
    """While entered, DOCKER_HOST leads to a daemon; yields None, else why there is none."""
    if _answers():
        yield None
        return
    program = shutil.which('dockerd') or shutil.which('dockerd', path='/usr/sbin')
    if os.geteuid() != 0 or program is None:
        yield 'no Docker daemon answers, and to start one takes root and dockerd'
        return
    with (
        tempfile.TemporaryDirectory(prefix='coevo-docker-', dir='/var/tmp') as name,
        _started(program, Path(name)) as host,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv('DOCKER_HOST', host)
        yield None


def _answers(host: str | None = None) -> bool:
    if shutil.which('docker') is None:
        return False
    at = () if host is None else ('--host', host)
    command = ('docker', *at, 'version', '--format', '{{.Server.Version}}')
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def _started(program: str, folder: Path) -> Iterator[str]:
    host = f'unix://{folder}/socket'
    command = [program, '--data-root', f'{folder}/data', '--exec-root', f'{folder}/exec']
    command += ['--pidfile', f'{folder}/pid', '--host', host]
    command += ['--bridge', 'none', '--iptables=false', '--ip6tables=false']
    with (folder / 'log').open('wb') as log:
        daemon = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not _answers(host):
            assert daemon.poll() is None, (folder / 'log').read_text()
            assert time.monotonic() < deadline, 'dockerd does not answer'
            time.sleep(0.1)
        yield host
    finally:
        daemon.terminate()
        daemon.wait(timeout=60)
        for place in _mounts_below(folder):  # it leaves some, all of them where it was stuck
            subprocess.run(['umount', '--lazy', place], check=False)


def _mounts_below(folder: Path) -> list[str]:
    lines = Path('/proc/self/mountinfo').read_text().splitlines()
    places = (line.split()[4] for line in lines)
    return sorted((place for place in places if place.startswith(f'{folder}/')), reverse=True)
