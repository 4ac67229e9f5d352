"""Folders that an evaluation is going to write to."""

from __future__ import annotations

import tempfile
from pathlib import Path

from coevo.model.errors import Fatal


def check_writable(folder: Path, option: str) -> None:
    """Make the folder; Fatal where nothing can be written, before anything is run for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise Fatal(
            f'{folder} cannot be written to ({error.strerror}); name another {option}'
        ) from None
