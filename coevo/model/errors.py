"""The errors that coevo raises on purpose. Any other exception is a bug and keeps its traceback."""

from __future__ import annotations


class Fatal(RuntimeError):
    """Bad input. The message is one sentence that says what to do next; the command ends with
    status 2.
    """


class Transient(RuntimeError):
    """A failure of the machine or a service (network, disk, memory, a daemon): worth another try,
    and never a verdict.
    """


class DamagedSnapshot(Fatal):
    """A snapshot that lacks a file or has an unreadable one; `coevo verify` reports it as a result."""


class UnsoundSnapshot(Fatal):
    """A snapshot that coevo has just made and that does not verify; the command ends with status 1."""
