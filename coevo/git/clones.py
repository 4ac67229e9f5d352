"""Access to chosen commits of a repository: from a stored clone, or fetched from its address."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from coevo.git.process import ENVIRONMENT, run_git
from coevo.git.repository import Repository
from coevo.model.errors import Transient
from coevo.model.records import compute_short_hash
from coevo.storage.clone_folders import locate_clone, lock_for_change, lock_for_use
from coevo.storage.folders import find_cache_folder
from coevo.storage.place import encode_folder_name

# A fetch that brings exactly what its refspecs name and changes nothing else.
FETCH = ('fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance')

PROTOCOLS = ('https', 'http', 'ssh', 'git')

SILENCE_SECONDS = 60


def make_fetch_environment(
    *, local: bool = False, silence_seconds: int = SILENCE_SECONDS
) -> dict[str, str]:
    """Return the environment for a Git process that contacts a server, or (`local`) only this
    machine.

    silence_seconds  time after which Git gives up a connection slower than 1,000 bytes per second
    """
    return {
        **ENVIRONMENT,
        **({'GIT_ALLOW_PROTOCOL': 'file'} if local else _make_network_environment()),
        'GIT_HTTP_LOW_SPEED_LIMIT': '1000',
        'GIT_HTTP_LOW_SPEED_TIME': str(silence_seconds),
    }


def _make_network_environment() -> dict[str, str]:
    """Return Git's protocol settings, and the user's variables that it needs to reach a server."""
    proxies = ('https_proxy', 'http_proxy', 'no_proxy', 'all_proxy', 'ssh_auth_sock')
    files = ('GIT_SSL_CAINFO', 'SSL_CERT_FILE', 'SSL_CERT_DIR')
    given = {n: v for n, v in os.environ.items() if n.lower() in proxies or n in files}
    return {
        **given,
        'GIT_ALLOW_PROTOCOL': ':'.join(PROTOCOLS),
        'GIT_SSH_COMMAND': 'ssh -oBatchMode=yes -oConnectTimeout=60 -oServerAliveInterval=20',
    }


_URL = re.compile(rf'(?:{"|".join(PROTOCOLS)})://\S+')


class NoRepository(RuntimeError):
    """No clone is available and there is no address to fetch from; the message says what to do."""


@contextmanager
def open_repository_with(
    repo: str, url: str | None, revs: Sequence[str], store: Path | None
) -> Iterator[Repository]:
    """Provide a repository that has these commits and their files, and keep it in place meanwhile.

    store  folder whose clone is used if it has everything needed; nothing is fetched into it

    Raises: Transient if the commits could not be fetched; NoRepository if there is no address to
    fetch from.
    """
    if store is not None:
        stored_clone = locate_clone(store, repo)
        if stored_clone.is_dir():
            with lock_for_use(stored_clone):
                if not _find_missing(stored_clone, revs):
                    with closing(Repository(stored_clone)) as repository:
                        yield repository
                    return
    if url is None or not _URL.fullmatch(url):
        raise NoRepository(
            f'{repo} has no address to clone from; name a store that has its clone (--store)'
        )
    with _fetch_clone(repo, url, revs) as git_dir, closing(Repository(git_dir)) as repository:
        yield repository


@contextmanager
def _fetch_clone(repo: str, url: str, revs: Sequence[str]) -> Iterator[Path]:
    """Provide a clone in the cache that has these commits.

    Only these commits are fetched if the server permits that, otherwise all refs.
    """
    folder = find_cache_folder() / 'clones'
    folder.mkdir(parents=True, exist_ok=True)
    git_dir = folder / f'{encode_folder_name(repo)}-{compute_short_hash(url)}.git'
    with lock_for_use(git_dir):
        with lock_for_change(git_dir):
            if not git_dir.is_dir():
                run_git(git_dir, 'init', '--quiet', '--bare', '--template=', str(git_dir))
            missing = _find_missing(git_dir, revs)
            if missing and not _try_fetch(git_dir, '--depth=1', url, *missing):
                _try_fetch(git_dir, '--update-shallow', url, '+refs/*:refs/*')
            missing = _find_missing(git_dir, revs)
        if missing:
            raise Transient(f'{repo} could not be fetched, or has no {missing[0][:12]} any more')
        yield git_dir


def _find_missing(git_dir: Path, revs: Sequence[str]) -> list[str]:
    queries = ''.join(f'{rev}^{{tree}}\n' for rev in revs)
    answers = run_git(git_dir, 'cat-file', '--batch-check', stdin=queries.encode()).splitlines()
    return [rev for rev, line in zip(revs, answers, strict=True) if line.endswith(b' missing')]


def _try_fetch(git_dir: Path, *arguments: str) -> bool:
    done = subprocess.run(
        ['git', f'--git-dir={git_dir}', *FETCH, *arguments],
        capture_output=True,
        check=False,
        env=make_fetch_environment(),
    )
    return done.returncode == 0
