"""The folder that an edition is filled into: what it holds, and how it gets its next state."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.manifests import PARTIAL
from coevo.snapshots.snapshot import load_manifest
from coevo.storage import durable
from coevo.storage.sole_use import NAME as LOCK, lock_for_sole_use_or_refuse


@dataclass(slots=True)
class FolderExchange:
    """The next state of a folder, which replaces the folder only if it is accepted.

    new  where the next state is to be written; the folder does not exist yet
    """

    new: Path
    accepted: bool = field(default=False, init=False)

    def accept(self) -> None:
        """Let the new folder replace the old one at the end."""
        self.accepted = True


@contextmanager
def exchange_folder(out: Path) -> Iterator[FolderExchange]:
    """Provide a new folder beside `out` that replaces it whole, or not at all.

    Of two processes the second gets an error. What a killed process left is put right first: an
    unfinished folder is removed, and one that was moved aside is moved back.

    Raises: Fatal if another process fills the folder.
    """
    out = out.absolute()
    scratch = out.with_name(
        f'.{out.name}{durable.UNFINISHED}texts'
    )  # own name: that of the user's folder
    before, new = scratch / 'before', scratch / 'snapshot'
    out.parent.mkdir(parents=True, exist_ok=True)
    with lock_for_sole_use_or_refuse(scratch):
        if before.is_dir() and not out.exists():
            before.rename(out)
        for left in (before, new):
            shutil.rmtree(left, ignore_errors=True)
        exchange = FolderExchange(new)
        try:
            with _name_folder_in_errors(out, scratch):
                yield exchange
            if exchange.accepted:
                _replace_folder(new, out, before)
        finally:
            for left in (before, new):
                shutil.rmtree(left, ignore_errors=True)
            _remove_lock(scratch)


def _remove_lock(scratch: Path) -> None:
    """Remove the held lock and its folder, which stays if another process wants it already."""
    (scratch / LOCK).unlink(missing_ok=True)
    with suppress(OSError):
        scratch.rmdir()


@contextmanager
def _name_folder_in_errors(out: Path, scratch: Path) -> Iterator[None]:
    """Make an OSError of the block name the user's folder `out` instead of a file in `scratch`.

    An error that names only other files stays as it is. The error is raised in any case.
    """
    try:
        yield
    except OSError as error:
        names = [error.filename, error.filename2]
        if not any(names) or any(str(scratch) in str(name) for name in names):
            error.filename, error.filename2 = str(out), None
        raise


def _replace_folder(new: Path, out: Path, before: Path) -> None:
    durable.sync_tree_to_disk(new)
    try:
        if out.exists():
            out.rename(before)
        new.rename(out)
    finally:
        # Also after an interrupt: the folder beside it is removed, with all that is left there.
        if before.is_dir() and not out.exists():
            before.rename(out)
    durable.sync_to_disk(out.parent)


def choose_base(edition: Path, content: Mapping[str, Any], out: Path) -> Path | None:
    """Return the folder from which filling starts: the edition, or a partly filled `out`.

    content  the edition's manifest

    Returns None if `out` holds the whole release already. Raises: Fatal if it holds anything else.
    """
    if not out.exists() and not out.is_symlink():
        return edition
    release = content['edition']['manifest_sha256']
    if not (out / MANIFEST).is_file():
        raise Fatal(f'{out} is there already and is no snapshot; name a folder that is not')
    if hashlib.sha256((out / MANIFEST).read_bytes()).hexdigest() == release:
        return None
    try:
        filled = load_manifest(out)
    except DamagedSnapshot:
        filled = {}
    about = filled.get('edition') or {}
    if about.get('kind') != PARTIAL or about.get('manifest_sha256') != release:
        raise Fatal(
            f'{out} is there already and was not filled from this edition; name another folder'
        )
    _refuse_foreign_entries(out, filled)
    return out


def _refuse_foreign_entries(folder: Path, content: Mapping[str, Any]) -> None:
    """Raise Fatal if a filled folder has something of the user's, which filling would remove."""
    own = {MANIFEST, *(name.partition('/')[0] for name in content['files'])}
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in own)
    if foreign:
        raise Fatal(
            f'{folder} has {foreign[0]}, which is no part of the snapshot and would be lost; move it '
            'out of the folder'
        )
