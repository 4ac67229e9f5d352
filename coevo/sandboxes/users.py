"""Users for sandboxes that root starts: each sandbox gets a numeric user of its own.

A user is taken if no account has it, no process runs under it and no other coevo holds its lock;
the kernel then counts each sandbox's processes apart.

A killed coevo can leave a bwrap behind: the first process of a name space that bubblewrap 0.8 has just
made waits for a word of the bwrap above it, and for ever if that one is killed. The next coevo ends it.
"""

from __future__ import annotations

import contextlib
import fcntl
import pwd
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import psutil

from coevo.model.errors import Transient

USERS = range(60000, 65000)
_LOCKS = Path('/run/coevo')


@dataclass(frozen=True, slots=True)
class SandboxUser:
    """A numeric user (and group), and the open lock file that makes it ours."""

    uid: int
    lock: BinaryIO


class UserPool:
    """The users of one sandbox back end; safe from several threads."""

    def __init__(self) -> None:
        """Ends what killed coevos have left under users that nobody holds."""
        _end_leftovers()
        self._guard = threading.Lock()
        self._free: list[SandboxUser] = []
        self._all: list[SandboxUser] = []

    def take(self) -> SandboxUser:
        """A user that nothing runs under."""
        with self._guard:
            if not self._free:
                user = _claim_user()
                self._all.append(user)
                return user
            return self._free.pop()

    def give_back(self, user: SandboxUser) -> None:
        """To be called when no process of the user is left."""
        with self._guard:
            self._free.append(user)

    def close(self) -> None:
        """Let other processes have the users; nothing may run under them any more."""
        with self._guard:
            for user in self._all:
                user.lock.close()
            self._free, self._all = [], []


def _end_leftovers() -> None:
    for process in psutil.process_iter():
        uid = _find_leftover_user(process)
        lock = _try_lock(_LOCKS / str(uid)) if uid is not None else None  # own name: a number
        if lock is not None:
            with lock, contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def _find_leftover_user(process: psutil.Process) -> int | None:
    """The user of ours under which a bwrap without a parent runs: a coevo, or a bwrap, is above one in use."""
    try:
        uid = process.uids().real
        orphan = process.ppid() == 1 and process.name() == 'bwrap'
    except psutil.NoSuchProcess:
        return None
    return uid if orphan and uid in USERS and uid not in _list_account_ids() else None


def _list_account_ids() -> set[int]:
    return {account.pw_uid for account in pwd.getpwall()}


def _claim_user() -> SandboxUser:
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
