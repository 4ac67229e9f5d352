"""A process in a sandbox: enforces limits of its whole tree, drains stderr and reports its end."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import BinaryIO, Protocol, Self, cast

from coevo.model.errors import Transient
from coevo.sandboxes.job import Limits

# Start processes from one thread that lives as long as coevo.
#
# "Die with parent" (PR_SET_PDEATHSIG) refers to the thread that forked, not to the process: a
# sandbox that a worker thread started would be killed as soon as that thread ends.

_threads: list[ThreadPoolExecutor] = []


def _renew_executor() -> None:
    _threads[:] = [ThreadPoolExecutor(max_workers=1, thread_name_prefix='coevo-spawner')]


_renew_executor()
# A forked process inherits the executor object but not its thread.
os.register_at_fork(after_in_child=_renew_executor)

Popen = subprocess.Popen[bytes]


def spawn(start: Callable[[], Popen]) -> Popen:
    """Call `start` in the spawning thread; return its result or raise its error."""
    return _threads[0].submit(start).result()


NOISE_BYTES = 64 * 1024
_SAMPLE_SECONDS = 0.2
_DOZING_SECONDS = 3.0
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """Resources that the living processes of a tree have used.

    cpu_seconds   user and system time, with that of children that have ended and were waited for
    memory_bytes  resident memory
    """

    cpu_seconds: float = 0.0
    memory_bytes: int = 0


class ProcessTree(Protocol):
    """All processes of one job, as a back end sees them."""

    def measure_usage(self) -> ProcessUsage:
        """Return the resources that the living processes have used."""

    def kill(self) -> None:
        """Kill all processes and return when none is left.

        May be called at any time and from any thread.
        """


class JobPaths(Protocol):
    """The mapping between sandbox paths and paths as a job sees them.

    The two differ only in the back end without isolation.
    """

    def translate(self, text: str) -> str:
        """Return the text with sandbox paths replaced by paths as the job sees them."""

    def restore(self, text: str) -> str:
        """Return the text with paths as the job sees them replaced by sandbox paths."""


class SamePaths:
    """The identity mapping, for back ends whose jobs see the sandbox's own paths."""

    def translate(self, text: str) -> str:
        """Return the text unchanged."""
        return text

    def restore(self, text: str) -> str:
        """Return the text unchanged."""
        return text


@dataclass(frozen=True, slots=True)
class JobView:
    """A job's view of its surroundings.

    paths    the mapping of its paths
    network  returns the id of a process in the job's network, None for the host's network
    """

    paths: JobPaths
    network: Callable[[], int | None]


class Process:
    """A started job; safe from several threads.

    stdin     its standard input
    stdout    its standard output, a raw pipe: a reader must limit how much it reads
    exceeded  'cpu', 'wall' or 'memory' if the job was killed for that limit, else None
    """

    def __init__(
        self,
        popen: Popen,
        tree: ProcessTree,
        limits: Limits,
        ended: Callable[[], None],
        places: JobView,
    ) -> None:
        """Supervise a started process.

        ended   called once, when no process of the job is left
        places  how the job sees paths and its network
        """
        self.stdin = cast(BinaryIO, popen.stdin)
        self.stdout = cast(BinaryIO, popen.stdout)
        self.exceeded: str | None = None
        self._popen, self._tree, self._limits, self._on_end = popen, tree, limits, ended
        self._paths, self._network = places.paths, places.network
        self._started = time.monotonic()
        self._cpu_seconds = 0.0
        self._bug: BaseException | None = None
        self._noise = bytearray()
        self._over = threading.Event()
        self._every: float | None = _SAMPLE_SECONDS
        self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        weakref.finalize(self, os.close, self._bell).atexit = False
        self._drain = threading.Thread(target=self._collect_error_output, daemon=True)
        self._drain.start()
        threading.Thread(target=self._supervise, daemon=True).start()
        # The supervisor thread holds a reference until the job has ended, so only an ended process
        # is collected. The pipes are closed by a finalizer: in a cycle of objects a pipe might be
        # collected before its Popen, which gives a warning.
        weakref.finalize(self, _close_pipes, self.stdin, self.stdout).atexit = False

    def translate_paths_for_job(self, text: str) -> str:
        """Return a text with sandbox paths replaced by the paths that the job sees.

        It changes a text only without isolation, where files lie elsewhere. The job's command and
        environment are translated already.
        """
        return self._paths.translate(text)

    def translate_paths_from_job(self, text: str) -> str:
        """Return a text with the paths that the job sees replaced by sandbox paths.

        It is the reverse of `translate_paths_for_job`.
        """
        return self._paths.restore(text)

    def listen(self) -> socket.socket:
        """Return a listening socket on the job's loopback, to which only this job can connect.

        The job must be kept waiting until this returns. Without isolation the socket is on the
        host's loopback.

        Raises: Transient if the job has ended or its network cannot be entered.
        """
        return listen_in_network(self._network())

    def get_last_error_output(self) -> str:
        """Return the last 64 KiB of standard error as text."""
        if self._over.is_set():
            self._drain.join(timeout=5)
        return bytes(self._noise).decode(errors='replace')

    def get_cpu_seconds(self) -> float:
        """Return the CPU time of the whole tree so far, in seconds.

        It is exact once the job has ended by itself or by `kill`.
        """
        if not self._over.is_set():
            self._sample_usage_and_get_memory_bytes()
        return self._cpu_seconds

    def poll(self) -> int | None:
        """Return the exit status if no process of the job is left, else None."""
        return self._popen.returncode if self._over.is_set() else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the job and return its exit status.

        A job that was ended by signal n gives -n, or 128 + n from its shell.

        Raises: TimeoutError after `timeout` seconds; an error of the supervision, if there was one.
        """
        if not self._over.wait(timeout):
            raise TimeoutError(f'the process still runs after {timeout} seconds')
        if self._bug is not None:
            raise self._bug
        return self._popen.returncode

    def ends_within(self, seconds: float) -> bool:
        """Wait up to that many seconds and return whether the job has ended completely."""
        return self._over.wait(seconds)

    def kill(self) -> None:
        """Kill the whole tree, and return when no process is left.

        The job's standard input is closed, too.
        """
        if not self._over.is_set():
            self._tree.kill()
            self._over.wait()
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()

    def pause_sampling_and_limits(self) -> None:
        """Stop sampling usage until `resume_sampling_and_limits`; meanwhile no limit of the job is enforced.

        Meant for a time in which no process of the job is working.
        """
        self._every = None

    def sample_usage_rarely(self) -> None:
        """Sample usage only every 3 seconds until `resume_sampling_and_limits`.

        Meant for a job that should be idle, but may not be. Sampling a JVM with many threads costs
        a millisecond, and would happen five times a second while other jobs run.
        """
        self._every = _DOZING_SECONDS

    def resume_sampling_and_limits(self) -> None:
        """Sample usage five times a second again, starting now."""
        self._every = _SAMPLE_SECONDS
        os.eventfd_write(self._bell, 1)

    def close(self) -> None:
        """Kill the job and close its pipes; no thread may be reading from them."""
        self.kill()
        _close_pipes(self.stdin, self.stdout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _collect_error_output(self) -> None:
        stream = cast(BinaryIO, self._popen.stderr)
        with stream:
            while block := os.read(stream.fileno(), _BLOCK):
                self._noise += block
                del self._noise[:-NOISE_BYTES]

    def _supervise(self) -> None:
        """Watch the job, wait for its end, and report both an end and an unexpected error."""
        try:
            try:
                self._enforce_limits_until_end()
            except BaseException as bug:  # noqa: BLE001 - `wait` raises it in the caller's thread
                self._bug = bug
                self._tree.kill()
            self._reap()
        finally:
            self._over.set()

    def _enforce_limits_until_end(self) -> None:
        """Return when the process has ended or was killed for exceeding a limit."""
        handle = os.pidfd_open(self._popen.pid)
        try:
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            poll.register(self._bell, select.POLLIN)
            while handle not in dict(poll.poll(self._every and self._every * 1000)):
                self._clear_wake_event()
                self.exceeded = self._find_exceeded_limit()
                if self.exceeded:
                    self._tree.kill()
                    break
        finally:
            os.close(handle)

    def _clear_wake_event(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._bell)

    def _reap(self) -> None:
        """Wait for the outer process, add its final CPU time, and kill what is left of the tree."""
        _, status, used = os.wait4(self._popen.pid, 0)
        self._cpu_seconds = max(self._cpu_seconds, used.ru_utime + used.ru_stime)
        self._tree.kill()
        self._popen.returncode = os.waitstatus_to_exitcode(status)
        self._on_end()

    def _find_exceeded_limit(self) -> str | None:
        """Return 'cpu', 'wall' or 'memory' if the job exceeds that limit now, else None."""
        memory_bytes = self._sample_usage_and_get_memory_bytes()
        if self._cpu_seconds > self._limits.cpu_seconds:
            return 'cpu'
        if time.monotonic() - self._started > self._limits.wall_seconds:
            return 'wall'
        return 'memory' if memory_bytes > self._limits.memory_bytes else None

    def _sample_usage_and_get_memory_bytes(self) -> int:
        usage = self._tree.measure_usage()
        self._cpu_seconds = max(self._cpu_seconds, usage.cpu_seconds)
        return usage.memory_bytes


def _close_pipes(stdin: BinaryIO, stdout: BinaryIO) -> None:
    with contextlib.suppress(BrokenPipeError):
        stdin.close()
    stdout.close()


# `listen_in_network` opens a socket that listens inside a sandbox's network but belongs to a
# process outside of it. A child process enters the network name space, opens the socket, sends it
# to coevo and ends. So no process of coevo stays where a job could find it, and no port of the host
# is opened.
#
# The child's program is text and needs no coevo. It must be a process of its own: Python has setns
# only from 3.12 on, and a process with threads may not enter a user name space.
_ENTER = """
import array, ctypes, errno, os, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
for descriptor in map(int, sys.argv[2:]):
    if libc.setns(descriptor, 0):
        sys.exit(os.strerror(ctypes.get_errno()))
server, deadline = socket.socket(), time.monotonic() + 10
while True:
    try:
        server.bind(('127.0.0.1', 0))
        break
    except OSError as error:
        if error.errno != errno.EADDRNOTAVAIL or time.monotonic() > deadline:
            raise
        time.sleep(0.01)
server.listen(1)
socket.send_fds(socket.socket(fileno=int(sys.argv[1])), [b'x'], [server.fileno()])
"""


def listen_in_network(process: int | None) -> socket.socket:
    """Return a listening socket on the loopback of the network that a process is in.

    process  a process id; None means coevo's own network

    Raises: Transient if the network cannot be entered, such as after the end of the process.
    """
    if process is None:
        return socket.create_server(('127.0.0.1', 0), backlog=1)
    # Root has all rights in the network name space. Any other user gets them as its owner, and must
    # enter the user name space first.
    kinds = ('net',) if os.geteuid() == 0 else ('user', 'net')
    ours, theirs = socket.socketpair()
    spaces: list[int] = []
    with ours, theirs:
        try:
            spaces += [os.open(f'/proc/{process}/ns/{kind}', os.O_RDONLY) for kind in kinds]
            numbers = (theirs.fileno(), *spaces)
            done = subprocess.run(
                [sys.executable, '-I', '-S', '-c', _ENTER, *map(str, numbers)],
                pass_fds=numbers,
                capture_output=True,
                text=True,
                check=False,
            )
            theirs.close()
            _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        except OSError as error:
            raise Transient(f"the sandbox's network cannot be entered: {error}") from error
        finally:
            for space in spaces:
                os.close(space)
        if not descriptors:
            raise Transient(f"the sandbox's network cannot be entered: {done.stderr.strip()}")
        return socket.socket(fileno=descriptors[0])
