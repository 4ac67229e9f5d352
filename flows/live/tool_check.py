"""Check that a worker's machine has Git, a sandbox that starts, and a folder for Prefect."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.sandboxes.probe import find_program
from coevo.sandboxes.sandbox import open_sandbox


def check_tools(sandbox: str) -> None:
    """Raise Fatal, with what to install, if this machine lacks Git or cannot start the sandbox.

    Otherwise every repository that this worker gets would be refused.
    """
    try:
        find_program('git', 'git')
        open_sandbox(sandbox).close()
    except Fatal as error:
        raise Fatal(f'this worker cannot mine: {error}; `coevo doctor` says what it has') from None


def prepare_runner_storage() -> None:
    """Make Prefect's temporary folder, open to workers of all users, unless it exists.

    Raises: Fatal if it is another user's and closed to this one. Prefect would end with a
    traceback, since the first user of a machine makes the folder for himself.
    """
    folder = Path(tempfile.gettempdir()) / 'runner_storage'
    try:
        folder.mkdir()
    except FileExistsError:
        if not os.access(folder, os.W_OK | os.X_OK):
            raise Fatal(
                f"{folder} is another user's: have it removed, or let $TMPDIR name a folder of your own"
            ) from None
    else:
        folder.chmod(0o1777)
