"""List the refs of a clone's source, and fetch them in batches; say why a source cannot be cloned."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from coevo.display import terminal
from coevo.git.clones import FETCH, SILENCE_SECONDS, make_fetch_environment
from coevo.git.repository import ENVIRONMENT, load_absent_object_ids, save_absent_object_ids
from coevo.model.errors import Fatal, Transient
from coevo.storage.clone_folders import wait_for_change_lock
from miners.cloning.mirror_git import (
    NO_SPACE,
    count_bytes,
    find_missing_objects,
    list_refs,
    remove_stale_files,
    run_checked_git,
    run_git,
)

OURS = 'refs/coevo/'
HEAD = f'{OURS}HEAD'  # the source's commit if it has no branch checked out
KEPT = f'{OURS}kept/'  # commits that the source has rewritten or deleted
RELEASED = f'{OURS}released/'  # commits that the tasks of a snapshot need

_DIGITS = re.compile(r'(\d+)')

# Merges that Git hosts make, coevo's own refs, and replaced objects.
_IGNORED = re.compile(r'refs/(coevo|replace)/|refs/pull/[^/]+/merge$')

# The number of refs in one fetch: a later failure does not lose the refs that came before.
_BATCH = 500
# After an interruption: fewer refs in a fetch, and the tags in this many slices before the default
# branch.
_CAREFUL, _SLICES = 50, 16

# The digits of an object's name, unless the repository was made with --object-format=sha256.
_SHA1_DIGITS = 40


class RepositoryReason(StrEnum):
    """The reasons why a repository cannot be cloned."""

    CLONE_TOO_LARGE = 'clone_too_large'  # its history takes more bytes than a clone may have
    EMPTY = 'empty'
    GONE = 'gone'  # or private, which its server does not tell
    FORBIDDEN = 'forbidden'  # it asks for a login, or was blocked
    SHALLOW = 'shallow'  # a shallow clone hides when a test was first public
    UNREADABLE = 'unreadable'  # Git or coevo cannot read it where it lies
    ANOTHER_REPOSITORY = (
        'another_repository'  # it has no commit in common with the clone of its name
    )


class Unclonable(Fatal):
    """A repository that cannot be cloned as long as it and the limits stay as they are.

    A command for one repository ends with it; a run over many continues.
    """

    def __init__(self, reason: RepositoryReason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


_SENTENCES = {
    r'corruption on the remote side': (
        RepositoryReason.UNREADABLE,
        'is damaged where it lies; repair it, or clone it from elsewhere and name the copy',
    ),
    r'dubious ownership': (
        RepositoryReason.UNREADABLE,
        'belongs to another user; clone it yourself and name the copy',
    ),
    r'shallow': (
        RepositoryReason.SHALLOW,
        'is a shallow clone, which hides the past; run `git fetch --unshallow` in it first',
    ),
    # Hosts such as GitHub ask for a login for private repositories and also for absent ones.
    r'could not read Username': (
        RepositoryReason.GONE,
        'asks for a login (401): it is private, renamed or gone; check the name, or name a clone of it',
    ),
    # Git says so only if the address had a login.
    r'Authentication failed': (
        RepositoryReason.FORBIDDEN,
        'refuses the login of its address (401): the password or token is wrong or expired; give another',
    ),
    r'not found|does not exist|not appear to be a git repository': (
        RepositoryReason.GONE,
        'cannot be found or is private; check the name, or clone it yourself and name the copy',
    ),
    r'Permission denied|Access denied|returned error: 4(0[134]|51)': (
        RepositoryReason.FORBIDDEN,
        'cannot be read without logging in; clone it yourself and name the copy',
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A place to fetch from: a URL, or the path of a repository on this machine."""

    location: str
    local: bool
    objects: Path | None = None  # the folder of objects, for a local repository

    @property
    def redacted_location(self) -> str:
        """The location without credentials: no user, password or token."""
        return self.location if self.local else terminal.strip_credentials_and_query(self.location)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """Limits on the cost of a clone; None sets no limit.

    clone_bytes  maximal size on disk of one clone
    store_bytes  maximal size on disk of all clones of a store; clones that can be fetched again are
                 evicted
    silence      seconds after which a stalled transfer (under 1,000 bytes a second) is aborted
    """

    clone_bytes: int | None = None
    store_bytes: int | None = None
    silence: int = SILENCE_SECONDS


NO_LIMITS = FetchLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvertisedRefs:
    """The refs of a source by name (HEAD among them if it is detached), and its default branch."""

    refs: Mapping[str, str]
    branch: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """The source of a clone, and the limits for fetching from it, during one run.

    lock  descriptor that Git inherits, since Git may outlive a killed run; None for no lock
    """

    address: Address
    limits: FetchLimits
    lock: int | None = None

    def list_refs(self) -> AdvertisedRefs:
        """Return the refs of the source and its default branch.

        Refs that hosts make for merges are left out, and HEAD is there only if it is detached.
        Raises: Unclonable if the source is empty or uses SHA-256.
        """
        refs, branch, head = {}, None, None
        listing = self._run_git(None, 'ls-remote', '--symref', self.address.location)
        for line in listing.split('\n')[:-1]:
            value, _, name = line.partition('\t')
            if name == 'HEAD' and value.startswith('ref: '):
                branch = value.removeprefix('ref: ')
            elif name == 'HEAD':
                head = value
            elif not name.endswith('^{}') and not _IGNORED.match(name):
                refs[name] = value
        if any(len(value) > _SHA1_DIGITS for value in (*refs.values(), head or '')):
            raise Unclonable(
                RepositoryReason.UNREADABLE,
                f'{self.address.redacted_location} names its objects by SHA-256, which coevo does not'
                ' read; name a copy of it that uses SHA-1, such as one by git fast-export',
            )
        if head and not branch:
            refs[HEAD] = head
        if not refs:
            raise Unclonable(
                RepositoryReason.EMPTY,
                f'{self.address.redacted_location} is empty: it has no commit to walk from',
            )
        return AdvertisedRefs(refs=refs, branch=branch)

    def fetch_refs(
        self, git_dir: Path, wanted: Mapping[str, str], branch: str | None, *, careful: bool
    ) -> None:
        """Fetch refs at these ids into a mirror, in batches, the default branch first.

        Each complete batch stays, whatever follows.

        careful  whether an earlier fetch was interrupted: use smaller batches, and fetch tags
                 before the default branch
        """
        refs = sorted(wanted, key=partial(_rank_ref, branch))
        batches = (
            [refs] if self.address.local and refs else _split_into_batches(refs, branch, careful)
        )
        for batch in batches:
            self.fetch_refspecs(git_dir, ''.join(f'+{wanted[ref]}:{ref}\n' for ref in batch))

    def fetch_refspecs(self, git_dir: Path, refspecs: str) -> None:
        """Fetch some refspecs (one a line); a failure leaves no partial files.

        Raises: Unclonable if the clone becomes too large or is shallow, Transient for the network.
        """
        left = self._count_bytes_left(git_dir)
        try:
            self._fetch_or_copy(git_dir, refspecs, left)
        except (Transient, Unclonable):
            # Git does not say that a file has reached the limit, so look at the sizes.
            if left is not None and _find_largest_size(git_dir / 'objects' / 'pack') >= left:
                raise self._make_size_error() from None
            raise
        finally:
            remove_stale_files(git_dir)
        if (git_dir / 'shallow').exists():
            reason, sentence = _SENTENCES['shallow']
            raise Unclonable(reason, f'{self.address.redacted_location} {sentence}')

    def copy_missing_objects(self, git_dir: Path, refs: Mapping[str, str]) -> None:
        """Copy objects that a mirror lacks and its local source now has.

        Nothing happens for a source on another machine.
        """
        if self.address.objects is not None and has_source_object_that_mirror_lacks(
            self.address.objects, git_dir
        ):
            self._copy_objects(git_dir, sorted(refs.items()), self._count_bytes_left(git_dir))

    def _fetch_or_copy(self, git_dir: Path, refspecs: str, left: int | None) -> None:
        fetch = (*FETCH, '--force', '--stdin', self.address.location)
        try:
            self._run_git(git_dir, *fetch, stdin=refspecs, file_bytes=left)
        except Unclonable as trouble:
            if self.address.objects is None or trouble.reason is not RepositoryReason.UNREADABLE:
                raise
            lines = (line.removeprefix('+').partition(':') for line in refspecs.splitlines())
            self._copy_objects(git_dir, [(ref, oid) for oid, _, ref in lines], left)

    def _copy_objects(
        self, git_dir: Path, refs: Sequence[tuple[str, str]], left: int | None
    ) -> None:
        """Copy all objects that some refs reach from a local source that Git cannot fetch from.

        Raises: Unclonable or Transient if that fails.
        """
        assert self.address.objects is not None, 'only what lies on this machine is copied'
        try:
            copy_objects(self.address.objects, git_dir, refs, lock=self.lock, file_bytes=left)
        except CopyError as error:
            raise self._make_error(str(error)) from error

    def _run_git(
        self,
        git_dir: Path | None,
        *arguments: str,
        stdin: str = '',
        file_bytes: int | None = None,
    ) -> str:
        """Run a Git command that contacts the source, and return its output.

        Raises: Unclonable or Transient if it fails.
        """
        environment = make_fetch_environment(
            local=self.address.local, silence_seconds=self.limits.silence
        )
        done = run_git(
            git_dir,
            *arguments,
            environment=environment,
            stdin=stdin,
            lock=self.lock,
            file_bytes=file_bytes,
        )
        if done.returncode:
            raise self._make_error(done.stderr)
        return done.stdout

    def _count_bytes_left(self, git_dir: Path) -> int | None:
        limit = self.limits.clone_bytes
        if limit is None:
            return None
        left = limit - count_bytes(git_dir)
        if left <= 0:
            raise self._make_size_error()
        return left

    def check_size(self, expected_bytes: int) -> None:
        """Raise Unclonable if the size that the host reports is above the limit."""
        limit = self.limits.clone_bytes
        if limit is not None and expected_bytes > limit:
            raise self._make_size_error()

    def _make_size_error(self) -> Unclonable:
        return Unclonable(
            RepositoryReason.CLONE_TOO_LARGE,
            f'{self.address.redacted_location} takes more than the {self.limits.clone_bytes:,} bytes that a '
            'clone may have; raise that limit, or leave the repository out',
        )

    def _make_error(self, complaint: str) -> RuntimeError:
        shown = self.address.redacted_location
        complaint = terminal.hide_credentials(complaint.replace(self.address.location, shown))
        lines = [line for line in complaint.splitlines() if line.startswith('fatal: ')]
        reason = (lines or complaint.splitlines() or ['no reason given'])[0].removeprefix('fatal: ')
        if NO_SPACE.search(complaint):
            return Transient(f'{shown} could not be fetched: {reason}')
        for pattern, (why, sentence) in _SENTENCES.items():
            if re.search(pattern, complaint):
                return Unclonable(why, f'{shown} {sentence}')
        if self.address.local:
            return Unclonable(
                RepositoryReason.UNREADABLE,
                f'{shown} cannot be read by Git ({reason}); repair it first',
            )
        return Transient(f'{shown} could not be fetched: {reason}')


def _find_largest_size(folder: Path) -> int:
    return max((path.stat().st_size for path in folder.glob('tmp_*')), default=0)


def _rank_ref(branch: str | None, ref: str) -> tuple[int, int, str]:
    """Return the key by which refs are sorted before they are fetched.

    The default branch comes first, since it brings most, then branches, tags, and all others.
    Shorter names come first within a kind, so that pull requests come in numerical order.
    """
    kinds = {'heads': 1, 'tags': 2}
    return 0 if ref == branch else kinds.get(ref.split('/')[1], 3), len(ref), ref


def _split_into_batches(
    refs: Sequence[str], branch: str | None, careful: bool
) -> Iterator[Sequence[str]]:
    first = [ref for ref in refs[:1] if ref == branch]
    slices = list(_split_tags_into_batches(refs)) if first and careful else []
    yield from slices
    if first:
        yield first
    done = {*first, *(ref for part in slices for ref in part)}
    rest = [ref for ref in refs if ref not in done]
    size = _CAREFUL if careful else _BATCH
    for start in range(0, len(rest), size):
        yield rest[start : start + size]


def _split_tags_into_batches(refs: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield slices of the tags among the refs, in version order.

    So a history is fetched in pieces, oldest first.
    """
    tags = [ref for ref in refs if ref.startswith('refs/tags/')]
    tags.sort(key=lambda ref: [(part.isdigit(), part.zfill(9)) for part in _DIGITS.split(ref)])
    size = -(-len(tags) // _SLICES)
    for start in range(0, len(tags), size or 1):
        yield tags[start : start + size]


# The rest copies from local clones that lack objects: partial clones, or copies without their
# largest files.
# Git refuses to fetch from such a source. Instead, its objects are packed here, by a Git that reads
# them as an alternate and never sees the source's configuration. Objects that its history names but
# nothing has are recorded as holes. All commits must be present.

_ABSENT = '?'


class CopyError(Exception):
    """Git's message about a source whose objects could not be packed."""


def copy_objects(
    source_objects: Path,
    git_dir: Path,
    refs: Sequence[tuple[str, str]],
    *,
    lock: int | None,
    file_bytes: int | None,
) -> None:
    """Copy all objects that some refs (name and id) reach into a mirror, and set the refs.

    Objects that the source lacks are recorded as holes.

    objects  the source's folder of objects

    Raises: CopyError if Git fails.
    """

    def run_checked(*arguments: str, stdin: str) -> str:
        """Run Git on the mirror and the source's objects, and return its output.

        Raises: CopyError if it fails.
        """
        done = run_git(
            git_dir,
            *arguments,
            environment=_make_environment(source_objects),
            stdin=stdin,
            lock=lock,
            file_bytes=file_bytes,
        )
        if done.returncode:
            raise CopyError(done.stderr or 'no reason given')
        return done.stdout

    tips = ''.join(f'{oid}\n' for _, oid in refs)
    listing = run_checked('rev-list', '--objects', '--missing=print', '--stdin', stdin=tips)
    lines = listing.split('\n')[:-1]
    there = [line for line in lines if not line.startswith(_ABSENT)]
    pack = str(git_dir / 'objects' / 'pack' / 'pack')
    packing = ('pack-objects', '--quiet', '--delta-base-offset', pack)
    run_checked(*packing, stdin=''.join(f'{line}\n' for line in there))
    absent = {line.removeprefix(_ABSENT) for line in lines if line.startswith(_ABSENT)}
    filled = {line.partition(' ')[0] for line in there}
    save_absent_object_ids(git_dir, absent | (load_absent_object_ids(git_dir) - filled))
    updates = ''.join(f'update {ref} {oid}\n' for ref, oid in refs)
    run_checked('update-ref', '--no-deref', '--stdin', stdin=updates)


def has_source_object_that_mirror_lacks(source_objects: Path, git_dir: Path) -> bool:
    """Return whether the source now has an object that the mirror is recorded to lack.

    objects  the source's folder of objects
    """
    lacked = load_absent_object_ids(git_dir)
    return (
        bool(lacked)
        and find_missing_objects(git_dir, lacked, _make_environment(source_objects)) < lacked
    )


def _make_environment(objects: Path) -> dict[str, str]:
    """Return an environment in which Git also reads these objects."""
    return {**ENVIRONMENT, 'GIT_ALTERNATE_OBJECT_DIRECTORIES': _quote_path(objects)}


def _quote_path(path: Path) -> str:
    """Quote a path for Git's list of folders, which is separated by colons."""
    escaped = os.fspath(path).replace('\\', '\\\\').replace('"', '\\"')
    return f'"{escaped}"'


def protect_commits_from_removal(git_dir: Path, revs: Iterable[str]) -> None:
    """Point refs under refs/coevo/released/ at commits, so that Git and coevo never remove them.

    Raises: DamagedMirror if one is missing.
    """
    with wait_for_change_lock(git_dir):
        remove_stale_files(git_dir)
        new = {*revs} - {*(ref.removeprefix(RELEASED) for ref in list_refs(git_dir))}
        commands = [f'update {RELEASED}{rev} {rev}\n' for rev in sorted(new)]
        if commands:
            run_checked_git(git_dir, 'update-ref', '--stdin', stdin=''.join(commands))
            run_checked_git(git_dir, 'pack-refs', '--all')
