"""The one place that catches what nobody foresaw: a bug of ours ends what was in hand, nothing else.

A pair, a task or an attempt is contained. What it met is kept for a person (`coevo.storage.bug_records`);
the data has no word of it.
"""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from coevo.model.errors import Fatal, Transient

# What a machine that is short of something says, whatever was asked of it.
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
    """What a piece of work met that nobody foresaw."""

    sentence: str
    traceback: str


def run_contained(work: Callable[[], Result]) -> Result | Bug:
    """What the work gives, or the bug that ended it.

    Fatal and Transient pass, as does what is meant to end the process. A machine that is short of disk,
    memory or descriptors is Transient.
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
