"""Keep commits in a clone whatever happens at its source, since tasks of a snapshot need them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from coevo.storage.clone_folders import lock_for_change
from miners.cloning.mirror_git import list_refs, remove_stale_files, run_checked_git
from miners.cloning.remotes import RELEASED


def protect_commits_from_removal(git_dir: Path, revs: Iterable[str]) -> None:
    """Point refs under refs/coevo/released/ at commits, so that Git and coevo never remove them.

    Raises: DamagedMirror if one is missing.
    """
    with lock_for_change(git_dir):
        remove_stale_files(git_dir)
        new = {*revs} - {*(ref.removeprefix(RELEASED) for ref in list_refs(git_dir))}
        commands = [f'update {RELEASED}{rev} {rev}\n' for rev in sorted(new)]
        if commands:
            run_checked_git(git_dir, 'update-ref', '--stdin', stdin=''.join(commands))
            run_checked_git(git_dir, 'pack-refs', '--all')
