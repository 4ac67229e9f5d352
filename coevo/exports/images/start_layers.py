"""The layers of a start state: what the code of its revision has, and the rest.

The start state is a Git repository of one commit, as `coevo checkout` writes it. Files of the code
lie in a layer that all tasks of a revision share. It has nothing that the start state lacks, so
that no layer holds gold.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.judging.start_states import create_fresh_repository
from coevo.exports.harbor.images import WORK_FOLDER
from coevo.exports.images.layers import Entries, LayerEntry, list_folder
from coevo.git.process import STEADY_PACK, run_git
from coevo.git.repository import Repository
from coevo.languages.kits import ProjectFile
from coevo.languages.reading import RevisionTree

_PLACE = WORK_FOLDER.removeprefix('/')


@dataclass(frozen=True, slots=True, kw_only=True)
class StartLayers:
    """The entries of the two layers."""

    revision: Entries
    start: Entries


def write_reproducible_repository(repository: Repository, commit: str, folder: Path) -> None:
    """Check a commit out as `create_fresh_repository` does, with the same bytes on each machine.

    Git notes times of files in its index, and packs objects as its threads come.
    """
    create_fresh_repository(repository, commit, folder)
    git_dir = folder / '.git'
    listing = run_git(git_dir, f'--work-tree={folder}', 'ls-files', '-t', '-z')
    hidden = [entry[2:] for entry in listing.split(b'\0') if entry.startswith(b'S ')]
    objects = run_git(git_dir, 'rev-list', '--objects', '--no-object-names', commit)
    names = b''.join(sorted(set(objects.splitlines(keepends=True))))
    pack = run_git(git_dir, *STEADY_PACK, stdin=names)
    shutil.rmtree(git_dir / 'objects')
    (git_dir / 'objects').mkdir()
    run_git(git_dir, 'index-pack', '--stdin', stdin=pack)
    (git_dir / 'index').unlink()
    run_git(git_dir, 'read-tree', 'HEAD')
    if hidden:
        lines = b''.join(path + b'\0' for path in hidden)
        run_git(git_dir, 'update-index', '--skip-worktree', '-z', '--stdin', stdin=lines)


def make_start_layers(
    folder: Path,
    commit: str,
    repository: Repository,
    tree: RevisionTree,
    beside: Mapping[str, ProjectFile],
) -> StartLayers:
    """Return the layers of a start state that was checked out into a folder.

    repository  the one that has the commit
    tree        of the new revision, which says what belongs to the code
    beside      what is put beside its files, and hidden from Git
    """
    _exclude_files_from_git(folder, beside)
    entries = dict(list_folder(folder, _PLACE))
    start = repository.tree(commit)
    code = {
        f'{_PLACE}/{path}'
        for path, entry in tree.entries.items()
        if start.get(path) == entry and not tree.belongs_to_tests(path)
    }
    added = {f'{_PLACE}/{path}': _convert(file) for path, file in beside.items()}
    return StartLayers(
        revision={path: entry for path, entry in entries.items() if path in code},
        start={**{p: e for p, e in entries.items() if p not in code}, **added},
    )


def _exclude_files_from_git(folder: Path, beside: Mapping[str, ProjectFile]) -> None:
    """Let `git status` of a repository pass over files beside its own."""
    info = folder / '.git/info'
    info.mkdir(exist_ok=True)
    (info / 'exclude').write_text(
        ''.join(f'/{path}\n' for path in sorted(beside)), errors='surrogateescape'
    )


def _convert(file: ProjectFile) -> LayerEntry:
    if file.target is not None:
        return LayerEntry(target=file.target)
    return LayerEntry(content=file.content, mode=0o644)
