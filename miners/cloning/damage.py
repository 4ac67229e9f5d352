"""Notice mirrors that have lost objects, and save what only the damaged one has."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from coevo.git.clones import FETCH
from coevo.git.repository import ENVIRONMENT
from coevo.storage.durable import write_durably
from miners.cloning.mirror_git import (
    CRAWL,
    DamagedMirror,
    find_missing_objects,
    list_refs,
    run_checked_git,
    run_git,
)
from miners.cloning.remotes import KEPT, OURS

_FILE = 'coevo-unreadable.json'


def request_rebuild_for_suspect_commits(git_dir: Path, revs: Iterable[str]) -> bool:
    """Mark commits that could not be read, so that the next run rebuilds the mirror.

    Return whether it will be rebuilt: commits that stayed unreadable after an earlier rebuild are
    as bad at their source, and do not count again.
    """
    noted = _load_suspect_record(git_dir)
    suspects = {*revs} - {*noted['settled']}
    if suspects:
        _write_suspect_record(
            git_dir, {**noted, 'suspects': sorted(suspects | {*noted['suspects']})}
        )
    return bool(suspects)


def is_damaged(git_dir: Path) -> bool:
    """Return whether a mirror is known to lack objects.

    It is if commits were marked as suspect or the tip of a ref is missing; histories are not
    checked.
    """
    if _load_suspect_record(git_dir)['suspects']:
        return True
    try:
        return bool(find_missing_objects(git_dir, {*list_refs(git_dir).values()}))
    except DamagedMirror:
        return True


def salvage_objects_and_describe_losses(damaged: Path, new: Path) -> tuple[str, ...]:
    """Copy what only a damaged mirror has into a new one; return sentences about what was lost."""
    there = list_refs(new)
    try:
        had = list_refs(damaged)
    except DamagedMirror:
        return (f'the clone {damaged.name} was damaged and is made anew, without what it kept',)
    wanted = {}
    for ref, oid in had.items():
        if ref.startswith(OURS) and ref not in there:
            wanted[ref] = oid
        elif there.get(ref) != oid and find_missing_objects(new, {oid}):
            wanted[f'{KEPT}{oid}'] = oid
    lost = [ref for ref, oid in sorted(wanted.items()) if not _fetch_object(damaged, new, ref, oid)]
    run_checked_git(new, 'pack-refs', '--all')
    if (damaged / CRAWL).exists():
        shutil.copyfile(damaged / CRAWL, new / CRAWL)
    noted = _load_suspect_record(damaged)
    settled = sorted({*noted['settled'], *noted['suspects']})
    _write_suspect_record(new, {'suspects': [], 'settled': settled})
    return tuple(
        f'the clone {damaged.name} was damaged and is made anew, but {wanted[ref]}, which its '
        'source no longer has, could not be saved'
        for ref in lost
    )


def _fetch_object(damaged: Path, new: Path, ref: str, oid: str) -> bool:
    environment = {**ENVIRONMENT, 'GIT_ALLOW_PROTOCOL': 'file'}
    fetch = (*FETCH, str(damaged), f'+{oid}:{ref}')
    return not run_git(new, *fetch, environment=environment).returncode


def _load_suspect_record(git_dir: Path) -> dict[str, list[str]]:
    file = git_dir / _FILE
    if not file.exists():
        return {'suspects': [], 'settled': []}
    notes: dict[str, list[str]] = json.loads(file.read_bytes())
    return notes


def _write_suspect_record(git_dir: Path, noted: dict[str, list[str]]) -> None:
    write_durably(git_dir / _FILE, [json.dumps(noted).encode()])
