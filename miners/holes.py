"""Local clones that lack objects: partial ones, copies without their largest files.

A fetch refuses such a source whole. Then the objects that it has are packed here, by a Git that reads
them beside its own and never learns the source's configuration; what its history names and nobody has
is noted. Commits have to be there, all of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from coevo.clone_holes import holes
from coevo.clone_holes import note
from coevo.git import ENVIRONMENT
from miners.mirror_git import run

_ABSENT = '?'


def copy(
    objects: Path,
    git_dir: Path,
    refs: Sequence[tuple[str, str]],
    *,
    lock: int | None,
    file_bytes: int | None,
) -> str | None:
    """Bring all that some refs (name and id) reach into a mirror; Git's complaint if it cannot.

    objects  the source's folder of objects
    """
    environment = {**ENVIRONMENT, 'GIT_ALTERNATE_OBJECT_DIRECTORIES': _quoted(objects)}

    def git(*arguments: str, stdin: str) -> tuple[str, str | None]:
        done = run(
            git_dir,
            *arguments,
            environment=environment,
            stdin=stdin,
            lock=lock,
            file_bytes=file_bytes,
        )
        return done.stdout, (done.stderr or 'no reason given') if done.returncode else None

    tips = ''.join(f'{oid}\n' for _, oid in refs)
    listing, complaint = git('rev-list', '--objects', '--missing=print', '--stdin', stdin=tips)
    if complaint is None:
        lines = listing.split('\n')[:-1]
        there = [line for line in lines if not line.startswith(_ABSENT)]
        pack = str(git_dir / 'objects' / 'pack' / 'pack')
        packing = ('pack-objects', '--quiet', '--delta-base-offset', pack)
        _, complaint = git(*packing, stdin=''.join(f'{line}\n' for line in there))
    if complaint is None:
        absent = {line.removeprefix(_ABSENT) for line in lines if line.startswith(_ABSENT)}
        filled = {line.partition(' ')[0] for line in there}
        note(git_dir, absent | (holes(git_dir) - filled))
        updates = ''.join(f'update {ref} {oid}\n' for ref, oid in refs)
        _, complaint = git('update-ref', '--no-deref', '--stdin', stdin=updates)
    return complaint


def are_filled(objects: Path, git_dir: Path) -> bool:
    """Whether a source has by now something that it lacked."""
    lacked = holes(git_dir)
    if not lacked:
        return False
    environment = {**ENVIRONMENT, 'GIT_ALTERNATE_OBJECT_DIRECTORIES': _quoted(objects)}
    asked = ''.join(f'{oid}\n' for oid in sorted(lacked))
    done = run(git_dir, 'cat-file', '--batch-check', environment=environment, stdin=asked)
    return any(not line.endswith(' missing') for line in done.stdout.splitlines())


def _quoted(path: Path) -> str:
    """As Git reads a list of folders, which colons part."""
    escaped = os.fspath(path).replace('\\', '\\\\').replace('"', '\\"')
    return f'"{escaped}"'
