"""Folders for everything but data: tools, libraries and the work folders of runs."""

from __future__ import annotations

import os
from pathlib import Path

# As root, the sandbox runs as another user, who must be able to reach the mounted files. Root's
# home is closed to that user; the system's own folders are not.
SYSTEM_CACHE = Path('/var/cache/coevo')


def find_cache_folder() -> Path:
    """Return the folder of tools and libraries.

    It is $COEVO_CACHE if that is set, else the system's for root, else the user's.
    """
    named = os.environ.get('COEVO_CACHE')
    if named:
        return Path(named).absolute()  # own name: the user's
    if os.geteuid() == 0:
        return SYSTEM_CACHE
    base = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    return Path(base) / 'coevo'  # own name: the user's


def find_work_root() -> Path:
    """Return the folder under which runs work.

    It is $COEVO_WORK if that is set, else /var/tmp, which is on disk and open to all users.
    """
    return Path(os.environ.get('COEVO_WORK') or '/var/tmp').absolute()  # own name: the user's
