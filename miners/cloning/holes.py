"""Local clones that lack objects: partial ones, copies without their largest files.

A fetch refuses such a source whole. Then the objects that it has are packed here, by a Git that reads
them beside its own and never learns the source's configuration; what its history names and nobody has
is noted. Commits have to be there, all of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from coevo.git.repository import ENVIRONMENT, load_holes, save_holes
from miners.cloning.mirror_git import find_missing, run_git

_ABSENT = '?'


class CopyError(Exception):
    """Git's complaint about a source whose objects were to be packed."""


def copy_objects(
    objects: Path,
    git_dir: Path,
    refs: Sequence[tuple[str, str]],
    *,
    lock: int | None,
    file_bytes: int | None,
) -> None:
    """Bring all that some refs (name and id) reach into a mirror; CannotCopy where Git cannot.

    objects  the source's folder of objects
    """

    def run_checked(*arguments: str, stdin: str) -> str:
        done = run_git(
            git_dir,
            *arguments,
            environment=_make_environment(objects),
            stdin=stdin,
            lock=lock,
            file_bytes=file_bytes,
        )
        if done.returncode:
            raise CopyError(done.stderr or 'no reason given')
        return done.stdout

    tips = ''.join(f'{oid}\n' for _, oid in refs)
    listing = run_checked('rev-list', '--objects', '--missing=print', '--stdin', stdin=tips)
    lines = listing.split('\n')[:-1]
    there = [line for line in lines if not line.startswith(_ABSENT)]
    pack = str(git_dir / 'objects' / 'pack' / 'pack')
    packing = ('pack-objects', '--quiet', '--delta-base-offset', pack)
    run_checked(*packing, stdin=''.join(f'{line}\n' for line in there))
    absent = {line.removeprefix(_ABSENT) for line in lines if line.startswith(_ABSENT)}
    filled = {line.partition(' ')[0] for line in there}
    save_holes(git_dir, absent | (load_holes(git_dir) - filled))
    updates = ''.join(f'update {ref} {oid}\n' for ref, oid in refs)
    run_checked('update-ref', '--no-deref', '--stdin', stdin=updates)


def can_fill_holes(objects: Path, git_dir: Path) -> bool:
    """Whether a source has by now something that it lacked."""
    lacked = load_holes(git_dir)
    return bool(lacked) and find_missing(git_dir, lacked, _make_environment(objects)) < lacked


def _make_environment(objects: Path) -> dict[str, str]:
    """An environment in which Git reads these objects, too."""
    return {**ENVIRONMENT, 'GIT_ALTERNATE_OBJECT_DIRECTORIES': _quote_path(objects)}


def _quote_path(path: Path) -> str:
    """As Git reads a list of folders, which colons part."""
    escaped = os.fspath(path).replace('\\', '\\\\').replace('"', '\\"')
    return f'"{escaped}"'
