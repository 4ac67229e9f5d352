"""A repository with some of its commits: a clone at hand, or those commits fetched from its address."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import closing
from contextlib import contextmanager
from pathlib import Path

from coevo.git.network import FETCH
from coevo.git.network import PROTOCOLS
from coevo.git.network import fetching
from coevo.git.process import run_git
from coevo.git.repository import Repository
from coevo.model.errors import Transient
from coevo.model.records import short_hash
from coevo.storage.clone_folders import changing
from coevo.storage.clone_folders import clone_folder
from coevo.storage.clone_folders import using
from coevo.storage.folders import cache_folder
from coevo.storage.place import folder_name

_URL = re.compile(rf'(?:{"|".join(PROTOCOLS)})://\S+')


class NoRepository(RuntimeError):
    """There is no clone at hand and nowhere to get one; says what to do."""


@contextmanager
def repository_with(
    repo: str, url: str | None, revs: Sequence[str], store: Path | None
) -> Iterator[Repository]:
    """A repository with these commits and their files; it stays meanwhile.

    store  whose clones are used where they have what is needed; nothing is fetched into them
    Transient where it could not be fetched, NoRepository where there is nowhere to fetch from.
    """
    if store is not None:
        kept = clone_folder(store, repo)
        if kept.is_dir():
            with using(kept):
                if not _missing(kept, revs):
                    with closing(Repository(kept)) as repository:
                        yield repository
                    return
    if url is None or not _URL.fullmatch(url):
        raise NoRepository(
            f'{repo} has no address to clone from; name a store that has its clone (--store)'
        )
    with _fetched(repo, url, revs) as git_dir, closing(Repository(git_dir)) as repository:
        yield repository


@contextmanager
def _fetched(repo: str, url: str, revs: Sequence[str]) -> Iterator[Path]:
    """A clone in the cache that has these commits: those alone, where their server gives them."""
    folder = cache_folder() / 'clones'
    folder.mkdir(parents=True, exist_ok=True)
    git_dir = folder / f'{folder_name(repo)}-{short_hash(url)}.git'
    with using(git_dir):
        with changing(git_dir):
            if not git_dir.is_dir():
                run_git(git_dir, 'init', '--quiet', '--bare', '--template=', str(git_dir))
            missing = _missing(git_dir, revs)
            if missing and not _fetch(git_dir, '--depth=1', url, *missing):
                _fetch(git_dir, '--update-shallow', url, '+refs/*:refs/*')
            missing = _missing(git_dir, revs)
        if missing:
            raise Transient(f'{repo} could not be fetched, or has no {missing[0][:12]} any more')
        yield git_dir


def _missing(git_dir: Path, revs: Sequence[str]) -> list[str]:
    asked = ''.join(f'{rev}^{{tree}}\n' for rev in revs)
    answers = run_git(git_dir, 'cat-file', '--batch-check', stdin=asked.encode()).splitlines()
    return [rev for rev, line in zip(revs, answers, strict=True) if line.endswith(b' missing')]


def _fetch(git_dir: Path, *arguments: str) -> bool:
    done = subprocess.run(
        ['git', f'--git-dir={git_dir}', *FETCH, *arguments],
        capture_output=True,
        check=False,
        env=fetching(),
    )
    return done.returncode == 0
