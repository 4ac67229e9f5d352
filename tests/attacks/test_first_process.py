"""The first process of a sandbox holds the result channel: no test may trace it, or reach its memory or descriptors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.sandboxes.sandbox import Job, Mount, Sandbox
from tests.attacks.jobs import LIMITS, run
from tests.folders import open_folder

ATTACH, SEIZE, WRITE_MEMORY, GET_DESCRIPTOR, OPEN_PROCESS = 16, 0x4206, 311, 438, 434

# Each prints its name where it succeeds at process PID.
PROGRAM = f"""
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[1]) or os.getppid()
def tried(name, do):
    try:
        if do(): print(name, flush=True)
    except OSError: pass
def opens(path, flags):
    os.close(os.open(path, flags)); return True
def write():
    text = ctypes.create_string_buffer(b'x')
    at = int(open('/proc/%d/maps' % pid).readline().partition('-')[0], 16)
    parts = [(ctypes.c_size_t * 2)(ctypes.addressof(text), 1), (ctypes.c_size_t * 2)(at, 1)]
    libc.syscall({WRITE_MEMORY}, pid, parts[0], 1, parts[1], 1, 0)
    return ctypes.get_errno() != 1
tried('memory', lambda: opens('/proc/%d/mem' % pid, os.O_RDWR))
tried('maps', lambda: open('/proc/%d/maps' % pid).read(1))
tried('descriptors', lambda: os.listdir('/proc/%d/fd' % pid))
tried('channel', lambda: opens('/proc/%d/fd/1' % pid, os.O_WRONLY))
tried('getfd', lambda: libc.syscall({GET_DESCRIPTOR}, os.pidfd_open(pid), 1, 0) >= 0)
tried('process_vm_writev', write)
tried('seize', lambda: libc.ptrace({SEIZE}, pid, None, None) == 0)
tried('attach', lambda: libc.ptrace({ATTACH}, pid, None, None) == 0)
print('done', flush=True)
"""
ALL = 'memory maps descriptors getfd process_vm_writev seize'


def attack(sandbox: Sandbox, folder: Path, script: str) -> list[str]:
    (folder / 'attack.py').write_text(PROGRAM)
    folder.chmod(0o755)
    job = Job(
        argv=('sh', '-c', script),
        limits=LIMITS,
        mounts=(Mount(source=folder, target='/in'),),
    )
    return run(sandbox, job).output.split()


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as found:
        yield found


def test_sandboxed_program_cannot_access_the_first_process(sandbox: Sandbox, folder: Path) -> None:
    said = attack(sandbox, folder, '/usr/bin/python3 /in/attack.py 1')
    assert said == ['done']


def test_first_process_attacks_succeed_on_a_readable_neighbour_process(
    back_end: str, sandbox: Sandbox, folder: Path
) -> None:
    """A neighbour that was started from a program which its user may read: so was the first process once."""
    said = attack(sandbox, folder, '/usr/bin/python3 /in/attack.py 0; exit 0')
    assert said[-1] == 'done'
    # Docker's own filter of system calls, if it is older, takes these two away from everybody.
    filtered = {'getfd', 'process_vm_writev'} if back_end == 'docker' else set()
    assert set(said) >= {*ALL.split()} - filtered


def test_executable_of_the_first_process_cannot_be_read_or_changed(
    sandbox: Sandbox, folder: Path
) -> None:
    said = attack(
        sandbox,
        folder,
        'cat /first >/dev/null 2>&1 || echo hidden; chmod 755 /first 2>/dev/null || echo kept',
    )
    assert said == ['hidden', 'kept']
