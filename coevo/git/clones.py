"""Access to chosen commits of repositories: from stored clones, or fetched from their addresses."""

from __future__ import annotations

import os
import re
import subprocess
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeGuard, TypeVar

from coevo.git.process import ENVIRONMENT, run_git
from coevo.git.repository import Repository
from coevo.model.column import Choice
from coevo.model.errors import Transient
from coevo.model.records import compute_short_hash
from coevo.storage.clone_folders import locate_clone, wait_for_change_lock, wait_for_use_lock
from coevo.storage.disk import find_cache_folder
from coevo.storage.place import encode_folder_name

# Fetch chosen commits from the address of a repository, and say what kept some of them away.

# A fetch that brings exactly what its refspecs name and changes nothing else.
FETCH = ('fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance')

# Characters of Git's own words that a sentence quotes.
_MOST_QUOTED = 200


class FetchTrouble(Choice):
    """A reason why commits of a repository could not be fetched."""

    NO_ADDRESS = 'no_address', 'it has no address to clone from; name a clone (--clones)'
    NO_NETWORK = 'no_network', 'its host was not reached; run again with a network'
    GONE = 'gone', 'its host has no such repository (any more); name a clone (--clones)'
    REFUSED = 'refused', 'its host refused, or asks for a user: it may be private or gone'
    LACKS_COMMIT = 'lacks_commit', 'its host has not all of these commits (any more)'
    FAILED = 'failed', 'the fetch failed; run again'


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchFailure:
    """The trouble of a fetch.

    git_said  Git's first line with an error, else its last line, without control characters
    """

    trouble: FetchTrouble
    git_said: str = ''

    def __str__(self) -> str:
        quoted = f' (Git said: {self.git_said})' if self.git_said else ''
        return f'{self.trouble.clause}{quoted}'


# The first of these signs that occurs in Git's output decides.
_SIGNS = (
    (
        FetchTrouble.LACKS_COMMIT,
        r'not our ref|unadvertised object|remote ref|does not support shallow',
    ),
    (FetchTrouble.GONE, r'not found|does not exist|error: 404|error: 410'),
    (
        FetchTrouble.REFUSED,
        r'could not read Username|Authentication failed|error: 40[13]|(?:Permission|Access) denied',
    ),
    (
        FetchTrouble.NO_NETWORK,
        r'Could not resolve|Failed to connect|refused|timed out|reset|unreachable|unable to access',
    ),
)


def fetch_commits(
    git_dir: Path, url: str, revs: Sequence[str], environment: dict[str, str]
) -> FetchFailure | None:
    """Fetch commits into a clone: only these if the server permits that, otherwise all refs.

    If the server lacks one of the commits, they are requested again in halves, so that the others
    are fetched nevertheless. Return the failure that kept some of them away; None if there was
    none.
    """
    failure = _fetch_in_halves(git_dir, url, revs, environment)
    if failure is None or failure.trouble is not FetchTrouble.LACKS_COMMIT:
        return failure
    _run_fetch(git_dir, environment, '--update-shallow', url, '+refs/*:refs/*')
    return failure if find_missing_commits(git_dir, revs) else None


def find_missing_commits(git_dir: Path, revs: Sequence[str]) -> list[str]:
    """Return the commits that a clone lacks, or whose tree it lacks, in their order."""
    queries = ''.join(f'{rev}^{{tree}}\n' for rev in revs)
    answers = run_git(git_dir, 'cat-file', '--batch-check', stdin=queries.encode()).splitlines()
    return [rev for rev, line in zip(revs, answers, strict=True) if line.endswith(b' missing')]


def _fetch_in_halves(
    git_dir: Path, url: str, revs: Sequence[str], environment: dict[str, str]
) -> FetchFailure | None:
    failure = _run_fetch(git_dir, environment, '--depth=1', url, *revs)
    if failure is None or failure.trouble is not FetchTrouble.LACKS_COMMIT or len(revs) == 1:
        return failure
    middle = len(revs) // 2
    halves = (
        _fetch_in_halves(git_dir, url, half, environment) for half in (revs[:middle], revs[middle:])
    )
    return next((each for each in [*halves] if each is not None), None)


def _run_fetch(git_dir: Path, environment: dict[str, str], *arguments: str) -> FetchFailure | None:
    done = subprocess.run(
        ['git', f'--git-dir={git_dir}', *FETCH, *arguments],
        capture_output=True,
        check=False,
        env=environment,
    )
    return None if done.returncode == 0 else explain_failure(done.stderr)


def explain_failure(stderr: bytes) -> FetchFailure:
    """Return the trouble that Git's error output shows; FAILED if no known phrase is in it."""
    text = stderr.decode('utf-8', 'replace')
    lines = [line for line in text.splitlines() if line.strip()] or ['']
    fatal = next((line for line in lines if line.startswith(('fatal:', 'error:'))), lines[-1])
    trouble = next(
        (trouble for trouble, sign in _SIGNS if re.search(sign, text)), FetchTrouble.FAILED
    )
    message = ''.join(sign if sign.isprintable() else ' ' for sign in fatal)[:_MOST_QUOTED]
    return FetchFailure(trouble=trouble, git_said=message.strip())


# Access to chosen commits of repositories: from stored clones or fetched, with only a few of them
# open.

# A pool of repositories that keeps only a few of them open; each is opened when it is needed.
#
# An open repository costs three descriptors, a process and a cache of its objects. Callers that use
# many repositories process them one after another, and get each one anew for its turn.

Value = TypeVar('Value')

# Sequential work needs one open repository. The others save reopening for occasional looks at
# forks.
MOST_OPEN = 4


class RepositoryPool:
    """Repositories by name, for one thread. Opening one beyond the limit closes the least recently
    used.

    open_  returns a context that keeps the repository with a name open
    most   limit of open repositories
    """

    def __init__(
        self,
        open_: Callable[[str], AbstractContextManager[Repository]],
        most: int = MOST_OPEN,
    ) -> None:
        self._open, self._most = open_, most
        self._stacks: OrderedDict[str, ExitStack] = OrderedDict()
        self._opened: dict[str, Repository] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        while self._stacks:
            self._close_oldest()

    def get(self, name: str) -> Repository:
        """Return a repository for immediate use: a later call with other names may close it."""
        if name not in self._opened:
            while len(self._stacks) >= self._most:
                self._close_oldest()
            with ExitStack() as stack:
                self._opened[name] = stack.enter_context(self._open(name))
                self._stacks[name] = stack.pop_all()
        self._stacks.move_to_end(name)
        return self._opened[name]

    def map_names(self, names: Iterable[str]) -> LazyMapping[Repository]:
        """Return a lazy mapping from some names to their repositories."""
        return LazyMapping(names, self.get)

    def _close_oldest(self) -> None:
        name, stack = self._stacks.popitem(last=False)
        with stack:
            # Close it explicitly: caches of the languages use repositories as keys and may still
            # refer to it.
            self._opened.pop(name).close()


class LazyMapping(Mapping[str, Value]):
    """A mapping over sorted names that gets each value on access."""

    def __init__(self, names: Iterable[str], get: Callable[[str], Value]) -> None:
        self._names = dict.fromkeys(sorted(names))
        self._get = get

    def __getitem__(self, name: str) -> Value:
        if name not in self._names:
            raise KeyError(name)
        return self._get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


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


def list_local_clones(clones: Path | None, repo: str) -> Iterator[Path]:
    """Yield the Git directories of a repository that are in a folder with clones.

    clones  a coevo store, or a folder with clones of the user, as OWNER/NAME, OWNER/NAME.git,
            OWNER+NAME.git or OWNER+NAME/repo; None if there is no such folder
    """
    owner, _, name = repo.partition('/')
    if clones is None or {'.', '..'} & {*repo.split('/')}:
        return
    forms = (
        f'{owner}/{name}',
        f'{owner}/{name}.git',
        f'{owner}+{name}.git',
        f'{owner}+{name}/repo',
    )
    for path in (locate_clone(clones, repo), *(clones / form for form in forms)):
        for git_dir in (path / '.git', path):
            if (git_dir / 'HEAD').is_file():
                yield git_dir
                break


@contextmanager
def lock_if_shared(git_dir: Path) -> Iterator[None]:
    """Hold the lock of a clone during the block, so that no other process removes the clone.

    Only clones of a store or of the cache have locks: `.lock` from when they were fetched, `.use`
    from their first reader. Others, such as a user's, are not locked.
    """
    if not any(git_dir.with_suffix(suffix).is_file() for suffix in ('.lock', '.use')):
        yield
        return
    with wait_for_use_lock(git_dir):
        yield


@contextmanager
def open_repository_with_commits(
    repo: str, url: str | None, revs: Sequence[str], clones: Path | None
) -> Iterator[Repository]:
    """Provide a repository that has these commits and their files; no process removes it meanwhile.

    It is a clone of the folder `clones`, if one has all the commits, else a clone in coevo's cache,
    into which missing commits are fetched.

    clones  a folder as for `list_local_clones`; nothing is fetched into it

    Raises: Transient if the commits could not be fetched; NoRepository if there is no address to
    fetch from.
    """
    for git_dir in list_local_clones(clones, repo):
        with lock_if_shared(git_dir):
            if not find_missing_commits(git_dir, revs):
                with closing(Repository(git_dir)) as repository:
                    yield repository
                return
    if not is_address(url):
        raise NoRepository(
            f'{repo} has no address to clone from; name a folder that has its clone (--clones)'
        )
    with hold_or_init_cached_clone(repo, url) as git_dir:
        failure = fetch_into_cache(git_dir, url, revs)
        missing = find_missing_commits(git_dir, revs)
        if missing:
            why = f': {failure}' if failure is not None else ''
            raise Transient(
                f'{repo} could not be fetched, or has no {missing[0][:12]} any more{why}'
            )
        with closing(Repository(git_dir)) as repository:
            yield repository


def is_address(url: str | None) -> TypeGuard[str]:
    """Return whether a text is a URL of one of `PROTOCOLS`, from which Git may fetch.

    False for None and for a path.
    """
    return url is not None and _URL.fullmatch(url) is not None


@contextmanager
def hold_or_init_cached_clone(repo: str, url: str) -> Iterator[Path]:
    """Provide the folder of the bare clone that coevo's cache has of an address.

    A new one is created empty; nothing is fetched. No other process removes the clone meanwhile.
    """
    folder = find_cache_folder() / 'clones'
    folder.mkdir(parents=True, exist_ok=True)
    git_dir = folder / f'{encode_folder_name(repo)}-{compute_short_hash(url)}.git'
    with wait_for_use_lock(git_dir):
        with wait_for_change_lock(git_dir):
            if not git_dir.is_dir():
                run_git(git_dir, 'init', '--quiet', '--bare', '--template=', str(git_dir))
        yield git_dir


def fetch_into_cache(git_dir: Path, url: str, revs: Sequence[str]) -> FetchFailure | None:
    """Fetch the commits that a cached clone lacks.

    Return the failure that kept some of them away; None if there was none.
    """
    with wait_for_change_lock(git_dir):
        missing = find_missing_commits(git_dir, revs)
        if not missing:
            return None
        return fetch_commits(git_dir, url, missing, make_fetch_environment())
