"""No job uses more than it may, outlives its end, or leaves anything on the host."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from coevo.sandboxes.sandbox import Job, Limits, Sandbox
from coevo.storage.disk import find_work_root
from tests.attacks.jobs import LIMITS, run

PERL = "perl -e '{}'"


@dataclass(frozen=True, slots=True)
class Abuse:
    """A script and what must become of it.

    exceeded  the limit for which it is killed
    noise     what it is told instead
    status    its own exit status, if any
    """

    name: str
    script: str
    exceeded: tuple[str, ...] = ()
    noise: str = ''
    status: tuple[int, ...] = ()
    limits: Limits = LIMITS


SHORT = replace(LIMITS, wall_seconds=2)
LITTLE = replace(LIMITS, memory_bytes=200 << 20)
BUSY = replace(LIMITS, cpu_seconds=1)
NO_ROOM = 'No space left on device'
KILLED = (137, -9)

ABUSES = (
    Abuse('fork_bomb', 'f() { f | f & }; f; sleep 600', ('wall',), limits=SHORT),
    Abuse(
        'many_processes',
        'exec dash -c "for i in $(seq 200 | tr "\\n" " "); do sleep 9 & done"',
        noise='Cannot fork',
    ),
    Abuse(
        'many_threads',
        PERL.format('for (1..200) { fork // die "Cannot fork" or sleep 9 }'),
        noise='Cannot fork',
    ),
    Abuse('sleep', 'sleep 600; true', ('wall',), limits=SHORT),
    Abuse('stop', 'kill -STOP $$; sleep 600', ('wall',), limits=SHORT),
    Abuse(
        'ignore_signals',
        'trap "" TERM HUP INT; sleep 600 & wait; sleep 600',
        ('wall',),
        limits=SHORT,
    ),
    Abuse('loop', 'while :; do :; done', ('cpu',), limits=BUSY),
    Abuse('loop_in_children', '(while :; do :; done) & while :; do :; done', ('cpu',), limits=BUSY),
    Abuse(
        'loop_in_many_that_die',
        'while :; do (for ((i = 0; i < 20000; i++)); do :; done); done',
        ('cpu',),
        limits=BUSY,
    ),
    Abuse('memory', 'tail /dev/zero', ('memory',), status=KILLED, limits=LITTLE),
    Abuse(
        'memory_of_many',
        'for i in 1 2 3 4 5 6 7 8; do ' + PERL.format('$x = "x" x 4e7; sleep 60') + ' & done; wait',
        ('memory',),
        status=KILLED,
        limits=LITTLE,
    ),
    Abuse('one_file', 'head -c 200M /dev/zero > /w/x', noise=NO_ROOM),
    Abuse('temporary_file', 'head -c 200M /dev/zero > /tmp/x', noise=NO_ROOM),
    Abuse('shared_memory_file', 'head -c 200M /dev/zero > /dev/shm/x', noise=NO_ROOM),
    Abuse('home', 'head -c 200M /dev/zero > ~/x', noise=NO_ROOM),
    Abuse(
        'many_files',
        'for i in $(seq 5000); do echo x > /w/$i || exit 9; done',
        noise=NO_ROOM,
        status=(9,),
    ),
    Abuse(
        'deep_folders',
        PERL.format(
            'chdir "/w"; for (1..1e6) { mkdir "d" or die $!; chdir "d"; '
            'open F, ">", "f"; syswrite F, "x" or die $! }'
        ),
        noise=NO_ROOM,
    ),
    Abuse(
        'large_file',
        '(head -c 2M /dev/zero > /w/x); exit $?',
        status=(128 + 25,),
        limits=replace(LIMITS, file_bytes=1 << 20),
    ),
    Abuse(
        'large_sparse_file',
        '(truncate -s 1T /w/x); exit $?',
        status=(128 + 25, 1),
        limits=replace(LIMITS, file_bytes=1 << 20),
    ),
    Abuse('noise', 'head -c 200M /dev/zero >&2; echo last >&2', noise='last', status=(0,)),
    Abuse(
        'core',
        'cd /w; sh -c "kill -SEGV \\$\\$"; test -z "$(ls)" || exit 9; echo gone >&2',
        noise='gone',
        status=(0,),
    ),
)


@pytest.mark.sampled(7)
@pytest.mark.parametrize('abuse', [pytest.param(one, id=one.name) for one in ABUSES])
def test_abusive_script_is_stopped_at_its_limit(
    sandbox: Sandbox, abuse: Abuse, marker: str
) -> None:
    done = run(sandbox, Job(argv=('bash', '-c', abuse.script, marker), limits=abuse.limits))
    if not (abuse.status and done.status in abuse.status):
        assert done.exceeded in (abuse.exceeded or (None,)), done
        assert not abuse.status or abuse.exceeded, done
    assert abuse.noise in done.noise
    assert len(done.noise) <= 64 << 10
    assert not found(marker)


def test_empty_files_count_against_the_limits(sandbox: Sandbox) -> None:
    """Each takes a kilobyte of the kernel's memory, and a file system has room for millions."""
    script = PERL.format('for (1..3e6) { open F, ">", "/w/$_" or exit 9 }')
    limits = replace(LIMITS, memory_bytes=100 << 20, disk_bytes=64 << 20)
    done = run(sandbox, Job(argv=('bash', '-c', script), limits=limits))
    assert done.exceeded == 'memory' or done.status in (9, *KILLED), done


def test_unread_output_blocks_the_job_and_is_not_buffered(sandbox: Sandbox) -> None:
    with sandbox.start(Job(argv=('head', '-c', '1G', '/dev/zero'), limits=LIMITS)) as process:
        assert process.stdout.read(1) == b'\0'
        with pytest.raises(TimeoutError):
            process.wait(timeout=0.5)
        process.kill()
        assert process.poll() in KILLED


@pytest.fixture
def marker() -> str:
    """An argument by which a test's processes are found on the host."""
    return f'coevo-test-{uuid.uuid4().hex}'


def found(marker: str) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(['cmdline'])
        if marker in (process.info['cmdline'] or ())
    ]


DAEMON = 'setsid bash -c "trap \\"\\" TERM HUP INT; sleep 600; true" "$0" <&- >&- 2>&- &'


@pytest.mark.parametrize(
    'script',
    [
        f'{DAEMON} exit 4',
        f'({DAEMON}) ; kill -9 1; kill -9 $PPID; kill -9 -1; exit 4',
        f'{DAEMON} ({DAEMON}) & disown -a; exec bash -c "exit 4"',
    ],
    ids=['left', 'after_killing_everything', 'orphans'],
)
def test_no_process_outlives_its_job(sandbox: Sandbox, script: str, marker: str) -> None:
    done = run(sandbox, Job(argv=('bash', '-c', script, marker), limits=LIMITS))
    assert done.status in (4, *KILLED)
    assert not found(marker)


def test_first_process_cannot_be_killed_from_inside_the_sandbox(sandbox: Sandbox) -> None:
    script = 'kill -9 1; kill -STOP 1; kill -9 $PPID; echo alive'
    done = run(sandbox, Job(argv=('bash', '-c', script), limits=LIMITS))
    assert (done.status, done.output) == (0, 'alive\n')


COEVO = """
import sys
from coevo.sandboxes.sandbox import *
from tests.attacks.jobs import LIMITS
script = 'head -c 4M /dev/zero > /w/x; ' + {daemon!r} + ' echo ready; sleep 600; true'
process = open_sandbox(sys.argv[1]).start(
    Job(argv=('bash', '-c', script, sys.argv[2]), limits=LIMITS))
print(process.stdout.readline().decode(), end='', flush=True)
process.wait()
"""


def test_killed_coevo_leaves_no_process_mount_or_container(back_end: str, marker: str) -> None:
    """Neither process nor mount nor container, once the next coevo has started in any case."""
    before, lifelines = mounts(), set(find_work_root().glob('coevo-lifeline-*'))
    command = [sys.executable, '-c', COEVO.format(daemon=DAEMON), back_end, marker]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as coevo:
        try:
            assert coevo.stdout is not None
            assert coevo.stdout.readline() == b'ready\n'
            inside = [process for process in found(marker) if process.pid != coevo.pid]
            assert inside
        finally:
            coevo.kill()
    _, alive = psutil.wait_procs(inside, timeout=120)
    assert not alive
    assert not found(marker)
    deadline = time.monotonic() + 120
    while mounts() - before and time.monotonic() < deadline:
        time.sleep(0.1)  # a daemon takes down what it had mounted a little later
    assert not mounts() - before
    run_by_the_next_coevo(back_end)
    assert set(find_work_root().glob('coevo-lifeline-*')) <= lifelines
    if back_end == 'docker':
        assert containers() == ''


def mounts() -> set[str]:
    lines = Path('/proc/self/mountinfo').read_text().splitlines()
    return {line.split()[4] for line in lines}


def run_by_the_next_coevo(back_end: str) -> None:
    program = (
        f"from coevo.sandboxes.sandbox import open_sandbox; open_sandbox('{back_end}').close()"
    )
    subprocess.run([sys.executable, '-c', program], check=True)


def containers() -> str:
    command = ['docker', 'ps', '--all', '--quiet', '--filter', 'label=coevo.lifeline']
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_repeated_jobs_leak_no_file_descriptors(sandbox: Sandbox) -> None:
    def some() -> None:
        for _ in range(5):
            run(sandbox, Job(argv=('bash', '-c', 'kill -9 -1; sleep 9 &'), limits=LIMITS))

    some()
    before = descriptors()
    some()
    assert descriptors() <= before + 2  # kept connections to a daemon come and go


def descriptors() -> int:
    return len(list(Path('/proc/self/fd').iterdir()))
