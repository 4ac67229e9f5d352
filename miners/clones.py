"""Bare clones under the store: made whole or not at all, fetched again on the next run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from coevo.errors import Fatal
from coevo.errors import Transient
from coevo.git import ENVIRONMENT

GITHUB = 'https://github.com'

# Every branch, tag and pull-request head: a test may have been public in any of them first. Local
# clones mirror all their refs; nothing that was fetched once is ever pruned.
_REFSPECS = ('+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*', '+refs/pull/*:refs/pull/*')
_LOCAL_REFSPECS = ('+refs/*:refs/*',)

_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+')
_URL = re.compile(r'(https?|ssh|git)://[^\s]+')
_GITHUB_ORIGIN = re.compile(r'github\.com[:/]([^/]+/[^/]+?)(\.git)?/?$')


@dataclass(frozen=True, slots=True, kw_only=True)
class Clone:
    """A bare clone and what its repository is called in the data."""

    repo: str
    git_dir: Path
    url: str | None
    default_ref: str


def obtain(source: str, *, store: Path, name: str | None = None) -> Clone:
    """The clone of a path, a URL or an `owner/name`, up to date with its source.

    A local repository is copied object by object: its configuration, hooks and alternates stay
    its own. Fatal for what is no repository, has no commit or a cut history.
    """
    local = _local(source)
    url = None if local else _url(source)
    if local:
        _check(local)
    repo = name or (_local_name(local) if local else _remote_name(str(url)))
    if not re.fullmatch(r'[\w.-]+/[\w.-]+', repo) or '..' in repo:
        raise Fatal(f'{repo!r} is not a name for a repository; give --name OWNER/NAME')
    git_dir = store.absolute() / 'clones' / f'{repo.replace("/", "+")}.git'
    if not git_dir.is_dir():
        _clone(str(local or url), git_dir, local=local is not None)
    else:
        _fetch(git_dir, str(local or url), local=local is not None)
    if not _git(git_dir, 'for-each-ref', '--count=1').strip():
        raise Fatal(f'{source} is empty: it has no commit to walk from')
    known = url or (None if repo.startswith('local/') else f'{GITHUB}/{repo}')
    return Clone(repo=repo, git_dir=git_dir, url=known, default_ref=_head(git_dir, local))


def _local(source: str) -> Path | None:
    """The Git folder of a path; None where the source is meant to be remote."""
    path = Path(source)
    if not path.exists():
        return None
    for folder in (path / '.git', path):
        if (folder / 'objects').is_dir() and (folder / 'HEAD').is_file():
            return folder.absolute()
    if (path / '.git').is_file():
        raise Fatal(f'{source} is a linked work tree; name the repository that it belongs to')
    raise Fatal(f'{source} is not a Git repository; name a clone, a URL or owner/name')


def _url(source: str) -> str:
    if _URL.fullmatch(source):
        return source
    if _NAME.fullmatch(source):
        return f'{GITHUB}/{source}'
    raise Fatal(f'{source!r} is neither a Git repository here, nor a URL, nor owner/name')


def _check(git_dir: Path) -> None:
    if (git_dir / 'shallow').exists():
        raise Fatal(
            f'{git_dir} is a shallow clone, which hides when a test was first public; '
            'run `git fetch --unshallow` in it first'
        )


def _local_name(git_dir: Path) -> str:
    """The GitHub name of its origin, else local/BASENAME."""
    origin = _git(git_dir, 'config', '--local', '--get', 'remote.origin.url', check=False).strip()
    found = _GITHUB_ORIGIN.search(origin)
    if found:
        return found[1]
    folder = git_dir.parent if git_dir.name == '.git' else git_dir
    return f'local/{folder.name.removesuffix(".git")}'


def _remote_name(url: str) -> str:
    found = _GITHUB_ORIGIN.search(url)
    return found[1] if found else f'local/{url.rstrip("/").rpartition("/")[2].removesuffix(".git")}'


def _clone(source: str, git_dir: Path, *, local: bool) -> None:
    """Into a temporary folder beside the target, renamed when it is complete."""
    git_dir.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix='.new-', dir=git_dir.parent))
    try:
        _git(scratch, 'init', '--bare', '--quiet', '--template=', str(scratch))
        _fetch(scratch, source, local=local)
        os.rename(scratch, git_dir)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _fetch(git_dir: Path, source: str, *, local: bool) -> None:
    """All refs of the source. Git copies objects here, since `fetch` shares none."""
    refspecs = _LOCAL_REFSPECS if local else _REFSPECS
    command = ('fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--force')
    try:
        _git(git_dir, *command, source, *refspecs)
        head = _git(git_dir, 'ls-remote', '--symref', source, 'HEAD')
    except Fatal as error:
        if local:
            raise
        raise Transient(f'{source} could not be fetched: {error}') from error
    target = re.match(r'ref: (\S+)\tHEAD', head)
    if target:
        _git(git_dir, 'symbolic-ref', 'HEAD', target[1])


def _head(git_dir: Path, local: Path | None) -> str:
    """The branch that the source has checked out; the commit where its head is detached."""
    if _git(git_dir, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}', check=False).strip():
        return _git(git_dir, 'symbolic-ref', '--quiet', 'HEAD', check=False).strip() or 'HEAD'
    if local is not None:
        detached = _git(local, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}', check=False)
        if detached.strip():
            return detached.strip()
    raise Fatal(f'{git_dir.name} has no default branch; name one with --ref')


def _git(git_dir: Path, *arguments: str, check: bool = True) -> str:
    done = subprocess.run(
        ['git', f'--git-dir={git_dir}', '-c', 'protocol.ext.allow=never', '-c', 'gc.auto=0', *arguments],
        capture_output=True,
        check=False,
        env={**ENVIRONMENT, **_NETWORK},
    )
    if check and done.returncode:
        lines = done.stderr.decode('utf-8', 'replace').strip().splitlines() or ['no reason given']
        raise Fatal(f'git {arguments[0]} failed: {lines[-1]}')
    return done.stdout.decode('utf-8', 'replace')


# What Git needs of the user's environment to reach a server, and nothing else.
_NETWORK = {
    name: value
    for name, value in os.environ.items()
    if name.lower() in ('https_proxy', 'http_proxy', 'no_proxy', 'ssh_auth_sock')
    or name in ('GIT_SSL_CAINFO', 'SSL_CERT_FILE')
} | {'GIT_ALLOW_PROTOCOL': 'file:git:http:https:ssh'}
