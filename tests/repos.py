"""Git repositories written by the tests: fixed identity and dates, so commit ids are constants."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

CLEAN = {
    **{name: value for name, value in os.environ.items() if not name.startswith('GIT_')},
    'GIT_CONFIG_GLOBAL': os.devnull,
    'GIT_CONFIG_SYSTEM': os.devnull,
    'GIT_TERMINAL_PROMPT': '0',
    'GIT_AUTHOR_NAME': 'Ada',
    'GIT_AUTHOR_EMAIL': 'ada@example.org',
    'GIT_COMMITTER_NAME': 'Ada',
    'GIT_COMMITTER_EMAIL': 'ada@example.org',
    'LC_ALL': 'C',
    'TZ': 'UTC',
}


def git(
    repo: Path,
    *arguments: str,
    stdin: bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run git in `repo`, blind to the user's configuration; its standard output, stripped."""
    command = ['git', '-C', str(repo), *arguments]
    done = subprocess.run(
        command, input=stdin, capture_output=True, env={**CLEAN, **(environment or {})}, check=False
    )
    assert done.returncode == 0, f'{command}: {done.stderr.decode(errors="replace")}'
    return done.stdout.decode(errors='surrogateescape').strip()


def init(path: Path) -> Path:
    """An empty repository with the branch `main`."""
    path.mkdir(parents=True, exist_ok=True)
    git(path, 'init', '-q', '-b', 'main')
    return path


def name_submodule(repo: Path, path: str) -> None:
    """Stage a submodule whose files are not here; commits that follow have it, too."""
    (repo / path).mkdir(parents=True)
    git(repo, 'update-index', '--add', '--cacheinfo', f'160000,{"1" * 40},{path}')


def commit(
    repo: Path,
    message: str,
    files: Mapping[str, str | bytes | None],
    *,
    date: str = '2020-01-01T00:00:00Z',
    author_date: str | None = None,
    parents: Sequence[str] | None = None,
) -> str:
    """Write `files` (None deletes one) and commit everything on the branch that is checked out.

    With `parents`, the files change the first parent's tree, the commit gets exactly these parents
    (none for a root commit), and the branch and the work tree move to it. Returns the commit id.
    """
    if parents is not None:
        _start_from(repo, parents)
    for path, content in files.items():
        write(repo / path, content)
    git(repo, 'add', '-A')
    tree = git(repo, 'write-tree')
    if parents is None:
        parents = _head(repo)
    return commit_tree(repo, message, tree, parents=parents, date=date, author_date=author_date)


def commit_tree(
    repo: Path,
    message: str,
    tree: str,
    *,
    parents: Sequence[str],
    date: str = '2020-01-01T00:00:00Z',
    author_date: str | None = None,
) -> str:
    """Commit a tree that is in the object store, and move HEAD and the work tree to the commit."""
    dates = {'GIT_COMMITTER_DATE': date, 'GIT_AUTHOR_DATE': author_date or date}
    flags = [word for parent in parents for word in ('-p', parent)]
    rev = git(repo, 'commit-tree', tree, *flags, '-m', message, environment=dates)
    git(repo, 'reset', '-q', '--hard', rev)
    return rev


def write(path: Path, content: str | bytes | None) -> None:
    """Write one file with its folders; None deletes it."""
    if content is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def _head(repo: Path) -> list[str]:
    found = git(repo, 'cat-file', '--batch-check=%(objectname)', stdin=b'HEAD').split()
    return [] if 'missing' in found else found


def _start_from(repo: Path, parents: Sequence[str]) -> None:
    if parents:
        git(repo, 'reset', '-q', '--hard', parents[0])
        return
    git(repo, 'rm', '-rfq', '--ignore-unmatch', '.')


def write_object(repo: Path, kind: str, content: bytes) -> str:
    """Put an object into the store as it is, however malformed; its id."""
    return git(repo, 'hash-object', '-w', '--literally', '-t', kind, '--stdin', stdin=content)


def damage(repo: Path, oid: str) -> None:
    """Cut a loose object in half."""
    path = repo / '.git' / 'objects' / oid[:2] / oid[2:]
    content = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(content[: len(content) // 2])
