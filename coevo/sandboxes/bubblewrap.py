"""The bubblewrap back end: each job has its own name spaces and user, and no capabilities.

bwrap never runs as root, since a job that escaped would be root. If coevo runs as root, each
sandbox gets a free numeric user. Known gaps: bwrap installs no system call filter, and memory that
belongs to no process and no named file (memfd, System V segments) is limited only by the job's
time and the kernel's defaults.
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
from coevo.sandboxes import mounts
from coevo.sandboxes.job import HOME, TEMPORARY_FOLDER, WORK_FOLDER, Job
from coevo.sandboxes.mounts import check_mounts
from coevo.sandboxes.process import Popen, Process, ProcessUsage, spawn
from coevo.sandboxes.running import LaunchedJob, RunningJobs, find_program, run_trial_job

_KILL_SECONDS = 60
_START_SECONDS, _POLL_SECONDS = 10.0, 0.01

# True on nearly every kernel (CONFIG_PROC_CHILDREN).
_LISTS_CHILDREN = Path('/proc/thread-self/children').exists()

_IN_MEMORY = (WORK_FOLDER, TEMPORARY_FOLDER, '/dev/shm')
_TICKS_A_SECOND, _PAGE_BYTES = os.sysconf('SC_CLK_TCK'), os.sysconf('SC_PAGE_SIZE')
_OF_A_PROCESS = 2  # the kernel's number of the CPU clock of a process with all its threads
_FILE_BYTES = 1024  # estimate of the kernel memory for a file, without its content
# Settings that can forbid user name spaces: name, forbidding value, value to set instead.
_KERNEL_SETTINGS = (
    ('kernel/unprivileged_userns_clone', '0', '1'),
    ('kernel/apparmor_restrict_unprivileged_userns', '1', '0'),
    ('user/max_user_namespaces', '0', '10000'),
)


class Bubblewrap:
    """The back end that runs each job with bwrap, in name spaces of its own; see `Sandbox`.

    Its methods may be called from several threads.
    """

    name = 'bubblewrap'

    def __init__(self) -> None:
        """Find the programs that it needs, and run a trial job.

        Raises: Fatal if the job does not start; the message says what to install or to set.
        """
        self._bwrap = find_program('bwrap', 'bubblewrap')
        find_program('prlimit', 'util-linux')
        find_program('tar', 'tar')  # jobs unpack their files with it
        self._running = RunningJobs(lend_users=True)
        run_trial_job(self, _find_kernel_obstacle)

    def start(self, job: Job) -> Process:
        """Start a job. Raises Fatal for a mount that cannot be made."""
        check_mounts(job.all_mounts, other_user=self._running.uses_other_user)
        return self._running.start(job, self._launch)

    def close(self) -> None:
        """Kill all running jobs. No job can be started afterwards."""
        self._running.close()

    def _launch(self, job: Job, uid: int | None) -> LaunchedJob:
        popen, first = _start_bwrap(self._bwrap, job, uid)
        tree = PidNamespace(popen.pid, first)
        return LaunchedJob(
            popen=popen,
            tree=tree,
            forget=tree.close_process_handle,
            network=tree.wait_for_enterable_process,
        )


class PidNamespace:
    """The processes of a sandbox: those below a bwrap process. See `ProcessTree`."""

    def __init__(self, outer: int, first: int | None) -> None:
        """Open handles to a sandbox.

        outer  the id of the bwrap process that coevo started
        first  the id of the first process of the name space, as the host sees it; None if bwrap
               ended before it made the name space
        """
        self._outer = outer
        self._pid = first
        self._guard = threading.Lock()
        self._first = None
        if first is not None:
            with contextlib.suppress(ProcessLookupError):
                self._first = os.pidfd_open(first)

    def measure_usage(self) -> ProcessUsage:
        """Return the CPU time and memory of the sandbox's living processes, with those of bwrap.

        The memory includes an estimate of 1 KiB for each file that the job keeps in memory. See
        `ProcessTree`.
        """
        cpu_seconds, memory_bytes = 0.0, self._count_files_in_memory() * _FILE_BYTES
        for pid in (self._outer, *list_descendants(self._outer)):
            used, resident = _measure_process(pid)
            cpu_seconds, memory_bytes = cpu_seconds + used, memory_bytes + resident
        return ProcessUsage(cpu_seconds, memory_bytes)

    def _count_files_in_memory(self) -> int:
        """Return the number of files on the job's own file systems; 0 if none can be looked into.

        Nothing else limits that number.
        """
        for pid in self._list_process_ids():
            with contextlib.suppress(OSError):  # it has ended, or may not be looked at
                file_systems = [os.statvfs(f'/proc/{pid}/root{folder}') for folder in _IN_MEMORY]
                return sum(each.f_files - each.f_ffree for each in file_systems)
        return 0

    def _list_process_ids(self) -> Iterator[int]:
        """Yield the id of the sandbox's first process, then those of all processes below it.

        Only root may look into the first one. Nothing is yielded if bwrap made no first process.
        """
        if self._pid is not None:
            yield self._pid
            yield from list_descendants(self._pid)

    def wait_for_enterable_process(self) -> int:
        """Return the id of a process of the job whose name spaces may be entered.

        Waits up to 10 seconds. Raises Transient if there is no such process.
        """
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            for pid in self._list_process_ids():
                with contextlib.suppress(OSError):
                    Path(f'/proc/{pid}/ns/net').readlink()
                    return pid
            time.sleep(_POLL_SECONDS)
        raise Transient('a sandbox does not start, or has ended already')

    def kill(self) -> None:
        """Kill the first process, and return when all processes of its name space have ended.

        The kernel reports the end of the first process only after the end of all others.

        Raises: Transient if they have not ended after 60 seconds.
        """
        with self._guard:
            if self._first is None:
                return
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            poll = select.poll()
            poll.register(self._first, select.POLLIN)
            if not poll.poll(_KILL_SECONDS * 1000):
                raise Transient(f'a sandbox does not end {_KILL_SECONDS} s after SIGKILL')

    def close_process_handle(self) -> None:
        """Close the handle of the first process; called once the job has ended."""
        with self._guard:
            if self._first is not None:
                os.close(self._first)
                self._first = None


def _measure_process(pid: int) -> tuple[float, int]:
    """Return the CPU seconds and resident bytes of a process; zeros if it has ended.

    The CPU time includes that of children that have ended and were waited for. The process's own
    time comes from its CPU clock (clock_getcpuclockid(3)), since many runs are shorter than a tick
    of proc_pid_stat(5). psutil is not used: it would read three files several times a run.
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
    """Yield the ids of the living processes below a process.

    The kernel's lists of children are used where it has them: psutil reads every process of the
    machine, which slows each run down noticeably.
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
    """Yield the ids of the direct children of a process; nothing more once it has ended."""
    threads: tuple[Path, ...] = ()
    with contextlib.suppress(OSError):
        threads = tuple(Path('/proc', str(pid), 'task').iterdir())
    for thread in threads:
        with contextlib.suppress(OSError):
            yield from map(int, (thread / 'children').read_text().split())


def _find_kernel_obstacle() -> str | None:
    """Return which kernel setting forbids user name spaces, with the remedy; None if none does."""
    for setting, bad, good in _KERNEL_SETTINGS:
        with contextlib.suppress(OSError):
            if Path('/proc/sys', setting).read_text().strip() == bad:
                name = setting.replace('/', '.')
                return f'{name} is {bad}; as root: sysctl -w {name}={good}'
    return None


def _start_bwrap(bwrap: str, job: Job, uid: int | None) -> tuple[Popen, int | None]:
    """Start bwrap; return it with the id of the first process of its name space.

    The id is None if bwrap failed before it made the name space.
    """
    reading, writing = os.pipe()
    with os.fdopen(reading) as info:
        with contextlib.ExitStack() as inherited:
            inherited.callback(os.close, writing)
            files = {
                path: inherited.enter_context(_open_memory_file(text))
                for path, text in mounts.make_account_files(mounts.USER_ID).items()
            }
            shell = inherited.enter_context(Path(mounts.SHELL).open('rb')).fileno()
            own = ('--perms', f'{mounts.FIRST_MODE:04o}', '--ro-bind-data', str(shell))
            command = [bwrap, '--info-fd', str(writing)]
            command += _build_command(bwrap, job, files, (*own, mounts.FIRST_PROGRAM))
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
        env={},  # a job could read bwrap's environment in /proc/1/environ
        cwd='/',
        umask=0o022,
        start_new_session=True,
        user=uid,
        group=uid,
        extra_groups=None if uid is None else (),
    )


@contextlib.contextmanager
def _open_memory_file(text: str) -> Iterator[int]:
    """Yield the descriptor of a file in memory that contains `text`."""
    descriptor = os.memfd_create('coevo')
    try:
        os.write(descriptor, text.encode())
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


@functools.cache
def _list_isolation_options(bwrap: str) -> tuple[str, ...]:
    """Return the isolation options of every job; `--disable-userns` only if bwrap has it."""
    done = subprocess.run([bwrap, '--help'], capture_output=True, text=True, check=False)
    disable = ('--disable-userns',) if '--disable-userns' in done.stdout + done.stderr else ()
    identity = str(mounts.USER_ID)
    return (
        *('--unshare-all', '--unshare-user', *disable),
        *('--die-with-parent', '--new-session', '--as-pid-1'),
        *('--cap-drop', 'ALL', '--hostname', mounts.HOST_NAME),
        *('--uid', identity, '--gid', identity),
    )


def _build_command(bwrap: str, job: Job, files: dict[str, int], first: Sequence[str]) -> list[str]:
    """Return bwrap's command line.

    files  descriptors with the contents of account files, by path in the sandbox
    first  options that put the program of the first process into the sandbox
    """
    arguments = [*_list_isolation_options(bwrap), *_list_system_options(files), *first]
    for folder in (WORK_FOLDER, TEMPORARY_FOLDER):
        arguments += ('--size', str(job.limits.disk_bytes), '--tmpfs', folder)
    arguments += ('--dir', HOME)
    for mount in job.all_mounts:
        arguments += ('--ro-bind', str(mount.source), mount.target)
    for folder in (*mounts.HIDDEN, '/dev', '/'):
        arguments += ('--remount-ro', folder)
    for name, value in sorted(job.full_environment.items()):
        arguments += ('--setenv', name, value)
    command = (*mounts.FIRST_PROCESS, *mounts.build_limit_command(job.limits), *job.argv)
    return [*arguments, '--chdir', job.cwd, '--', *command]


def _list_system_options(files: dict[str, int]) -> list[str]:
    arguments = []
    for folder in mounts.list_system_mount_paths():
        arguments += ['--ro-bind', folder, folder]
    for link, target in mounts.list_system_links().items():
        arguments += ['--symlink', target, link]
    for path, descriptor in files.items():
        arguments += ['--perms', '0444', '--ro-bind-data', str(descriptor), path]
    for folder in mounts.HIDDEN:
        arguments += ['--tmpfs', folder]
    shared = str(mounts.SHARED_MEMORY_BYTES)
    return [*arguments, '--proc', '/proc', '--dev', '/dev', '--size', shared, '--tmpfs', '/dev/shm']
