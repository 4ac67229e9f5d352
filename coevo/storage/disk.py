"""Trouble with files that a person can mend: what the system says of it, in a sentence."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

# Anything else that a system call may say is a bug of ours, and keeps its traceback.
TROUBLE = {
    errno.EACCES: 'give yourself the right to it, or name another place',
    errno.EPERM: 'give yourself the right to it, or name another place',
    errno.EROFS: 'name a place that can be written to',
    errno.ENOSPC: 'make room there, then run the same command again',
    errno.EDQUOT: 'make room there, then run the same command again',
    errno.EFBIG: 'allow larger files there, then run the same command again',
    errno.EIO: 'mend the disk, or name another place',
    errno.ENOENT: 'name one that is there',
    errno.ENOTDIR: 'a file stands where a folder has to be: name another place',
    errno.EISDIR: 'a folder stands where a file has to be: name another place',
    errno.EEXIST: 'a file stands where a folder has to be: name another place',
    errno.ELOOP: 'its links lead in a circle: name another place',
    errno.ENAMETOOLONG: 'name a place with a shorter path',
    errno.EMFILE: 'allow more open files (`ulimit -n`), then run the same command again',
    errno.ENFILE: 'close other programs, then run the same command again',
    errno.ENOMEM: 'make room in memory, then run the same command again',
    errno.ENOLCK: 'name a place on a file system that can lock files',
    errno.ESTALE: 'mount it again, then run the same command again',
    errno.ETXTBSY: 'wait until nobody runs it, then run the same command again',
}


# What a disk without room says of a copy names the source first.
_OF_THE_TARGET = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_trouble(error: OSError, words: Sequence[str]) -> bool:
    """Whether a person can mend it, who gave the command those words; else it is a bug of ours.

    What is missing is trouble where the words name it, or something below it; what is there already,
    where it is a file in the place of a folder.
    """
    if error.errno == errno.ENOENT:
        return error.filename is not None and _is_named(os.fsdecode(error.filename), words)
    if error.errno == errno.EEXIST:
        there = Path(os.fsdecode(error.filename or ''))
        return there.exists() and not there.is_dir()
    return error.errno in TROUBLE


def _is_named(path: str, words: Sequence[str]) -> bool:
    given = [Path(part).absolute() for word in words for part in (word, word.partition('=')[2])]
    return any(Path(path).absolute() in (one, *one.parents) for one in given)


def sentence(error: OSError) -> str:
    assert error.errno is not None
    name = error.filename
    if error.errno in _OF_THE_TARGET and error.filename2 is not None:
        name = error.filename2
    what = 'standard output' if name is None else os.fsdecode(name)
    return f'{what} cannot be used ({os.strerror(error.errno)}); {TROUBLE[error.errno]}'
