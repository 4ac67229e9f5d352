"""Files that the testing process has open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def list_open_files(folder: Path) -> list[Path]:
    """Return the files below `folder` that this process has open, those without a name included.

    A count of all descriptors would change when garbage of an earlier test is collected.
    """
    return sorted(target for target in read_descriptors() if target.is_relative_to(folder))


def read_descriptors() -> Iterator[Path]:
    """Yield what each descriptor stands for: a file, or a name such as `pipe:[7]`."""
    for link in Path('/proc/self/fd').iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            yield link.readlink()
