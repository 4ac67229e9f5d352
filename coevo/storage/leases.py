"""Leases: what one process holds until it gives it back, or shows no life for a while.

A lease is a small file of a `Place`, changed by exchange alone. Its age is the place's own time,
asked by writing a file beside it, so that clocks of machines do not matter. Who holds it measures
from before the request that renewed it, hence knows that it is over before others can take it.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from types import TracebackType
from typing import Self

from coevo.model import codec
from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from coevo.storage.place import Place

SECONDS = 60.0
# Renewed so many times within its time, so that one lost request does no harm.
_RENEWALS = 4
# Object stores tell times in whole seconds.
_GRAIN = 1.0


def this_process() -> str:
    return f'{socket.gethostname()}:{os.getpid()}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Whom a lease is for, in words for people and reapers, and how long it lives unrenewed."""

    owner: str = field(default_factory=this_process)
    seconds: float = field(default_factory=lambda: SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """What stands in a lease's file; without an owner it was given back."""

    owner: str | None
    token: str
    seconds: float
    renewals: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseStanding:
    """A lease as others see it; `age` in seconds since it was renewed."""

    name: str
    holder: Holder
    age: float

    @property
    def left(self) -> float:
        """Seconds until another one may take it; below 0 where it is free."""
        if self.holder.owner is None:
            return -1.0
        return self.holder.seconds + _GRAIN - self.age


class Taken(Exception):
    """Somebody holds it."""

    def __init__(self, standing: LeaseStanding) -> None:
        self.standing = standing
        super().__init__(
            f'held by {standing.holder.owner}, last heard of {max(0, standing.age):.0f} s ago'
        )


class LeaseLost(Transient):
    """Somebody else may hold by now what this process held."""


class Lease:
    """A lease that is held; within `with` it is renewed by a thread, and given back in the end."""

    def __init__(self, place: Place, name: str, holder: Holder, version: str, since: float) -> None:
        self._place, self._name = place, name
        self._holder, self._version, self._since = holder, version, since
        self._trouble: str | None = None
        self._mutex = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f'lease {name}', daemon=True)

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
        self._give_back()

    def check(self) -> None:
        """LeaseLost if it was taken, or could not be renewed in time. Asks nobody."""
        if self._trouble is None and _elapsed() - self._since > self._holder.seconds:
            self._trouble = 'it could not be renewed in time'
        if self._trouble is not None:
            raise LeaseLost(f'{self._place.shown(self._name)} is no longer held: {self._trouble}')

    def confirm(self) -> None:
        """Renew it now; LeaseLost, or Transient if the place does not answer."""
        with self._mutex:
            self.check()
            since = _elapsed()
            holder = replace(self._holder, renewals=self._holder.renewals + 1)
            version = self._place.exchange(self._name, codec.encode(holder), self._version)
            if version is None:
                self._trouble = 'another process took it over'
            else:
                self._holder, self._version, self._since = holder, version, since
            self.check()

    def _beat(self) -> None:
        while not self._over.wait(self._holder.seconds / _RENEWALS):
            try:
                self.confirm()
            except LeaseLost:
                return
            except Transient:
                continue  # until its time is over
            except Fatal as error:
                self._trouble = str(error)
                return

    def _give_back(self) -> None:
        """Nobody need wait; where that fails they have to."""
        if self._trouble is None:
            free = replace(self._holder, owner=None)
            try:
                self._place.exchange(self._name, codec.encode(free), self._version)
            except (Transient, Fatal):
                return


def take(place: Place, name: str, terms: Terms) -> Lease:
    """Take a lease that is free or over; Taken at once if it is not."""
    found = place.read(name)
    if found is not None:
        standing = _standing(place, name, found.data, found.modified)
        if standing.left >= 0:
            raise Taken(standing)
    since = _elapsed()
    holder = Holder(owner=terms.owner, token=secrets.token_hex(8), seconds=terms.seconds)
    version = place.exchange(name, codec.encode(holder), found.version if found else None)
    if version is None:
        return take(place, name, terms)  # somebody was quicker: who?
    return Lease(place, name, holder, version, since)


def take_when_over(place: Place, name: str, terms: Terms) -> Lease:
    """The same, but wait for a holder that may be dead; Taken as soon as it shows life."""
    first: Holder | None = None
    while True:
        try:
            return take(place, name, terms)
        except Taken as taken:
            if first is not None and taken.standing.holder != first:
                raise
            first = taken.standing.holder
            time.sleep(min(taken.standing.left + 0.01, first.seconds / _RENEWALS))


def standings(place: Place, folder: str) -> tuple[LeaseStanding, ...]:
    """All leases right below a folder that somebody holds, or held when he was last heard of."""
    found = []
    for entry in place.entries(folder):
        content = None if entry.name.endswith(_CLOCK) else place.read(entry.name)
        if content is not None:
            found.append(_standing(place, entry.name, content.data, content.modified))
    return tuple(one for one in found if one.holder.owner is not None)


_CLOCK = '.clock'


def _standing(place: Place, name: str, data: bytes, modified: int) -> LeaseStanding:
    holder = codec.decode(Holder, data)
    age = 0.0 if holder.owner is None else (_now(place, f'{name}{_CLOCK}') - modified) / 1e9
    return LeaseStanding(name=name, holder=holder, age=age)


def _now(place: Place, name: str) -> int:
    """The place's time, at the earliest when this was called."""
    found = None
    while found is None:  # another one that asked may have removed it
        place.write(name, b'')
        found = place.read(name)
    place.remove([name])
    return found.modified


def _elapsed() -> float:
    """Seconds, those that the machine slept among them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
