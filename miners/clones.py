"""From what a user names (a path, a URL, `owner/name`) to a bare clone under the store."""

from __future__ import annotations

import configparser
import re
from dataclasses import dataclass
from pathlib import Path

from git import InvalidGitRepositoryError
from git import Repo

from coevo.errors import Fatal
from miners.mirrors import Address
from miners.mirrors import default_ref
from miners.mirrors import mirror

GITHUB = 'https://github.com'

_PART = r'[A-Za-z0-9_][A-Za-z0-9_.-]*'
_NAME = re.compile(rf'{_PART}/{_PART}')
_URL = re.compile(r'(https?|ssh|git)://([^\s/@]+@)?[A-Za-z0-9\[][^\s/]*/\S+')
_SSH = re.compile(r'[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:(?!:)\S+')  # user@host:path
_ON_GITHUB = re.compile(
    rf'(\w+://)?([^/@]+@)?(www\.)?github\.com(:\d+)?[:/]/?(?P<name>{_PART}/{_PART}?)(\.git)?/?'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clone:
    """A bare clone and what its repository is called in the data."""

    repo: str
    git_dir: Path
    url: str | None
    default_ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Where a repository lies, its name unless the user gives one, and its public address."""

    address: Address
    repo: str
    url: str | None


def obtain(source: str, *, store: Path, name: str | None = None) -> Clone:
    """The clone of a path, a URL or an `owner/name`, up to date with its source.

    Objects of a local repository are copied; its configuration, hooks and alternates stay its own.
    Fatal for what is no repository, has no commit or a cut history; Transient for the network.
    """
    found = _find(source)
    repo = name or found.repo
    if not _NAME.fullmatch(repo):
        raise Fatal(f'{repo!r} is not a name for a repository; give --name OWNER/NAME')
    git_dir = folder_of(store, repo)
    mirror(found.address, git_dir)
    return Clone(repo=repo, git_dir=git_dir, url=found.url, default_ref=default_ref(git_dir))


def folder_of(store: Path, repo: str) -> Path:
    """Where the clone of a repository lies, or would lie."""
    return store.absolute() / 'clones' / f'{repo.replace("/", "+")}.git'


def _find(source: str) -> _Source:
    if source.startswith('file://'):
        return _local(Path(source.removeprefix('file://')))
    if source.startswith('-') or '::' in source:
        raise Fatal(f'{source!r} is no source to clone; name a path, a URL or owner/name')
    if _URL.fullmatch(source) or _SSH.fullmatch(source):
        return _remote(source)
    if source and Path(source).exists():
        return _local(Path(source))
    if _NAME.fullmatch(source):
        return _remote(f'{GITHUB}/{source}')
    raise Fatal(f'{source!r} is neither a Git repository here, nor a URL, nor owner/name')


def _remote(url: str) -> _Source:
    on_github = _github_name(url)
    base = re.split(r'[/:]', url.rstrip('/'))[-1]
    address = Address(location=url, local=False)
    return _Source(
        address=address,
        repo=on_github or _local_name(base),
        url=f'{GITHUB}/{on_github}' if on_github else address.shown,
    )


def _local(path: Path) -> _Source:
    """A work tree, its .git, or a bare repository."""
    try:
        with Repo(path.absolute()) as repository:
            common, origin = Path(repository.common_dir), _origin(repository)
    except (InvalidGitRepositoryError, OSError) as error:
        message = f'{path} is not a Git repository; name a clone, a URL or owner/name'
        raise Fatal(message) from error
    if (common / 'shallow').exists():
        raise Fatal(
            f'{path} is a shallow clone, which hides when a test was first public; '
            'run `git fetch --unshallow` in it first'
        )
    on_github = _github_name(origin)
    folder = path.resolve()
    return _Source(
        address=Address(location=str(folder), local=True),
        repo=on_github or _local_name((folder.parent if folder.name == '.git' else folder).name),
        url=f'{GITHUB}/{on_github}' if on_github else None,
    )


def _origin(repository: Repo) -> str:
    """The URL of the remote `origin` as its configuration file has it; empty if there is none."""
    try:
        section = repository.config_reader('repository')
        return str(section.get_value('remote "origin"', 'url', default=''))
    except configparser.Error as error:
        raise Fatal(f'{repository.git_dir} has a configuration that cannot be read') from error


def _github_name(url: str) -> str | None:
    found = _ON_GITHUB.fullmatch(url)
    return found['name'] if found else None


def _local_name(base: str) -> str:
    plain = re.sub(r'[^A-Za-z0-9_.-]+', '-', base.removesuffix('.git')).strip('-.')
    return f'local/{plain or "repository"}'
