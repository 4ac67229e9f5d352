"""Shared parts of the back ends: the running jobs, the numeric users that jobs run under, and a
trial job.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import shutil
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

import psutil

from coevo.model.errors import Fatal, Transient
from coevo.sandboxes.job import Job, Limits
from coevo.sandboxes.process import JobPaths, JobView, Popen, Process, ProcessTree, SamePaths

# Shared parts of the back ends: the running jobs, and the numeric users that jobs run under.


def _do_nothing() -> None:
    return


def _get_no_process() -> int | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchedJob:
    """A started job: its outer process and all processes below it.

    forget   called once, when no process of the job is left
    paths    see `Process.translate_paths_for_job`
    network  returns the id of a process in the job's network, None for the host's network
    """

    popen: Popen
    tree: ProcessTree
    forget: Callable[[], None] = _do_nothing
    paths: JobPaths = field(default_factory=SamePaths)
    network: Callable[[], int | None] = _get_no_process


Launch = Callable[[Job, int | None], LaunchedJob]


class RunningJobs:
    """The jobs of one open back end; safe from several threads.

    lend_users  whether each job gets a numeric user of its own if coevo runs as root
    """

    def __init__(self, *, lend_users: bool) -> None:
        self._users = UserPool() if lend_users and os.geteuid() == 0 else None
        self._processes: weakref.WeakSet[Process] = weakref.WeakSet()
        self._guard = threading.Lock()
        self._closed = False

    @property
    def uses_other_user(self) -> bool:
        """True if jobs run under another user than coevo does."""
        return self._users is not None

    def start(self, job: Job, launch: Launch) -> Process:
        """Start a job by calling `launch` with the job and its user.

        The user is a numeric user that no process runs under, or None: then the job runs under the
        user of coevo.

        Raises: Transient after `close`, if no user is free, or if the job cannot be started.
        """
        with self._guard:
            if self._closed:
                raise Transient('the sandbox was closed while it was in use')
            process = self._launch_job(job, launch)
            self._processes.add(process)
        return process

    def close(self) -> None:
        """Kill all running jobs. No job can be started afterwards."""
        with self._guard:
            self._closed = True
            for process in list(self._processes):
                process.kill()
            if self._users is not None:
                self._users.close()

    def _launch_job(self, job: Job, launch: Launch) -> Process:
        user = self._users.take() if self._users is not None else None

        def give_user_back() -> None:
            """Make the job's user available again, if it has one."""
            if self._users is not None and user is not None:
                self._users.give_back(user)

        try:
            launched = launch(job, user.uid if user is not None else None)
        except OSError as error:
            give_user_back()
            raise Transient(f'a sandbox could not be started: {error}') from error

        def clean_up() -> None:
            """Let the back end clean up, then make the user available again."""
            launched.forget()
            give_user_back()

        places = JobView(launched.paths, launched.network)
        return Process(launched.popen, launched.tree, job.limits, clean_up, places)


# If root starts sandboxes, each sandbox gets a numeric user of its own, so that the kernel counts
# the processes of each sandbox separately. A user is free if no account has it, no process runs
# under it and no other coevo holds its lock.
#
# A killed coevo can leave a bwrap behind: in bubblewrap 0.8 the first process of a new name space
# waits for a message from the bwrap above it, and waits for ever if that one was killed. The next
# coevo kills such processes.

USERS = range(60000, 65000)
_LOCKS = Path('/run/coevo')


@dataclass(frozen=True, slots=True)
class SandboxUser:
    """A numeric user (and group), and the open lock file that reserves it for this coevo."""

    uid: int
    lock: BinaryIO


class UserPool:
    """The users that one back end has reserved; safe from several threads."""

    def __init__(self) -> None:
        """Start with no user, after killing leftover processes of killed coevos."""
        _kill_leftover_processes()
        self._guard = threading.Lock()
        self._free: list[SandboxUser] = []
        self._all: list[SandboxUser] = []

    def take(self) -> SandboxUser:
        """Return a user that no process runs under. Raises Transient if none is free."""
        with self._guard:
            if not self._free:
                user = _claim_user()
                self._all.append(user)
                return user
            return self._free.pop()

    def give_back(self, user: SandboxUser) -> None:
        """Make a user available again; no process of it may be left."""
        with self._guard:
            self._free.append(user)

    def close(self) -> None:
        """Release all users to other coevos; no process of them may be left."""
        with self._guard:
            for user in self._all:
                user.lock.close()
            self._free, self._all = [], []


def _kill_leftover_processes() -> None:
    """Kill bwrap processes that killed coevos left under users that no coevo has locked."""
    for process in psutil.process_iter():
        uid = _find_leftover_user(process)
        lock = _try_lock(_LOCKS / str(uid)) if uid is not None else None  # own name: a number
        if lock is not None:
            with lock, contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def _find_leftover_user(process: psutil.Process) -> int | None:
    """Return the sandbox user of an orphaned bwrap process; None for all other processes.

    A bwrap in use is not orphaned: its parent is a coevo or another bwrap.
    """
    try:
        uid = process.uids().real
        orphan = process.ppid() == 1 and process.name() == 'bwrap'
    except psutil.NoSuchProcess:
        return None
    return uid if orphan and uid in USERS and uid not in _list_account_ids() else None


def _list_account_ids() -> set[int]:
    return {account.pw_uid for account in pwd.getpwall()}


def _claim_user() -> SandboxUser:
    """Lock and return the first free user. Raises Transient if none is free."""
    accounts = _list_account_ids()
    for uid in USERS:
        if uid not in accounts:
            lock = _try_lock(_LOCKS / str(uid))  # own name: a number
            if lock is not None and uid not in _list_running_users():
                return SandboxUser(uid, lock)
            if lock is not None:
                lock.close()
    raise Transient(f'no user from {USERS.start} to {USERS.stop - 1} is free for a sandbox')


def _try_lock(path: Path) -> BinaryIO | None:
    """Return the open, locked file; None if another process holds the lock."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    file = path.open('wb')
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def _list_running_users() -> set[int]:
    return {uid for process in psutil.process_iter() for uid in _get_uids(process)}


def _get_uids(process: psutil.Process) -> tuple[int, ...]:
    try:
        return tuple(process.uids())
    except psutil.NoSuchProcess:
        return ()


# Find out whether a back end works by running a trial job in it.

_JOB = Job(
    argv=('true',),
    limits=Limits(
        cpu_seconds=10,
        wall_seconds=60,
        memory_bytes=1 << 30,
        processes=16,
        file_bytes=1 << 20,
        disk_bytes=1 << 20,
    ),
)


class _BackEnd(Protocol):
    """The members of `Sandbox` that a trial needs."""

    name: str

    def start(self, job: Job) -> Process:
        """Start a job."""

    def close(self) -> None:
        """Kill all running jobs."""


def find_program(program: str, package: str) -> str:
    """Return the path of a program. Raises Fatal, with the package to install, if it is missing."""
    path = shutil.which(program)
    if path is None:
        raise Fatal(f'{program} was not found; install {package} (apt install {package})')
    return path


def run_trial_job(back_end: _BackEnd, obstacle: Callable[[], str | None] = lambda: None) -> None:
    """Run the trial job `true` in a back end, and return if it succeeds.

    obstacle  called after a failure; returns a known reason for the message, or None

    Raises: Fatal if the job fails; the back end is closed before.
    """
    with back_end.start(_JOB) as process:
        status = process.wait()
        noise = process.get_last_error_output().strip()
    if status:
        back_end.close()
        raise Fatal(f'{back_end.name} cannot start a sandbox: {obstacle() or noise}')
