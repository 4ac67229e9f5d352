"""The errors that coevo raises on purpose. Any other exception is a bug and keeps its traceback."""

from __future__ import annotations


class Fatal(RuntimeError):
    """Bad input; the message says what to do next. The command ends with status 2."""


class Transient(RuntimeError):
    """A failure of the machine or a service, such as network, disk, memory or a daemon.

    It is worth another try, and never a verdict about a test.
    """


class DamagedSnapshot(Fatal):
    """A snapshot with a missing or unreadable file. `coevo verify` reports it as a finding."""


class UnsoundSnapshot(Fatal):
    """A snapshot that coevo has just made and that does not verify.

    The command ends with status 1.
    """


class IncompleteMonth(Fatal):
    """A month that is not released, since repositories of its cohort are missing.

    lack  what is missing, as a clause
    """

    def __init__(self, sentence: str, lack: str) -> None:
        super().__init__(sentence)
        self.lack = lack
