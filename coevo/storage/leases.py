"""Leases: locks that end when their holder releases them or stops renewing them.

A lease is a small file of a `StoragePlace`, changed only by conditional writes. Its age is measured
by the place's own clock, which is read by writing a file beside it, so the clocks of machines do
not matter. The holder measures from before the request that renewed the lease, and therefore knows
that it has expired before others can take it.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from coevo.model import codec
from coevo.model.errors import Fatal, Transient
from coevo.storage.place import StoragePlace

SECONDS = 60.0
# Renewals per lifetime, so that one lost request does no harm.
_RENEWALS = 4
# Seconds of tolerance, since object stores report times in whole seconds.
_GRAIN = 1.0


def name_this_process() -> str:
    """Return `host:pid` of this process."""
    return f'{socket.gethostname()}:{os.getpid()}'


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTerms:
    """The terms of a lease.

    owner    holder, in words for people and clean-up jobs
    seconds  lifetime without renewal
    """

    owner: str = field(default_factory=name_this_process)
    seconds: float = field(default_factory=lambda: SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseHolder:
    """The content of a lease's file; `owner` is None after it was released."""

    owner: str | None
    token: str
    seconds: float
    renewals: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseState:
    """A lease as other processes see it; `age` is the time in seconds since the last renewal."""

    name: str
    holder: LeaseHolder
    age: float

    @property
    def seconds_left(self) -> float:
        """Seconds until another process may take the lease; negative if it is free."""
        if self.holder.owner is None:
            return -1.0
        return self.holder.seconds + _GRAIN - self.age


class LeaseTaken(Exception):
    """Another process holds the lease."""

    def __init__(self, standing: LeaseState) -> None:
        self.standing = standing
        super().__init__(
            f'held by {standing.holder.owner}, last heard of {max(0, standing.age):.0f} s ago'
        )


class LeaseLost(Transient):
    """The lease expired or was taken, so another process may hold it."""


class Lease:
    """A lease that this process holds. Within `with`, a thread renews it; the end releases it."""

    def __init__(
        self, place: StoragePlace, name: str, holder: LeaseHolder, version: str, since: float
    ) -> None:
        self._place, self._name = place, name
        self._holder, self._version, self._since = holder, version, since
        self._trouble: str | None = None
        self._mutex = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(
            target=self._renew_until_over, name=f'lease {name}', daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        self._release_early()

    def check_held(self) -> None:
        """Check the lease without contacting the place.

        Raises: LeaseLost if it was taken, or could not be renewed in time.
        """
        if self._trouble is None and _read_boot_clock() - self._since > self._holder.seconds:
            self._trouble = 'it could not be renewed in time'
        if self._trouble is not None:
            raise LeaseLost(
                f'{self._place.describe(self._name)} is no longer held: {self._trouble}'
            )

    def confirm_held(self) -> None:
        """Renew the lease now.

        Raises: LeaseLost if it was taken; Transient if the place does not answer.
        """
        with self._mutex:
            self.check_held()
            since = _read_boot_clock()
            holder = replace(self._holder, renewals=self._holder.renewals + 1)
            version = self._place.write_if_unchanged(
                self._name, codec.encode_record(holder), self._version
            )
            if version is None:
                self._trouble = 'another process took it over'
            else:
                self._holder, self._version, self._since = holder, version, since
            self.check_held()

    def _renew_until_over(self) -> None:
        while not self._over.wait(self._holder.seconds / _RENEWALS):
            try:
                self.confirm_held()
            except LeaseLost:
                return
            except Transient:
                continue  # retry until the lease expires
            except Fatal as error:
                self._trouble = str(error)
                return

    def _release_early(self) -> None:
        """Release the lease early; on failure, others wait until it expires."""
        if self._trouble is None:
            free = replace(self._holder, owner=None)
            try:
                self._place.write_if_unchanged(self._name, codec.encode_record(free), self._version)
            except (Transient, Fatal):
                return


def take_lease(place: StoragePlace, name: str, terms: LeaseTerms) -> Lease:
    """Take a lease that is free or has expired.

    Raises: LeaseTaken at once if another process holds it.
    """
    file = place.read(name)
    if file is not None:
        standing = _build_lease_state(place, name, file.data, file.modified)
        if standing.seconds_left >= 0:
            raise LeaseTaken(standing)
    since = _read_boot_clock()
    holder = LeaseHolder(owner=terms.owner, token=secrets.token_hex(8), seconds=terms.seconds)
    version = place.write_if_unchanged(
        name, codec.encode_record(holder), file.version if file else None
    )
    if version is None:
        return take_lease(place, name, terms)  # another process was faster: find out which
    return Lease(place, name, holder, version, since)


def take_lease_unless_renewed(place: StoragePlace, name: str, terms: LeaseTerms) -> Lease:
    """Take a lease, and wait if its holder may be dead.

    Raises: LeaseTaken as soon as the holder renews it.
    """
    first: LeaseHolder | None = None
    while True:
        try:
            return take_lease(place, name, terms)
        except LeaseTaken as taken:
            if first is not None and taken.standing.holder != first:
                raise
            first = taken.standing.holder
            time.sleep(min(taken.standing.seconds_left + 0.01, first.seconds / _RENEWALS))


def list_unreleased_lease_states(place: StoragePlace, folder: str) -> tuple[LeaseState, ...]:
    """Return the state of all leases below a folder that were not released, even expired ones."""
    states = []
    for entry in place.list_files(folder):
        content = None if entry.name.endswith(_CLOCK) else place.read(entry.name)
        if content is not None:
            states.append(_build_lease_state(place, entry.name, content.data, content.modified))
    return tuple(state for state in states if state.holder.owner is not None)


_CLOCK = '.clock'


def _build_lease_state(place: StoragePlace, name: str, data: bytes, modified: int) -> LeaseState:
    holder = codec.decode_record(LeaseHolder, data)
    age = (
        0.0
        if holder.owner is None
        else (_read_place_nanoseconds(place, f'{name}{_CLOCK}') - modified) / 1e9
    )
    return LeaseState(name=name, holder=holder, age=age)


def _read_place_nanoseconds(place: StoragePlace, name: str) -> int:
    """Return the place's time in nanoseconds, not earlier than this call."""
    clock_file = None
    while clock_file is None:  # another process that reads the clock may have removed it
        place.write_file(name, b'')
        clock_file = place.read(name)
    place.remove_files([name])
    return clock_file.modified


def _read_boot_clock() -> float:
    """Return monotonic seconds that include the time the machine was asleep."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
