"""New folders that are there whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.storage import durable


def require_new(out: Path) -> None:
    """Raise Fatal if there is a file, folder or link at a path."""
    if out.exists() or out.is_symlink():
        raise Fatal(f'{out} already exists; name a new folder with --out')


@contextmanager
def build_new_folder(out: Path) -> Iterator[Path]:
    """Provide a folder to fill, which is renamed to `out` at the end, unless something is raised.

    Raises: Fatal if `out` exists.
    """
    require_new(out)
    target = out.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f'.{target.name}{durable.UNFINISHED}', dir=target.parent
    ) as scratch:
        new = Path(scratch) / 'new'
        new.mkdir()
        yield new
        durable.sync_tree_to_disk(new)
        require_new(out)
        new.rename(target)
        durable.sync_to_disk(target.parent)
