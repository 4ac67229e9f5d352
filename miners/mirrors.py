"""A bare mirror of a repository: made whole or not at all, then kept up with its source.

What was fetched once stays: a ref that is deleted or rewritten at the source leaves its old commit
under refs/coevo/kept/, since tasks may need it and dates depend on it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from coevo.errors import Fatal
from coevo.errors import Transient
from coevo.git import ENVIRONMENT

HEAD = 'refs/coevo/HEAD'  # the source's commit where no branch is checked out
_KEPT = 'refs/coevo/kept/'

# Everything but what Git hosts merge or we keep by ourselves, and replaced objects.
_REFSPECS = ('+refs/*:refs/*', '^refs/coevo/*', '^refs/replace/*', '^refs/pull/*/merge')
_IGNORED = re.compile(r'refs/(coevo|replace)/|refs/pull/[^/]+/merge$')

_OPTIONS = (
    *('-c', 'gc.auto=0', '-c', 'core.hooksPath=/dev/null', '-c', 'fetch.unpackLimit=1'),
    *('-c', 'http.lowSpeedLimit=1000', '-c', 'http.lowSpeedTime=60'),
)
# What Git needs of the user's environment to reach a server, and nothing else.
_NETWORK = {
    'GIT_SSH_COMMAND': 'ssh -oBatchMode=yes',
    **{
        name: value
        for name, value in os.environ.items()
        if name.lower() in ('https_proxy', 'http_proxy', 'no_proxy', 'all_proxy', 'ssh_auth_sock')
        or name in ('GIT_SSL_CAINFO', 'SSL_CERT_FILE', 'SSL_CERT_DIR')
    },
}

_SENTENCES = {
    r'dubious ownership': 'belongs to another user; clone it yourself and name the copy',
    r'shallow': 'is a shallow clone, which hides the past; run `git fetch --unshallow` in it first',
    r'not found|does not exist|could not read Username|not appear to be a git repository': (
        'cannot be found or is private; check the name, or clone it yourself and name the copy'
    ),
    r'Authentication failed|Permission denied|Access denied|returned error: 40[134]': (
        'cannot be read without logging in; clone it yourself and name the copy'
    ),
}
_NO_SPACE = re.compile(r'No space left|Disk quota exceeded|Cannot allocate memory')


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where to fetch from: a URL, or the path of a repository on this machine."""

    location: str
    local: bool

    @property
    def shown(self) -> str:
        """Without a user or password."""
        return re.sub(r'//[^/@]+@', '//', self.location)


@dataclass(frozen=True, slots=True)
class _Advertised:
    """The refs of a source by name (HEAD among them if it is detached), and its default branch."""

    refs: dict[str, str]
    branch: str | None


def mirror(address: Address, git_dir: Path) -> None:
    """Make or update a bare mirror; nothing is shared with a local source.

    Fatal if the source is unreadable, empty or shallow; Transient if it cannot be reached now.
    """
    git_dir.parent.mkdir(parents=True, exist_ok=True)
    with _locked(git_dir.with_suffix('.lock')):
        for leftover in git_dir.parent.glob(f'.{git_dir.name}.*'):
            shutil.rmtree(leftover)
        advertised = _ask(address)
        if not git_dir.is_dir():
            _create(address, git_dir, advertised)
        else:
            _update(address, git_dir, advertised)


def default_ref(git_dir: Path) -> str:
    """The source's default branch; the commit itself where none was checked out."""
    refs = _refs(git_dir)
    head = _git(git_dir, 'symbolic-ref', 'HEAD').strip()
    if head == HEAD and HEAD in refs:
        return refs[HEAD]
    # A source may have a branch checked out that has no commit.
    branches = sorted(ref for ref in refs if ref.startswith('refs/heads/'))
    usual = (head, 'refs/heads/main', 'refs/heads/master', *branches, *sorted(refs))
    return next(ref for ref in usual if ref in refs)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open('w') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _ask(address: Address) -> _Advertised:
    """What the source has."""
    refs, branch, head = {}, None, None
    for line in _reach(None, address, 'ls-remote', '--symref', address.location).splitlines():
        value, _, name = line.partition('\t')
        if name == 'HEAD' and value.startswith('ref: '):
            branch = value.removeprefix('ref: ')
        elif name == 'HEAD':
            head = value
        elif not name.endswith('^{}') and not _IGNORED.match(name):
            refs[name] = value
    if head and not branch:
        refs[HEAD] = head
    if not refs:
        raise Fatal(f'{address.shown} is empty: it has no commit to walk from')
    return _Advertised(refs, branch)


def _create(address: Address, git_dir: Path, advertised: _Advertised) -> None:
    """Into a temporary folder beside the target, renamed when it is complete."""
    scratch = Path(tempfile.mkdtemp(prefix=f'.{git_dir.name}.', dir=git_dir.parent))
    try:
        _git(scratch, 'init', '--bare', '--quiet', '--template=')
        _fetch(address, scratch, advertised)
        scratch.rename(git_dir)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _update(address: Address, git_dir: Path, advertised: _Advertised) -> None:
    have = {ref: oid for ref, oid in _refs(git_dir).items() if not ref.startswith(_KEPT)}
    if address.shown != _git(git_dir, 'config', 'remote.origin.url').strip():
        _check_same(address, git_dir, advertised, have)
    elif have == advertised.refs and _points_at(git_dir, advertised):
        return
    _sweep(git_dir)
    moved = {ref: oid for ref, oid in have.items() if advertised.refs.get(ref) != oid}
    commands = [f'update {_KEPT}{oid} {oid}\n' for oid in sorted(set(moved.values()))]
    commands += [f'delete {ref}\n' for ref in sorted(moved.keys() - advertised.refs.keys())]
    _git(git_dir, 'update-ref', '--no-deref', '--stdin', stdin=''.join(commands))
    _fetch(address, git_dir, advertised)
    needless = {oid for ref, oid in moved.items() if _is_behind(git_dir, oid, ref)}
    commands = [f'delete {_KEPT}{oid}\n' for oid in sorted(needless)]
    _git(git_dir, 'update-ref', '--no-deref', '--stdin', stdin=''.join(commands))


def _fetch(address: Address, git_dir: Path, advertised: _Advertised) -> None:
    detached = (f'+HEAD:{HEAD}',) if HEAD in advertised.refs else ()
    options = ('--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--force')
    _reach(git_dir, address, 'fetch', *options, address.location, *_REFSPECS, *detached)
    if (git_dir / 'shallow').exists():
        raise Fatal(f'{address.shown} {_SENTENCES["shallow"]}')
    _git(git_dir, 'symbolic-ref', 'HEAD', advertised.branch or HEAD)
    _git(git_dir, 'config', 'remote.origin.url', address.shown)
    _git(git_dir, 'pack-refs', '--all')


def _points_at(git_dir: Path, advertised: _Advertised) -> bool:
    head = _git(git_dir, 'symbolic-ref', 'HEAD').strip()
    return head == (advertised.branch or HEAD)


def _check_same(
    address: Address, git_dir: Path, advertised: _Advertised, have: dict[str, str]
) -> None:
    """A repository may move, but another one must not be poured into its mirror."""
    ids = sorted({*advertised.refs.values()} - {*have.values()})
    known = _git(git_dir, 'cat-file', '--batch-check', stdin=''.join(f'{oid}\n' for oid in ids))
    shared = len(ids) < len({*advertised.refs.values()})
    if not shared and all(line.endswith(' missing') for line in known.splitlines()):
        raise Fatal(
            f'{address.shown} has nothing in common with the clone {git_dir.name}; '
            'give it a --name of its own'
        )


def _sweep(git_dir: Path) -> None:
    """Remove what a killed fetch left: nobody else is at work here."""
    stale = [*git_dir.glob('*.lock'), *(git_dir / 'refs').rglob('*.lock')]
    for path in (*stale, *(git_dir / 'objects' / 'pack').glob('tmp_*')):
        path.unlink()


def _refs(git_dir: Path) -> dict[str, str]:
    listing = _git(git_dir, 'for-each-ref', '--format=%(refname) %(objectname)')
    refs = {}
    for line in listing.splitlines():
        ref, oid = line.rsplit(' ', 1)
        refs[ref] = oid
    return refs


def _is_behind(git_dir: Path, oid: str, ref: str) -> bool:
    """Whether a ref still leads to what it pointed at before."""
    if ref.startswith('refs/tags/') or ref not in _refs(git_dir):
        return False
    return not _git(git_dir, 'rev-list', '--max-count=1', oid, f'^{ref}', '--')


def _reach(git_dir: Path | None, address: Address, *arguments: str) -> str:
    """Run a command that talks to the source."""
    environment = {
        **ENVIRONMENT,
        **({} if address.local else _NETWORK),
        'GIT_ALLOW_PROTOCOL': 'file' if address.local else 'https:http:ssh:git',
    }
    done = _run(git_dir, *arguments, environment=environment)
    if done.returncode:
        raise _trouble(address, done.stderr)
    return done.stdout


def _trouble(address: Address, complaint: str) -> RuntimeError:
    lines = [line for line in complaint.splitlines() if line.startswith('fatal: ')]
    reason = (lines or complaint.splitlines() or ['no reason given'])[0].removeprefix('fatal: ')
    reason = reason.replace(address.location, address.shown)
    if _NO_SPACE.search(complaint):
        return Transient(f'{address.shown} could not be fetched: {reason}')
    for pattern, sentence in _SENTENCES.items():
        if re.search(pattern, complaint):
            return Fatal(f'{address.shown} {sentence}')
    if address.local:
        return Fatal(f'{address.shown} cannot be read by Git ({reason}); repair it first')
    return Transient(f'{address.shown} could not be fetched: {reason}')


def _git(git_dir: Path, *arguments: str, stdin: str = '') -> str:
    """Run a command on the mirror alone."""
    done = _run(git_dir, *arguments, environment=ENVIRONMENT, stdin=stdin)
    if done.returncode:
        if _NO_SPACE.search(done.stderr):
            raise Transient(f'git {arguments[0]} failed: {done.stderr.strip()}')
        raise Fatal(f'{git_dir} is damaged ({done.stderr.strip()}); delete it and run again')
    return done.stdout


def _run(
    git_dir: Path | None, *arguments: str, environment: dict[str, str], stdin: str = ''
) -> subprocess.CompletedProcess[str]:
    where = [] if git_dir is None else [f'--git-dir={git_dir}']
    return subprocess.run(
        ['git', *where, *_OPTIONS, *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        encoding='utf-8',
        errors='surrogateescape',
        env=environment,
        cwd='/',
    )
