"""A bare mirror of a repository: visible when it is whole, then kept up with its source.

What was fetched once stays: a ref that is deleted or rewritten at the source leaves its old commit
under refs/coevo/kept/, since tasks may need it and dates depend on it. A first fetch that breaks
off leaves a scratch folder beside the mirror, where the next run goes on.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.storage.durable import sync_to_disk
from miners.cloning import damage, tombstones
from miners.cloning.mirror_git import (
    ORIGIN,
    DamagedMirror,
    find_missing,
    git,
    list_refs,
    load_origin,
    remove_stale_files,
)
from miners.cloning.remotes import HEAD, KEPT, OURS, AdvertisedRefs, Remote
from miners.discovery.repository_drops import RepositoryReason, Unclonable

# Each fetch adds a pack, and looking an object up asks all of them.
_MOST_PACKS = 50

__all__ = ['find_default_ref', 'create_or_update_mirror', 'get_scratch_folder']


def create_or_update_mirror(remote: Remote, git_dir: Path) -> tuple[str, ...]:
    """Make or update a bare mirror that is locked; nothing is shared with a local source.

    Returns sentences about what was lost. Unclonable if the source is unreadable, empty, shallow or
    too large; Transient if it cannot be reached now.
    """
    scratch = get_scratch_folder(git_dir)
    for leftover in git_dir.parent.glob(f'.{git_dir.name}.*'):
        if leftover != scratch or git_dir.is_dir():
            shutil.rmtree(leftover)
    advertised = remote.list_refs()
    if not git_dir.is_dir():
        return _create_mirror(remote, git_dir, advertised)
    tombstones.discard_tombstone(git_dir)
    if not damage.is_damaged(git_dir):
        try:
            _update_existing(remote, git_dir, advertised)
        except DamagedMirror:
            pass
        else:
            return ()
    return _create_mirror(remote, git_dir, advertised)


def find_default_ref(git_dir: Path) -> str:
    """The source's default branch; the commit itself where none was checked out."""
    refs = list_refs(git_dir)
    head = git(git_dir, 'symbolic-ref', 'HEAD').strip()
    if head == HEAD and HEAD in refs:
        return refs[HEAD]
    # A source may have a branch checked out that has no commit.
    branches = sorted(ref for ref in refs if ref.startswith('refs/heads/'))
    usual = (head, 'refs/heads/main', 'refs/heads/master', *branches, *sorted(refs))
    return next(ref for ref in usual if ref in refs)


def get_scratch_folder(git_dir: Path) -> Path:
    """Where a mirror grows until it is whole."""
    return git_dir.with_name(f'.{git_dir.name}.new')


def _create_mirror(remote: Remote, git_dir: Path, advertised: AdvertisedRefs) -> tuple[str, ...]:
    """Whole or not at all, in place of a damaged mirror if there is one."""
    scratch = get_scratch_folder(git_dir)
    goes_on = _can_continue(remote, scratch)
    if not goes_on:
        _init_scratch(remote, scratch)
    try:
        _fetch_changes(remote, scratch, advertised, careful=goes_on)
        if git_dir.is_dir():
            lost = damage.salvage_objects(git_dir, scratch)
        else:
            lost = tombstones.restore_objects(remote, git_dir, scratch)
    except Fatal:
        shutil.rmtree(scratch)
        raise
    if git_dir.is_dir():
        git_dir.rename(git_dir.with_name(f'.{git_dir.name}.damaged'))
    scratch.rename(git_dir)
    sync_to_disk(git_dir.parent)
    shutil.rmtree(git_dir.with_name(f'.{git_dir.name}.damaged'), ignore_errors=True)
    tombstones.discard_tombstone(git_dir)
    return lost


def _can_continue(remote: Remote, scratch: Path) -> bool:
    """Whether a fetch of this source broke off, and left what can be used."""
    try:
        return (
            scratch.exists()
            and load_origin(scratch) == remote.address.redacted_location
            and not damage.is_damaged(scratch)
        )
    except DamagedMirror:
        return False


def _init_scratch(remote: Remote, scratch: Path) -> None:
    shutil.rmtree(scratch, ignore_errors=True)
    git(scratch, 'init', '--bare', '--quiet', '--template=')
    git(scratch, 'config', ORIGIN, remote.address.redacted_location)


def _update_existing(remote: Remote, git_dir: Path, advertised: AdvertisedRefs) -> None:
    have = _list_source_refs(git_dir)
    if remote.address.redacted_location != load_origin(git_dir):
        _check_same_repository(remote, git_dir, advertised, have)
    elif have == advertised.refs and _has_same_head(git_dir, advertised):
        remote.fill_holes(git_dir, have)
        return
    _fetch_changes(remote, git_dir, advertised, careful=False)


def _fetch_changes(
    remote: Remote, git_dir: Path, advertised: AdvertisedRefs, *, careful: bool
) -> None:
    """Keep what the source no longer has, then fetch what is new."""
    remove_stale_files(git_dir)
    have = _list_source_refs(git_dir)
    moved = {ref: oid for ref, oid in have.items() if advertised.refs.get(ref) != oid}
    commands = [f'update {KEPT}{oid} {oid}\n' for oid in sorted(set(moved.values()))]
    commands += [f'delete {ref}\n' for ref in sorted(moved.keys() - advertised.refs.keys())]
    _change_refs(git_dir, commands)
    wanted = {ref: oid for ref, oid in advertised.refs.items() if have.get(ref) != oid}
    remote.fetch_refs(git_dir, wanted, advertised.branch, careful=careful)
    now = list_refs(git_dir)
    needless = {oid for ref, oid in moved.items() if _is_behind(git_dir, oid, ref, now)}
    _change_refs(git_dir, [f'delete {KEPT}{oid}\n' for oid in sorted(needless)])
    git(git_dir, 'symbolic-ref', 'HEAD', advertised.branch or HEAD)
    git(git_dir, 'config', ORIGIN, remote.address.redacted_location)
    git(git_dir, 'pack-refs', '--all')
    if sum(1 for _ in git_dir.glob('objects/pack/*.pack')) > _MOST_PACKS:
        git(git_dir, 'repack', '--geometric=2', '-d', '--quiet')


def _change_refs(git_dir: Path, commands: Iterable[str]) -> None:
    git(git_dir, 'update-ref', '--no-deref', '--stdin', stdin=''.join(commands))


def _list_source_refs(git_dir: Path) -> dict[str, str]:
    """The refs that came from the source."""
    refs = list_refs(git_dir)
    return {ref: oid for ref, oid in refs.items() if ref == HEAD or not ref.startswith(OURS)}


def _has_same_head(git_dir: Path, advertised: AdvertisedRefs) -> bool:
    head = git(git_dir, 'symbolic-ref', 'HEAD').strip()
    return head == (advertised.branch or HEAD)


def _check_same_repository(
    remote: Remote, git_dir: Path, advertised: AdvertisedRefs, have: Mapping[str, str]
) -> None:
    """A repository may move, but another one must not be poured into its mirror."""
    theirs = {*advertised.refs.values()}
    if theirs.isdisjoint(have.values()) and find_missing(git_dir, theirs) == theirs:
        raise Unclonable(
            RepositoryReason.ANOTHER_REPOSITORY,
            f'{remote.address.redacted_location} has nothing in common with the clone {git_dir.name}; '
            'give it a --name of its own',
        )


def _is_behind(git_dir: Path, oid: str, ref: str, refs: Mapping[str, str]) -> bool:
    """Whether a ref still leads to what it pointed at before."""
    if ref.startswith('refs/tags/') or ref not in refs:
        return False
    return not git(git_dir, 'rev-list', '--max-count=1', oid, f'^{refs[ref]}', '--')
