"""Limit the disk space of a store's clones: evict what can be fetched again, and leave a tombstone
with its source.
"""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path

from coevo.git.repository import ENVIRONMENT
from coevo.model.errors import Fatal, Transient
from coevo.storage import durable
from coevo.storage.clone_folders import load_last_use_nanoseconds, lock_if_deserted
from miners.cloning.mirror_git import (
    CRAWL,
    count_bytes,
    find_missing_objects,
    list_refs,
    load_origin,
    run_checked_git,
    run_git,
    stream_git,
)
from miners.cloning.remotes import KEPT, RELEASED, Address, AdvertisedRefs, FetchLimits, Remote

_SOURCE, _PACK = 'source.json', 'kept.pack'


def write_tombstone(git_dir: Path, advertised: AdvertisedRefs) -> None:
    """Write a tombstone of a clone that is to be evicted, with all that cannot be fetched again.

    The clone itself stays.

    advertised  the refs that its source has now
    """
    offered = {*advertised.refs.values()}
    kept_oids = sorted({*list_refs(git_dir).values()} - offered)
    lasting = {
        oid
        for ref, oid in advertised.refs.items()
        if ref == advertised.branch or ref.startswith('refs/tags/')
    }
    scratch = git_dir.with_name(f'.{git_dir.name}.remains')
    scratch.mkdir()
    if kept_oids:
        excluded = lasting - find_missing_objects(git_dir, lasting)
        _pack_commits(
            git_dir, scratch / _PACK, [*kept_oids, *(f'^{oid}' for oid in sorted(excluded))]
        )
    if (git_dir / CRAWL).exists():
        durable.write_durably(scratch / CRAWL, [(git_dir / CRAWL).read_bytes()])
    source = json.dumps({'location': load_origin(git_dir), 'kept': kept_oids})
    durable.write_durably(scratch / _SOURCE, [source.encode()])
    scratch.rename(_get_tombstone_folder(git_dir))
    durable.sync_to_disk(git_dir.parent)


def restore_objects_and_describe_losses(
    remote: Remote, git_dir: Path, scratch: Path
) -> tuple[str, ...]:
    """Restore the objects of an evicted clone's tombstone into the new clone.

    Return sentences about commits that are lost. Nothing happens without a tombstone.
    """
    tombstone = _load_tombstone(git_dir)
    if tombstone is None:
        return ()
    _, kept_oids = tombstone
    if (_get_tombstone_folder(git_dir) / CRAWL).exists():
        shutil.copyfile(_get_tombstone_folder(git_dir) / CRAWL, scratch / CRAWL)
    if kept_oids:
        with (_get_tombstone_folder(git_dir) / _PACK).open('rb') as pack:
            stream_git(scratch, 'index-pack', '--stdin', stdin=pack)
    lost = [oid for oid in kept_oids if not _restore_commit(remote, scratch, oid)]
    run_checked_git(scratch, 'pack-refs', '--all')
    return tuple(
        f'{remote.address.redacted_location} has lost what {oid} rests on, which an evicted clone had kept'
        for oid in lost
    )


def load_url_of_evicted_clone(git_dir: Path) -> str | None:
    """Return the address from which an evicted clone can be fetched again.

    None if there is no tombstone.
    """
    tombstone = _load_tombstone(git_dir)
    return tombstone[0] if tombstone else None


def discard_tombstone(git_dir: Path) -> None:
    """Remove the tombstone of a clone, since the clone exists again; do nothing without one."""
    shutil.rmtree(_get_tombstone_folder(git_dir), ignore_errors=True)


def _restore_commit(remote: Remote, git_dir: Path, oid: str) -> bool:
    """Keep a commit again if its whole history is present or the source still serves it by id.

    Return whether it is kept.
    """
    past = ('rev-list', '--objects', '--quiet', oid, '--not', '--all')
    if run_git(git_dir, *past, environment=ENVIRONMENT).returncode == 0:
        run_checked_git(git_dir, 'update-ref', f'{KEPT}{oid}', oid)
        return True
    try:
        remote.fetch_refspecs(git_dir, f'+{oid}:{KEPT}{oid}\n')
    except Transient as trouble:
        if 'not our ref' not in str(trouble):
            raise
        return False
    return True


def _pack_commits(git_dir: Path, path: Path, revs: Collection[str]) -> None:
    with tempfile.TemporaryFile() as revs_file, path.open('wb') as pack:
        revs_file.write(''.join(f'{rev}\n' for rev in revs).encode())
        revs_file.seek(0)
        stream_git(
            git_dir, 'pack-objects', '--revs', '--stdout', '-q', stdin=revs_file, stdout=pack
        )
    durable.sync_to_disk(path)


def _load_tombstone(git_dir: Path) -> tuple[str, tuple[str, ...]] | None:
    """Return the location of an evicted clone and the ids of the commits that its tombstone keeps.

    None without a tombstone.
    """
    file = _get_tombstone_folder(git_dir) / _SOURCE
    if not file.exists():
        return None
    content = json.loads(file.read_bytes())
    return content['location'], tuple(content['kept'])


def _get_tombstone_folder(git_dir: Path) -> Path:
    return git_dir.with_suffix('.remains')


# Limit the disk space of a store's clones by evicting clones that can be fetched again.
#
# The least recently used go first. Some clones always stay: those whose source is a local folder,
# cannot be reached now, or is gone; those in use; and those from which a snapshot has tasks, since
# every later release reads them.

_log = logging.getLogger(__name__)


def evict_clones_to_make_room(
    clones: Path, limits: FetchLimits, *, needed: int = 0
) -> tuple[str, ...]:
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
    return sorted(whole | begun, key=lambda path: (load_last_use_nanoseconds(path), path.name))


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
    write_tombstone(git_dir, remote.list_refs())
    return True
