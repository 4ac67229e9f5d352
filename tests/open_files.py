"""Files that the testing process has open."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def list_open_files(folder: Path) -> list[Path]:
    """Return the files below `folder` that this process has open, those without a name included.

    A count of all descriptors would change when garbage of an earlier test is collected.
    """
    targets: list[Path] = []
    for link in Path('/proc/self/fd').iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            targets.append(link.readlink())
    return sorted(target for target in targets if target.is_relative_to(folder))
