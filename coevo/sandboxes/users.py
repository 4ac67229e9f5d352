"""Users for sandboxes that root starts: each sandbox gets a numeric user of its own.

A user is taken if no account has it, no process runs under it and no other coevo holds its lock;
the kernel then counts each sandbox's processes apart.
"""

from __future__ import annotations

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
class User:
    """A numeric user (and group), and the open lock file that makes it ours."""

    uid: int
    lock: BinaryIO


class Users:
    """The users of one sandbox back end; safe from several threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._free: list[User] = []
        self._all: list[User] = []

    def take(self) -> User:
        """A user that nothing runs under."""
        with self._guard:
            if not self._free:
                user = _claim()
                self._all.append(user)
                return user
            return self._free.pop()

    def give_back(self, user: User) -> None:
        """To be called when no process of the user is left."""
        with self._guard:
            self._free.append(user)

    def close(self) -> None:
        """Let other processes have the users; nothing may run under them any more."""
        with self._guard:
            for user in self._all:
                user.lock.close()
            self._free, self._all = [], []


def _claim() -> User:
    _LOCKS.mkdir(mode=0o700, exist_ok=True)
    accounts = {account.pw_uid for account in pwd.getpwall()}
    for uid in USERS:
        if uid not in accounts:
            lock = _lock(_LOCKS / str(uid))
            if lock is not None and uid not in _running_users():
                return User(uid, lock)
            if lock is not None:
                lock.close()
    raise Transient(f'no user from {USERS.start} to {USERS.stop - 1} is free for a sandbox')


def _lock(path: Path) -> BinaryIO | None:
    file = path.open('wb')
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def _running_users() -> set[int]:
    return {uid for process in psutil.process_iter() for uid in _uids(process)}


def _uids(process: psutil.Process) -> tuple[int, ...]:
    try:
        return tuple(process.uids())
    except psutil.NoSuchProcess:
        return ()
