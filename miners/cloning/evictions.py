"""Limit the disk space of a store's clones by evicting clones that can be fetched again.

The least recently used go first. Some clones always stay: those whose source is a local folder,
cannot be reached now, or is gone; those in use; and those from which a snapshot has tasks, since
every later release reads them.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from coevo.model.errors import Fatal, Transient
from coevo.storage.clone_folders import load_last_use, lock_if_deserted
from miners.cloning import tombstones
from miners.cloning.mirror_git import count_bytes, list_refs, load_origin
from miners.cloning.remotes import RELEASED, Address, FetchLimits, Remote

_log = logging.getLogger(__name__)


def make_room(clones: Path, limits: FetchLimits, *, needed: int = 0) -> tuple[str, ...]:
    """Evict clones of a folder until they and `needed` bytes fit the limit; return their names.

    The limit is `limits.store_bytes`; nothing happens without one. If not enough can be evicted, a
    warning is logged.
    """
    if limits.store_bytes is None or not clones.is_dir():
        return ()
    left = limits.store_bytes - needed - count_bytes(clones)
    evicted = []
    for git_dir in _list_clones_by_last_use(clones):
        if left >= 0:
            break
        if _evict(git_dir, limits):
            evicted.append(git_dir.stem)
            left = limits.store_bytes - needed - count_bytes(clones)
    if left < 0:
        _log.warning(
            f'the clones in {clones} are {-left:,} bytes above their limit, and none of the others '
            'can be had again now'
        )
    return tuple(evicted)


def _list_clones_by_last_use(clones: Path) -> list[Path]:
    """Return the paths of complete and of unfinished clones, the least recently used first."""
    whole = {path for path in clones.glob('*.git') if not path.name.startswith('.')}
    begun = {path.with_name(path.name[1:].removesuffix('.new')) for path in clones.glob('.*.new')}
    return sorted(whole | begun, key=lambda path: (load_last_use(path), path.name))


def _evict(git_dir: Path, limits: FetchLimits) -> bool:
    """Remove a clone if it can be fetched again; return whether it was removed."""
    with lock_if_deserted(git_dir) as alone:
        if not alone:
            return False
        if git_dir.is_dir():
            try:
                if not _write_tombstone_if_evictable(git_dir, limits):
                    return False
            except (Fatal, Transient):  # gone, unreachable or damaged: this may be the last copy
                return False
            # Rename it first, so that a kill leaves no partial clone under its name.
            git_dir.rename(git_dir.with_name(f'.{git_dir.name}.evicted'))
        for leftover in git_dir.parent.glob(f'.{git_dir.name}.*'):
            shutil.rmtree(leftover)
        return True


def _write_tombstone_if_evictable(git_dir: Path, limits: FetchLimits) -> bool:
    location = load_origin(git_dir)
    if location.startswith('/') or any(ref.startswith(RELEASED) for ref in list_refs(git_dir)):
        return False
    remote = Remote(address=Address(location=location, local=False), limits=limits)
    tombstones.write_tombstone(git_dir, remote.list_refs())
    return True
