"""Trouble with files that a person can mend: what the system says of it, in a sentence."""

from __future__ import annotations

import errno
import os

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
    errno.EEXIST: 'something else is there: name another place',
    errno.ELOOP: 'its links lead in a circle: name another place',
    errno.ENAMETOOLONG: 'name a place with a shorter path',
    errno.EMFILE: 'allow more open files (`ulimit -n`), then run the same command again',
    errno.ENFILE: 'close other programs, then run the same command again',
    errno.ENOMEM: 'make room in memory, then run the same command again',
    errno.ENOLCK: 'name a place on a file system that can lock files',
    errno.ESTALE: 'mount it again, then run the same command again',
    errno.ETXTBSY: 'wait until nobody runs it, then run the same command again',
}


def sentence(error: OSError) -> str:
    assert error.errno is not None
    what = 'standard output' if error.filename is None else os.fsdecode(error.filename)
    return f'{what} cannot be used ({os.strerror(error.errno)}); {TROUBLE[error.errno]}'
