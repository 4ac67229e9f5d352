"""Where claims are kept: small files that several processes change, one after the other.

A change is a function from what a file holds to what it is to hold, None being no file; it may be
called again where another process was faster. All that is peculiar to a kind of store is here.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

from coevo import durable

Change = Callable[[bytes | None], bytes | None]

_FOLDER = 'claims'


def read(store: Path, name: str) -> bytes | None:
    """What the claim of that name holds."""
    try:
        return _file(store, name).read_bytes()
    except FileNotFoundError:
        return None


def names(store: Path) -> tuple[str, ...]:
    """Of all claims that there are, also of those that hold no more."""
    return tuple(sorted(file.stem for file in (store / _FOLDER).glob('*.json')))


def change(store: Path, name: str, new: Change) -> bytes | None:
    """Change one claim; what it holds then. No other change comes between reading and writing."""
    file = _file(store, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    with (file.parent / 'lock').open('ab') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = read(store, name)
        after = new(before)
        if after is None:
            file.unlink(missing_ok=True)
        elif after != before:
            durable.write(file, [after])
        return after


def _file(store: Path, name: str) -> Path:
    return store / _FOLDER / f'{name}.json'
