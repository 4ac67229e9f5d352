"""A program in a sandbox, watched: limits of the whole tree, its noise drained, its end complete."""

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
from dataclasses import dataclass
from typing import BinaryIO, Protocol, Self, cast

from coevo.model.errors import Transient
from coevo.sandboxes.job import Limits
from coevo.sandboxes.spawning import Popen

NOISE_BYTES = 64 * 1024
_SAMPLE_SECONDS = 0.2
_DOZING_SECONDS = 3.0
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What the living processes of a tree have used; CPU with that of their reaped children."""

    cpu_seconds: float = 0.0
    memory_bytes: int = 0


class ProcessTree(Protocol):
    """All processes of one job, as a back end sees them."""

    def measure_usage(self) -> ProcessUsage: ...

    # kills all of them and returns when none is left; may be called at any time, from any thread
    def kill(self) -> None: ...


class JobPaths(Protocol):
    """Where a job sees the sandbox's paths: elsewhere only without isolation."""

    def translate(self, text: str) -> str: ...

    def restore(self, text: str) -> str: ...


class SamePaths:
    """The paths of a real sandbox."""

    def translate(self, text: str) -> str:
        return text

    def restore(self, text: str) -> str:
        return text


@dataclass(frozen=True, slots=True)
class JobView:
    """Where a job sees paths, and who is in its network."""

    paths: JobPaths
    network: Callable[[], int | None]


class Process:
    """A started job; safe from several threads.

    stdin     its standard input
    stdout    its standard output, a raw pipe: who reads must cap what is read
    exceeded  'cpu', 'wall' or 'memory' if it was killed for that limit
    """

    def __init__(
        self,
        popen: Popen,
        tree: ProcessTree,
        limits: Limits,
        ended: Callable[[], None],
        places: JobView,
    ) -> None:
        """Watch over a started process; `ended` is called once, when nothing of it is left."""
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
        self._drain = threading.Thread(target=self._drain_noise, daemon=True)
        self._drain.start()
        threading.Thread(target=self._supervise, daemon=True).start()
        # Only what has ended is collected: its supervisor holds a reference until then. Of a circle
        # of objects that is collected, a pipe might come before its process, and complain.
        weakref.finalize(self, _close_pipes, self.stdin, self.stdout).atexit = False

    def translate_for_job(self, text: str) -> str:
        """A text for the job, with the sandbox's paths as the job sees them.

        The same text, but without isolation, where they lie elsewhere. What stands in the job is
        translated already.
        """
        return self._paths.translate(text)

    def translate_from_job(self, text: str) -> str:
        """A text from the job, with the sandbox's own paths again: undoes `translate_for_job`."""
        return self._paths.restore(text)

    def listen(self) -> socket.socket:
        """A socket that only this job can connect to, on its loopback; Transient if it has ended.

        The job must wait meanwhile.
        """
        return listen_in_network(self._network())

    def get_noise(self) -> str:
        """The last 64 KiB of standard error."""
        if self._over.is_set():
            self._drain.join(timeout=5)
        return bytes(self._noise).decode(errors='replace')

    def get_cpu_seconds(self) -> float:
        """CPU time of the whole tree so far; exact once it has ended by itself or by `kill`."""
        if not self._over.is_set():
            self._sample_usage()
        return self._cpu_seconds

    def poll(self) -> int | None:
        """The exit status if nothing of the job is left, else None."""
        return self._popen.returncode if self._over.is_set() else None

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, 128 + n or -n for signal n; TimeoutError after `timeout` seconds."""
        if not self._over.wait(timeout):
            raise TimeoutError(f'the process still runs after {timeout} seconds')
        if self._bug is not None:
            raise self._bug
        return self._popen.returncode

    def ends_within(self, seconds: float) -> bool:
        """Whether nothing of it is left now, or so many seconds from now."""
        return self._over.wait(seconds)

    def kill(self) -> None:
        """Kill the whole tree; returns when nothing is left."""
        if not self._over.is_set():
            self._tree.kill()
            self._over.wait()
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()

    def pause_watch(self) -> None:
        """Nothing of it is at work: nobody needs to look at its limits until `resume_watch`."""
        self._every = None

    def slow_watch(self) -> None:
        """Nothing of it should be at work, but may be: its limits are looked at seldom until `resume_watch`.

        A look at a JVM of many threads costs a millisecond, five times a second, while others run.
        """
        self._every = _DOZING_SECONDS

    def resume_watch(self) -> None:
        self._every = _SAMPLE_SECONDS
        os.eventfd_write(self._bell, 1)

    def close(self) -> None:
        """Kill, and close the pipes; nobody may be reading."""
        self.kill()
        _close_pipes(self.stdin, self.stdout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _drain_noise(self) -> None:
        stream = cast(BinaryIO, self._popen.stderr)
        with stream:
            while block := os.read(stream.fileno(), _BLOCK):
                self._noise += block
                del self._noise[:-NOISE_BYTES]

    def _supervise(self) -> None:
        try:
            try:
                self._watch()
            except BaseException as bug:  # noqa: BLE001 - `wait` raises it in the caller's thread
                self._bug = bug
                self._tree.kill()
            self._reap()
        finally:
            self._over.set()

    def _watch(self) -> None:
        """Return when the process has ended or was killed for a limit."""
        handle = os.pidfd_open(self._popen.pid)
        try:
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            poll.register(self._bell, select.POLLIN)
            while handle not in dict(poll.poll(self._every and self._every * 1000)):
                self._clear_bell()
                self.exceeded = self._find_exceeded_limit()
                if self.exceeded:
                    self._tree.kill()
                    break
        finally:
            os.close(handle)

    def _clear_bell(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._bell)

    def _reap(self) -> None:
        _, status, used = os.wait4(self._popen.pid, 0)
        self._cpu_seconds = max(self._cpu_seconds, used.ru_utime + used.ru_stime)
        self._tree.kill()
        self._popen.returncode = os.waitstatus_to_exitcode(status)
        self._on_end()

    def _find_exceeded_limit(self) -> str | None:
        memory_bytes = self._sample_usage()
        if self._cpu_seconds > self._limits.cpu_seconds:
            return 'cpu'
        if time.monotonic() - self._started > self._limits.wall_seconds:
            return 'wall'
        return 'memory' if memory_bytes > self._limits.memory_bytes else None

    def _sample_usage(self) -> int:
        usage = self._tree.measure_usage()
        self._cpu_seconds = max(self._cpu_seconds, usage.cpu_seconds)
        return usage.memory_bytes


def _close_pipes(stdin: BinaryIO, stdout: BinaryIO) -> None:
    with contextlib.suppress(BrokenPipeError):
        stdin.close()
    stdout.close()


# A socket that listens inside a sandbox's network and belongs to a process outside of it.
#
# A child enters the network name space, opens the socket there, hands it over and ends: nothing
# of ours stays where a job could find it, and no port of the host is open.

# Prepared as text, since it runs without coevo: setns is not in Python before 3.12, and a process
# with threads may not enter a user name space.
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
    """A listening socket on the loopback of a process's network, of our own network for None."""
    if process is None:
        return socket.create_server(('127.0.0.1', 0), backlog=1)
    # Root is above the name space's owner; anyone else is its owner, once inside.
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
