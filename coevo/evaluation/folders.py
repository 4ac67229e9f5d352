"""The check of folders that an evaluation is going to write to."""

from __future__ import annotations

import tempfile
from pathlib import Path

from coevo.model.errors import Fatal


def check_writable(folder: Path, option: str) -> None:
    """Create a folder, and check that files can be written to it, before anything is run.

    Raises: Fatal if it cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise Fatal(
            f'{folder} cannot be written to ({error.strerror}); name another {option}'
        ) from None
