"""A claim on something (a repository, a run) that holds for as long as its owner says that it lives.

A claim ends when it is released, when its owner has not renewed it for the length of its lease, or at
once when its owner was a process of this machine that is gone. A claim keeps machines from doing
work twice; what they write does not rest on it: a store's segments are the same whoever writes them.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace
from datetime import UTC
from datetime import datetime
from functools import cache
from pathlib import Path
from urllib.parse import quote

from coevo import codec
from flows import claim_files

# A missed heartbeat or two, of a machine that is busy or a store that is slow, cost nobody the claim.
LEASE_SECONDS = 90.0
HEARTBEAT_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Who has claimed something, and when that was last said.

    token    tells this claim from each other one, also of the same owner
    machine  the kernel and its name space of process ids
    pid      of the owner there, which began at the tick `started` of that machine
    beat     in UTC, by the clock of the owner's machine
    """

    token: str
    machine: str
    pid: int
    started: int
    beat: datetime
    lease_seconds: float

    def holds(self, now: datetime) -> bool:
        """Whether the owner still lives, for all we know."""
        if self.machine == _machine() and _start_of(self.pid) != self.started:
            return False
        # either way: a clock that was set back must not make a claim eternal
        return abs((now - self.beat).total_seconds()) <= self.lease_seconds


def of_repository(repo: str) -> str:
    """The name of the claim on a repository."""
    return '+'.join(quote(part, safe='') for part in repo.split('/'))


def of_run(run_id: str) -> str:
    """The name of the claim by which a flow run says that it lives."""
    return f'run-{run_id}'


def take(store: Path, name: str, *, lease_seconds: float = LEASE_SECONDS) -> Claim | None:
    """Claim something; None if somebody else has done so."""
    mine = _new(lease_seconds)

    def claim(before: bytes | None) -> bytes | None:
        return before if _holds(before) else codec.encode(mine)

    return mine if _is(mine, claim_files.change(store, name, claim)) else None


def claimed_by(store: Path, name: str) -> Claim | None:
    """The claim on something, if it holds."""
    data = claim_files.read(store, name)
    return codec.decode(Claim, data) if data is not None and _holds(data) else None


def renew(store: Path, name: str, claim: Claim) -> bool:
    """Say that the owner lives; False if the claim has gone to somebody else."""

    def beat(before: bytes | None) -> bytes | None:
        return codec.encode(replace(claim, beat=_now())) if _is(claim, before) else before

    return _is(claim, claim_files.change(store, name, beat))


def release(store: Path, name: str, claim: Claim) -> None:
    """Give a claim back, unless it has gone to somebody else."""
    claim_files.change(store, name, lambda before: None if _is(claim, before) else before)


def sweep(store: Path) -> None:
    """Remove the claims that hold no more: nobody asks again for that of a run that is over."""
    for name in claim_files.names(store):
        claim_files.change(store, name, lambda before: before if _holds(before) else None)


@contextmanager
def held(store: Path, name: str, lost: Callable[[], None]) -> Iterator[bool]:
    """Claim something and renew the claim until the block ends; `lost` is called if that fails.

    False if somebody else has it: then nothing is renewed or released.
    """
    claim = take(store, name)
    if claim is None:
        yield False
        return
    over = threading.Event()

    def beat() -> None:
        while not over.wait(HEARTBEAT_SECONDS):
            if not renew(store, name, claim):
                lost()
                return

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield True
    finally:
        over.set()
        thread.join()
        release(store, name, claim)


def _holds(data: bytes | None) -> bool:
    return data is not None and codec.decode(Claim, data).holds(_now())


def _is(claim: Claim, data: bytes | None) -> bool:
    return data is not None and codec.decode(Claim, data).token == claim.token


def _new(lease_seconds: float) -> Claim:
    started = _start_of(os.getpid())
    assert started is not None
    return Claim(
        token=uuid.uuid4().hex,
        machine=_machine(),
        pid=os.getpid(),
        started=started,
        beat=_now(),
        lease_seconds=lease_seconds,
    )


def _start_of(pid: int) -> int | None:
    """When a process began, in ticks since the boot, which no clock changes; None if it is over."""
    try:
        stat = Path(f'/proc/{pid}/stat').read_text(errors='replace')
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *fields = stat.rpartition(')')[2].split()  # proc(5): the 3rd field and those after it
    return None if state in 'ZX' else int(fields[18])


@cache
def _machine() -> str:
    boot = Path('/proc/sys/kernel/random/boot_id').read_text().strip()
    return f'{boot} {Path("/proc/self/ns/pid").readlink()}'


def _now() -> datetime:
    return datetime.now(tz=UTC)
