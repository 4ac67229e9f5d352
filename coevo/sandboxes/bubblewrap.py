"""Sandboxes made by bubblewrap: name spaces of their own, a user of their own, no capabilities.

Root never runs bwrap: what escaped would be root. Each sandbox then runs under a free numeric user.
What stays open: bwrap installs no system call filter, and memory that is in no process and no file
with a name (memfd, System V segments) is bounded by time and the kernel's defaults alone.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from coevo.model.errors import Transient
from coevo.sandboxes import layout
from coevo.sandboxes.job import HOME, TEMPORARY_FOLDER, WORK_FOLDER, Job
from coevo.sandboxes.mounts import check_mounts
from coevo.sandboxes.probe import find_program, try_out
from coevo.sandboxes.process import Process, ProcessUsage
from coevo.sandboxes.running import LaunchedJob, RunningJobs
from coevo.sandboxes.spawning import Popen, spawn

_KILL_SECONDS = 60
_START_SECONDS, _POLL_SECONDS = 10.0, 0.01

# Nearly every kernel is built to (CONFIG_PROC_CHILDREN).
_LISTS_CHILDREN = Path('/proc/thread-self/children').exists()

_IN_MEMORY = (WORK_FOLDER, TEMPORARY_FOLDER, '/dev/shm')
_TICKS_A_SECOND, _PAGE_BYTES = os.sysconf('SC_CLK_TCK'), os.sysconf('SC_PAGE_SIZE')
_OF_A_PROCESS = 2  # of the kernel's clocks of a process, that of all its threads
_FILE_BYTES = 1024  # what the kernel keeps of a file beside its content
# What forbids user name spaces to ordinary users: the setting, its forbidding value, the remedy.
_KERNEL_SETTINGS = (
    ('kernel/unprivileged_userns_clone', '0', '1'),
    ('kernel/apparmor_restrict_unprivileged_userns', '1', '0'),
    ('user/max_user_namespaces', '0', '10000'),
)


class Bubblewrap:
    """Starts jobs under bwrap; safe from several threads."""

    name = 'bubblewrap'

    def __init__(self) -> None:
        """Fatal with what to install or to set if a trial sandbox does not start."""
        self._bwrap = find_program('bwrap', 'bubblewrap')
        find_program('prlimit', 'util-linux')
        find_program('tar', 'tar')  # in a sandbox, it lays trees out
        self._running = RunningJobs(lend_users=True)
        try_out(self, _find_obstacle)

    def start(self, job: Job) -> Process:
        """Start a job; Fatal for a mount that cannot be made."""
        check_mounts(job.all_mounts, other_user=self._running.uses_other_user)
        return self._running.start(job, self._launch)

    def close(self) -> None:
        """Kill what still runs; nothing can be started any more."""
        self._running.close()

    def _launch(self, job: Job, uid: int | None) -> LaunchedJob:
        popen, first = _start_bwrap(self._bwrap, job, uid)
        tree = PidNamespace(popen.pid, first)
        return LaunchedJob(
            popen=popen, tree=tree, forget=tree.close, network=tree.find_visible_process
        )


class PidNamespace:
    """All processes under a bwrap process, by the first process of their name space."""

    def __init__(self, outer: int, first: int | None) -> None:
        """`first` is None if bwrap ended before it made the name space."""
        self._outer = outer
        self._pid = first
        self._guard = threading.Lock()
        self._first = None
        if first is not None:
            with contextlib.suppress(ProcessLookupError):
                self._first = os.pidfd_open(first)

    def measure_usage(self) -> ProcessUsage:
        cpu_seconds, memory_bytes = 0.0, self._count_files() * _FILE_BYTES
        for pid in (self._outer, *list_descendants(self._outer)):
            used, resident = _measure_process(pid)
            cpu_seconds, memory_bytes = cpu_seconds + used, memory_bytes + resident
        return ProcessUsage(cpu_seconds, memory_bytes)

    def _count_files(self) -> int:
        """Files on the job's own file systems: those without content have no other bound."""
        for pid in self._list_members():
            with contextlib.suppress(OSError):  # it has ended, or shows nothing of itself
                file_systems = [os.statvfs(f'/proc/{pid}/root{folder}') for folder in _IN_MEMORY]
                return sum(each.f_files - each.f_ffree for each in file_systems)
        return 0

    def _list_members(self) -> Iterator[int]:
        """The first process, which shows itself to root alone, then those that it started."""
        if self._pid is not None:
            yield self._pid
            yield from list_descendants(self._pid)

    def find_visible_process(self) -> int:
        """A process of the job whose name spaces may be entered; Transient where there is none."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            for pid in self._list_members():
                with contextlib.suppress(OSError):
                    Path(f'/proc/{pid}/ns/net').readlink()
                    return pid
            time.sleep(_POLL_SECONDS)
        raise Transient('a sandbox does not start, or has ended already')

    def kill(self) -> None:
        """Kill the first process; the kernel lets it go only after all the others."""
        with self._guard:
            if self._first is None:
                return
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            poll = select.poll()
            poll.register(self._first, select.POLLIN)
            if not poll.poll(_KILL_SECONDS * 1000):
                raise Transient(f'a sandbox does not end {_KILL_SECONDS} s after SIGKILL')

    def close(self) -> None:
        with self._guard:
            if self._first is not None:
                os.close(self._first)
                self._first = None


def _measure_process(pid: int) -> tuple[float, int]:
    """CPU seconds of a process, with those of its reaped children, and its resident bytes. Nothing of one that has ended.

    Its own seconds are of clock_getcpuclockid(3): the ticks of proc_pid_stat(5) are as long as many a run. psutil reads
    three files for that, and it is asked several times a run.
    """
    try:
        text = Path('/proc', str(pid), 'stat').read_bytes()
        own = time.clock_gettime(~pid << 3 | _OF_A_PROCESS)
    except OSError:
        return 0.0, 0
    fields = text.rpartition(b')')[2].split()
    of_children = sum(map(int, fields[13:15])) / _TICKS_A_SECOND
    return own + of_children, int(fields[21]) * _PAGE_BYTES


def list_descendants(pid: int) -> Iterator[int]:
    """The living processes below one, as the kernel lists them.

    psutil reads every process of the machine for that, which is seen in what a run costs.
    """
    if not _LISTS_CHILDREN:
        with contextlib.suppress(psutil.NoSuchProcess):
            yield from (child.pid for child in psutil.Process(pid).children(recursive=True))
        return
    todo = [pid]
    while todo:
        for child in _list_children(todo.pop()):
            yield child
            todo.append(child)


def _list_children(pid: int) -> Iterator[int]:
    """Those of all threads of a process; none of one that has ended, or ends meanwhile."""
    threads: tuple[Path, ...] = ()
    with contextlib.suppress(OSError):
        threads = tuple(Path('/proc', str(pid), 'task').iterdir())
    for thread in threads:
        with contextlib.suppress(OSError):
            yield from map(int, (thread / 'children').read_text().split())


def _find_obstacle() -> str | None:
    for setting, bad, good in _KERNEL_SETTINGS:
        with contextlib.suppress(OSError):
            if Path('/proc/sys', setting).read_text().strip() == bad:
                name = setting.replace('/', '.')
                return f'{name} is {bad}; as root: sysctl -w {name}={good}'
    return None


def _start_bwrap(bwrap: str, job: Job, uid: int | None) -> tuple[Popen, int | None]:
    """Start bwrap; beside it the first process of its name space, None if bwrap failed before."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as info:
        with contextlib.ExitStack() as inherited:
            inherited.callback(os.close, writing)
            files = {
                path: inherited.enter_context(_open_memory_file(text))
                for path, text in layout.make_account_files(layout.USER_ID).items()
            }
            shell = inherited.enter_context(Path(layout.SHELL).open('rb')).fileno()
            own = ('--perms', f'{layout.FIRST_MODE:04o}', '--ro-bind-data', str(shell))
            command = [bwrap, '--info-fd', str(writing)]
            command += _build_command(bwrap, job, files, (*own, layout.FIRST_PROGRAM))
            popen = spawn(lambda: _spawn_bwrap(command, (writing, shell, *files.values()), uid))
        text = info.read()
    return popen, json.loads(text)['child-pid'] if text else None


def _spawn_bwrap(command: Sequence[str], descriptors: Sequence[int], uid: int | None) -> Popen:
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=descriptors,
        env={},  # the sandbox could read it in /proc/1/environ
        cwd='/',
        umask=0o022,
        start_new_session=True,
        user=uid,
        group=uid,
        extra_groups=None if uid is None else (),
    )


@contextlib.contextmanager
def _open_memory_file(text: str) -> Iterator[int]:
    """A descriptor to read `text` from."""
    descriptor = os.memfd_create('coevo')
    try:
        os.write(descriptor, text.encode())
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


@functools.cache
def _list_isolation_options(bwrap: str) -> tuple[str, ...]:
    """Isolation that every job gets; older versions of bwrap lack one of them."""
    done = subprocess.run([bwrap, '--help'], capture_output=True, text=True, check=False)
    disable = ('--disable-userns',) if '--disable-userns' in done.stdout + done.stderr else ()
    identity = str(layout.USER_ID)
    return (
        *('--unshare-all', '--unshare-user', *disable),
        *('--die-with-parent', '--new-session', '--as-pid-1'),
        *('--cap-drop', 'ALL', '--hostname', layout.HOST_NAME),
        *('--uid', identity, '--gid', identity),
    )


def _build_command(bwrap: str, job: Job, files: dict[str, int], first: Sequence[str]) -> list[str]:
    """first  how the program of the first process is put there"""
    arguments = [*_list_isolation_options(bwrap), *_list_system_options(files), *first]
    for folder in (WORK_FOLDER, TEMPORARY_FOLDER):
        arguments += ('--size', str(job.limits.disk_bytes), '--tmpfs', folder)
    arguments += ('--dir', HOME)
    for mount in job.all_mounts:
        arguments += ('--ro-bind', str(mount.source), mount.target)
    for folder in (*layout.HIDDEN, '/dev', '/'):
        arguments += ('--remount-ro', folder)
    for name, value in sorted(job.full_environment.items()):
        arguments += ('--setenv', name, value)
    command = (*layout.FIRST_PROCESS, *layout.build_limit_command(job.limits), *job.argv)
    return [*arguments, '--chdir', job.cwd, '--', *command]


def _list_system_options(files: dict[str, int]) -> list[str]:
    arguments = []
    for folder in layout.list_system_folders():
        arguments += ['--ro-bind', folder, folder]
    for link, target in layout.list_system_links().items():
        arguments += ['--symlink', target, link]
    for path, descriptor in files.items():
        arguments += ['--perms', '0444', '--ro-bind-data', str(descriptor), path]
    for folder in layout.HIDDEN:
        arguments += ['--tmpfs', folder]
    shared = str(layout.SHARED_MEMORY_BYTES)
    return [*arguments, '--proc', '/proc', '--dev', '/dev', '--size', shared, '--tmpfs', '/dev/shm']
