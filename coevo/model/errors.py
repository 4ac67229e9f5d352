"""The errors that coevo raises on purpose; anything else is a bug and keeps its traceback."""

from __future__ import annotations


class Fatal(RuntimeError):
    """Bad input: one sentence that says what to do next. The command ends with status 2."""


class Transient(RuntimeError):
    """Trouble of ours (network, disk, memory, a daemon): worth another try, never a verdict."""


class DamagedSnapshot(Fatal):
    """A snapshot of which something is missing or cannot be read: to `coevo verify` an answer."""


class UnsoundSnapshot(Fatal):
    """A snapshot that we made and that does not verify: the command ends with status 1."""
