"""The errors that coevo raises on purpose, and the only place that catches the unexpected ones,
which are bugs.
"""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar


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


# The only place that catches unexpected exceptions, so that a bug ends one unit of work and not the
# run.
#
# A unit is a pair, a task or an attempt. The bug is written to a file for a developer
# (`coevo.storage.bug_records`); the released data does not mention it.

# Error numbers of a machine that has run out of a resource, whichever call failed.
_OF_THE_MACHINE = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
        errno.EROFS,
        errno.ENOMEM,
        errno.EMFILE,
        errno.ENFILE,
        errno.EAGAIN,
    }
)

Result = TypeVar('Result')


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """An unexpected exception that ended a unit of work.

    sentence   its type and message in one line
    traceback  its whole traceback
    """

    sentence: str
    traceback: str


def catch_bug(work: Callable[[], Result]) -> Result | Bug:
    """Return the result of the work, or the bug that ended it.

    Raises: Fatal and Transient as the work raised them; Transient if the machine is out of disk
    space, memory or descriptors. Exceptions that end the process, such as KeyboardInterrupt, pass
    through.
    """
    try:
        return work()
    except (Fatal, Transient):
        raise
    except MemoryError as error:
        raise Transient('there is not enough memory') from error
    except Exception as bug:
        if isinstance(bug, OSError) and bug.errno in _OF_THE_MACHINE:
            raise Transient(str(bug)) from bug
        sentence = traceback.format_exception_only(bug)[-1].strip()
        return Bug(sentence=sentence, traceback=''.join(traceback.format_exception(bug)))
