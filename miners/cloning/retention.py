"""Commits that stay in a clone whatever its source does, since tasks of a snapshot need them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from coevo.storage.clone_folders import changing
from miners.cloning.mirror_git import git
from miners.cloning.mirror_git import refs_of
from miners.cloning.mirror_git import sweep
from miners.cloning.remotes import RELEASED


def keep(git_dir: Path, revs: Iterable[str]) -> None:
    """Put commits under refs of our own; DamagedMirror if one is missing."""
    with changing(git_dir):
        sweep(git_dir)
        new = {*revs} - {*(ref.removeprefix(RELEASED) for ref in refs_of(git_dir))}
        commands = [f'update {RELEASED}{rev} {rev}\n' for rev in sorted(new)]
        if commands:
            git(git_dir, 'update-ref', '--stdin', stdin=''.join(commands))
            git(git_dir, 'pack-refs', '--all')
