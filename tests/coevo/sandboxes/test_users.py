"""What a killed coevo leaves under the users of its sandboxes, with a real bwrap stopped where it can hang."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from coevo.sandboxes.running import UserPool

USER = 64990
SECONDS = 20

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason='needs root')


@contextmanager
def half_made() -> Iterator[tuple[subprocess.Popen[bytes], psutil.Process]]:
    """A bwrap that has not yet told the first process of its name space to go on, and that process."""
    said, says = os.pipe()
    blocked, blocks = os.pipe()
    options = ['--unshare-all', '--unshare-user', '--die-with-parent', '--ro-bind', '/', '/']
    channels = ['--info-fd', str(says), '--userns-block-fd', str(blocked)]
    outer = subprocess.Popen(
        ['bwrap', *options, *channels, 'true'],
        pass_fds=(says, blocked),
        user=USER,
        group=USER,
        extra_groups=(),
    )
    os.close(says)
    with os.fdopen(said) as channel:
        first = psutil.Process(json.load(channel)['child-pid'])
    try:
        yield outer, first
    finally:
        outer.kill()
        outer.wait()
        with contextlib.suppress(psutil.NoSuchProcess):
            first.kill()
        for descriptor in (blocked, blocks):
            os.close(descriptor)


def test_a_user_pool_ends_a_bwrap_left_by_a_killed_coevo() -> None:
    with half_made() as (outer, first):
        outer.kill()
        outer.wait()
        assert first.is_running()
        UserPool()
        first.wait(SECONDS)


def test_a_user_pool_leaves_a_bwrap_that_has_its_parent() -> None:
    with half_made() as (outer, first):
        UserPool()
        assert outer.poll() is None
        assert first.is_running()


def test_a_user_pool_leaves_processes_of_a_user_that_another_coevo_holds() -> None:
    with half_made() as (outer, first), Path('/run/coevo', str(USER)).open('wb') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        outer.kill()
        outer.wait()
        UserPool()
        assert first.is_running()
