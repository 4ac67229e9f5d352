"""Turn what a user names (a path, a URL, `owner/name`) into a bare clone under the store."""

from __future__ import annotations

import configparser
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from git import InvalidGitRepositoryError, NoSuchPathError, Repo

from coevo.display import terminal
from coevo.git.process import ENVIRONMENT
from coevo.git.repository import Repository
from coevo.languages.table import suggest_split
from coevo.model.errors import Fatal
from coevo.storage.clone_folders import locate_clone, wait_for_change_lock, wait_for_use_lock
from coevo.storage.durable import sync_to_disk
from miners.cloning import damage, tombstones
from miners.cloning.mirror_git import (
    ORIGIN,
    DamagedMirror,
    find_missing_objects,
    list_refs,
    load_origin,
    record_clone_refs,
    remove_stale_files,
    run_checked_git,
    run_git,
)
from miners.cloning.remotes import (
    HEAD,
    KEPT,
    NO_LIMITS,
    OURS,
    Address,
    AdvertisedRefs,
    FetchLimits,
    Remote,
    RepositoryReason,
    Unclonable,
)
from miners.cloning.tombstones import evict_clones_to_make_room

GITHUB = 'https://github.com'

_PART = r'[A-Za-z0-9_][A-Za-z0-9_.-]*'
_NAME = re.compile(rf'{_PART}/{_PART}')
_URL = re.compile(r'(https?|ssh|git)://([^\s/@]+@)?[A-Za-z0-9\[][^\s/]*/\S+')
_SSH = re.compile(r'[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:(?!:)\S+')  # user@host:path
_FILE_URL = re.compile(r'file://(localhost)?(?P<path>/+[^/].*)', re.IGNORECASE)
_CONTROL = re.compile(r'[\x00-\x1f\x7f]')
_ON_GITHUB = re.compile(
    rf'(\w+://)?([^/@]+@)?(www\.)?github\.com(:\d+)?[:/]/?(?P<name>{_PART}/{_PART}?)(\.git)?/?'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clone:
    """A bare clone and the name of its repository in the data.

    warnings  sentences about parts of the history that were lost for good
    asked_at  when the refs of its remote were listed; None for a copy of a local repository, which
              is no newer than that repository
    """

    repo: str
    git_dir: Path
    url: str | None
    default_ref: str
    warnings: tuple[str, ...] = ()
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _CloneSource:
    """The address of a repository, its default name in the data, and its public URL."""

    address: Address
    repo: str
    url: str | None


def obtain_clone(
    source: str,
    *,
    store: Path,
    name: str | None = None,
    limits: FetchLimits = NO_LIMITS,
    expected_bytes: int = 0,
) -> Clone:
    """Make the clone of a path, a URL or an `owner/name`, or bring it up to date; return it.

    Objects of a local repository are copied; its configuration, hooks and alternates are not.
    Afterwards the clone is not protected from eviction, see `pin_clone`.

    expected_bytes  the size of the repository according to its host

    Raises: Unclonable (a Fatal) if the source is gone, empty, shallow or too large; Transient for
    trouble with the network.
    """
    with pin_clone(
        source, store=store, name=name, limits=limits, expected_bytes=expected_bytes
    ) as clone:
        return clone


@contextmanager
def pin_clone(
    source: str,
    *,
    store: Path,
    name: str | None = None,
    limits: FetchLimits = NO_LIMITS,
    expected_bytes: int = 0,
) -> Iterator[Clone]:
    """Obtain a clone as `obtain_clone` does, and protect it from eviction until the block ends."""
    clone_source = _locate_source(source)
    repo = name or clone_source.repo
    if not _NAME.fullmatch(repo):
        raise Fatal(f'{repo!r} is not a name for a repository; give --name OWNER/NAME')
    git_dir = locate_clone(store, repo)
    git_dir.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        with wait_for_change_lock(git_dir) as lock:
            remote = Remote(address=clone_source.address, limits=limits, lock=lock)
            if not git_dir.is_dir():
                remote.check_size(expected_bytes)
                evict_clones_to_make_room(git_dir.parent, limits, needed=expected_bytes)
            asked_at = (
                None if clone_source.address.local else datetime.now(tz=UTC).replace(microsecond=0)
            )
            warnings = create_or_update_mirror(remote, git_dir)
            stack.enter_context(wait_for_use_lock(git_dir))
        evict_clones_to_make_room(git_dir.parent, limits)
        yield Clone(
            repo=repo,
            git_dir=git_dir,
            url=clone_source.url,
            default_ref=find_default_ref(git_dir),
            warnings=warnings,
            asked_at=asked_at,
        )


@contextmanager
def pin_existing_clone(store: Path, repo: str, url: str | None = None) -> Iterator[Path]:
    """Yield the folder of a clone that was obtained before, and protect it from eviction meanwhile.

    A clone that was evicted, or was made on another machine from `url`, is fetched again; that is
    recorded as a crawl. If it is missing and its address is unknown, the folder does not exist.
    """
    git_dir = locate_clone(store, repo)
    with ExitStack() as stack:
        if git_dir.is_dir():
            stack.enter_context(wait_for_use_lock(git_dir))
        location = tombstones.load_url_of_evicted_clone(git_dir) or url
        if not git_dir.is_dir() and location is not None:
            stack.enter_context(pin_clone(location, store=store, name=repo))
            record_clone_refs(Repository(git_dir))
        yield git_dir


def find_default_name(source: str) -> str:
    """Return the name in the data that a source has if none is given; nothing is fetched.

    Raises: Fatal if it is neither a repository of this machine, nor a URL, nor owner/name.
    """
    return _locate_source(source).repo


def _locate_source(source: str) -> _CloneSource:
    if not source.strip() or source.startswith('-') or '::' in source or _CONTROL.search(source):
        raise Fatal(f'{source!r} is no source to clone; name a path, a URL or owner/name')
    if source.lower().startswith('file:'):
        return _make_local_source(_parse_file_url(source))
    if _URL.fullmatch(source) or _SSH.fullmatch(source):
        return _make_remote_source(source)
    if source and Path(source).exists():
        return _make_local_source(Path(source))
    if _NAME.fullmatch(source):
        return _make_remote_source(f'{GITHUB}/{source}')
    raise Fatal(f'{source!r} is neither a Git repository here, nor a URL, nor owner/name')


def _parse_file_url(url: str) -> Path:
    """Return the path in a file URL.

    Raises: Fatal if it has none, since an empty path would mean the current folder.
    """
    match = _FILE_URL.fullmatch(url)
    if match is None:
        raise Fatal(f'{url!r} names no path; write file:///PATH/TO/CLONE, or the path alone')
    return Path(match['path'])  # own name: the user's


def _make_remote_source(url: str) -> _CloneSource:
    address = Address(location=url, local=False)
    on_github = _parse_github_name(address.redacted_location)
    base = re.split(r'[/:]', address.redacted_location.rstrip('/'))[-1]
    return _CloneSource(
        address=address,
        repo=on_github or _make_local_name(base),
        url=f'{GITHUB}/{on_github}' if on_github else address.redacted_location,
    )


def _make_local_source(path: Path) -> _CloneSource:
    """Return the source for a folder: a work tree, its .git, or a bare repository.

    Raises: Fatal if it is none of these; Unclonable for a shallow clone.
    """
    try:
        # A `$` in a path is literal: GitPython would expand it as a variable.
        with Repo(path.absolute(), expand_vars=False) as repository:
            common, origin = Path(repository.common_dir), _load_origin(repository)
    except (InvalidGitRepositoryError, OSError) as error:
        raise Fatal(_explain_no_repository(path)) from error
    if (common / 'shallow').exists():
        raise Unclonable(
            RepositoryReason.SHALLOW,
            f'{path} is a shallow clone, which hides when a test was first public; '
            'run `git fetch --unshallow` in it first',
        )
    on_github = _parse_github_name(terminal.strip_credentials_and_query(origin))
    folder = path.resolve()
    return _CloneSource(
        address=Address(location=str(folder), local=True, objects=common.resolve() / 'objects'),
        repo=on_github
        or _make_local_name((folder.parent if folder.name == '.git' else folder).name),
        url=f'{GITHUB}/{on_github}' if on_github else None,
    )


def _explain_no_repository(path: Path) -> str:
    """Return a sentence on a path that is no repository, such as a folder of one."""
    folder = path.resolve()
    try:
        with Repo(folder, search_parent_directories=True, expand_vars=False) as around:
            git_dir, tree = Path(around.git_dir), around.working_tree_dir
    except (InvalidGitRepositoryError, NoSuchPathError, OSError):
        tree = None
    top = Path(tree).resolve() if tree is not None else None
    # The work tree of a folder in `.git` may lie elsewhere (core.worktree).
    if top is None or not folder.is_dir() or not folder.is_relative_to(top):
        return f'{path} is not a Git repository; name a clone, a URL or owner/name'
    sentence = f'{path} is not a Git repository, but a folder of {tree}: name that'
    inside = folder.relative_to(top).as_posix()
    kind = run_git(git_dir, 'cat-file', '-t', f'HEAD:{inside}', environment=ENVIRONMENT)
    if kind.stdout.strip() != 'tree':
        return sentence
    return f'{sentence}. If the folder is a project of its own: {suggest_split(inside)}'


def _load_origin(repository: Repo) -> str:
    """Return the URL of the remote `origin`; empty if there is none.

    Only the repository's own configuration file is read. Raises: Fatal if it cannot be read.
    """
    try:
        section = repository.config_reader('repository')
        return str(section.get_value('remote "origin"', 'url', default=''))
    except configparser.Error as error:
        raise Fatal(f'{repository.git_dir} has a configuration that cannot be read') from error


def _parse_github_name(url: str) -> str | None:
    match = _ON_GITHUB.fullmatch(url)
    return match['name'] if match else None


def _make_local_name(base: str) -> str:
    plain = re.sub(r'[^A-Za-z0-9_.-]+', '-', base.removesuffix('.git')).strip('-.')
    return f'local/{plain or "repository"}'


# The rest makes a bare mirror, which becomes visible once it is complete, and keeps it up to date.
# Commits that were fetched once stay: a ref that is deleted or rewritten at the source leaves its
# old commit under refs/coevo/kept/, since tasks may need it and dates depend on it. An interrupted
# first fetch leaves a scratch folder beside the mirror, from which the next run continues.

# Each fetch adds a pack, and every lookup of an object searches all packs.
_MOST_PACKS = 50

__all__ = ['find_default_ref', 'create_or_update_mirror', 'get_scratch_folder']


def create_or_update_mirror(remote: Remote, git_dir: Path) -> tuple[str, ...]:
    """Make or update a bare mirror that the caller has locked; return sentences about losses.

    A damaged mirror is built anew. The mirror shares no files with a local source.

    Raises: Unclonable if the source is unreadable, empty, shallow or too large; Transient if it
    cannot be reached now.
    """
    scratch = get_scratch_folder(git_dir)
    for leftover in git_dir.parent.glob(f'.{git_dir.name}.*'):
        if leftover != scratch or git_dir.is_dir():
            shutil.rmtree(leftover)
    advertised = remote.list_refs()
    if not git_dir.is_dir():
        return _create_mirror(remote, git_dir, advertised)
    tombstones.discard_tombstone(git_dir)
    if not damage.is_damaged(git_dir):
        try:
            _update_existing(remote, git_dir, advertised)
        except DamagedMirror:
            pass
        else:
            return ()
    return _create_mirror(remote, git_dir, advertised)


def find_default_ref(git_dir: Path) -> str:
    """Return the ref of the source's default branch, or the commit id of a detached HEAD.

    If the default branch has no commit, return another ref, preferably main or master.
    """
    refs = list_refs(git_dir)
    head = run_checked_git(git_dir, 'symbolic-ref', 'HEAD').strip()
    if head == HEAD and HEAD in refs:
        return refs[HEAD]
    # A source may have a branch checked out that has no commit yet.
    branches = sorted(ref for ref in refs if ref.startswith('refs/heads/'))
    usual = (head, 'refs/heads/main', 'refs/heads/master', *branches, *sorted(refs))
    return next(ref for ref in usual if ref in refs)


def get_scratch_folder(git_dir: Path) -> Path:
    """Return the folder in which a mirror is built until it is complete."""
    return git_dir.with_name(f'.{git_dir.name}.new')


def _create_mirror(remote: Remote, git_dir: Path, advertised: AdvertisedRefs) -> tuple[str, ...]:
    """Build a whole mirror or none, in place of a damaged mirror if there is one.

    Return sentences about objects that were lost.
    """
    scratch = get_scratch_folder(git_dir)
    goes_on = _can_continue(remote, scratch)
    if not goes_on:
        _init_scratch(remote, scratch)
    try:
        _fetch_changes(remote, scratch, advertised, careful=goes_on)
        if git_dir.is_dir():
            lost = damage.salvage_objects_and_describe_losses(git_dir, scratch)
        else:
            lost = tombstones.restore_objects_and_describe_losses(remote, git_dir, scratch)
    except Fatal:
        shutil.rmtree(scratch)
        raise
    if git_dir.is_dir():
        git_dir.rename(git_dir.with_name(f'.{git_dir.name}.damaged'))
    scratch.rename(git_dir)
    sync_to_disk(git_dir.parent)
    shutil.rmtree(git_dir.with_name(f'.{git_dir.name}.damaged'), ignore_errors=True)
    tombstones.discard_tombstone(git_dir)
    return lost


def _can_continue(remote: Remote, scratch: Path) -> bool:
    """Return whether an interrupted fetch of this source left a usable scratch folder."""
    try:
        return (
            scratch.exists()
            and load_origin(scratch) == remote.address.redacted_location
            and not damage.is_damaged(scratch)
        )
    except DamagedMirror:
        return False


def _init_scratch(remote: Remote, scratch: Path) -> None:
    shutil.rmtree(scratch, ignore_errors=True)
    run_checked_git(scratch, 'init', '--bare', '--quiet', '--template=')
    run_checked_git(scratch, 'config', ORIGIN, remote.address.redacted_location)


def _update_existing(remote: Remote, git_dir: Path, advertised: AdvertisedRefs) -> None:
    have = _list_source_refs(git_dir)
    if remote.address.redacted_location != load_origin(git_dir):
        _check_same_repository(remote, git_dir, advertised, have)
    elif have == advertised.refs and _has_same_head(git_dir, advertised):
        remote.copy_missing_objects(git_dir, have)
        return
    _fetch_changes(remote, git_dir, advertised, careful=False)


def _fetch_changes(
    remote: Remote, git_dir: Path, advertised: AdvertisedRefs, *, careful: bool
) -> None:
    """Keep commits that the source no longer has under refs of coevo, then fetch the new refs.

    careful  whether an earlier fetch was interrupted, see `Remote.fetch_refs`
    """
    remove_stale_files(git_dir)
    have = _list_source_refs(git_dir)
    moved = {ref: oid for ref, oid in have.items() if advertised.refs.get(ref) != oid}
    commands = [f'update {KEPT}{oid} {oid}\n' for oid in sorted(set(moved.values()))]
    commands += [f'delete {ref}\n' for ref in sorted(moved.keys() - advertised.refs.keys())]
    _change_refs(git_dir, commands)
    wanted = {ref: oid for ref, oid in advertised.refs.items() if have.get(ref) != oid}
    remote.fetch_refs(git_dir, wanted, advertised.branch, careful=careful)
    now = list_refs(git_dir)
    needless = {oid for ref, oid in moved.items() if _is_reachable_from_ref(git_dir, oid, ref, now)}
    _change_refs(git_dir, [f'delete {KEPT}{oid}\n' for oid in sorted(needless)])
    run_checked_git(git_dir, 'symbolic-ref', 'HEAD', advertised.branch or HEAD)
    run_checked_git(git_dir, 'config', ORIGIN, remote.address.redacted_location)
    run_checked_git(git_dir, 'pack-refs', '--all')
    if sum(1 for _ in git_dir.glob('objects/pack/*.pack')) > _MOST_PACKS:
        run_checked_git(git_dir, 'repack', '--geometric=2', '-d', '--quiet')


def _change_refs(git_dir: Path, commands: Iterable[str]) -> None:
    run_checked_git(git_dir, 'update-ref', '--no-deref', '--stdin', stdin=''.join(commands))


def _list_source_refs(git_dir: Path) -> dict[str, str]:
    """Return the refs that came from the source, without those that coevo added."""
    refs = list_refs(git_dir)
    return {ref: oid for ref, oid in refs.items() if ref == HEAD or not ref.startswith(OURS)}


def _has_same_head(git_dir: Path, advertised: AdvertisedRefs) -> bool:
    head = run_checked_git(git_dir, 'symbolic-ref', 'HEAD').strip()
    return head == (advertised.branch or HEAD)


def _check_same_repository(
    remote: Remote, git_dir: Path, advertised: AdvertisedRefs, have: Mapping[str, str]
) -> None:
    """Raise Unclonable if a mirror's new address has another repository.

    A repository may move, but its mirror must not mix two repositories.
    """
    theirs = {*advertised.refs.values()}
    if theirs.isdisjoint(have.values()) and find_missing_objects(git_dir, theirs) == theirs:
        raise Unclonable(
            RepositoryReason.ANOTHER_REPOSITORY,
            f'{remote.address.redacted_location} has nothing in common with the clone {git_dir.name}; '
            'give it a --name of its own',
        )


def _is_reachable_from_ref(git_dir: Path, oid: str, ref: str, refs: Mapping[str, str]) -> bool:
    """Return whether a ref still leads to the commit `oid`, at which it pointed before.

    Always False for tags and for refs that are gone.
    """
    if ref.startswith('refs/tags/') or ref not in refs:
        return False
    return not run_checked_git(git_dir, 'rev-list', '--max-count=1', oid, f'^{refs[ref]}', '--')
