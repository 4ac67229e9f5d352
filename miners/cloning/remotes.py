"""Where clones come from: what a source has, and fetching it piece by piece."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from coevo.display import credentials
from coevo.git.network import FETCH
from coevo.git.network import SILENCE_SECONDS
from coevo.git.network import fetching
from coevo.model.errors import Transient
from miners.cloning import holes
from miners.cloning.mirror_git import NO_SPACE
from miners.cloning.mirror_git import bytes_of
from miners.cloning.mirror_git import run
from miners.cloning.mirror_git import sweep
from miners.discovery.repository_drops import RepositoryReason
from miners.discovery.repository_drops import Unclonable

OURS = 'refs/coevo/'
HEAD = f'{OURS}HEAD'  # the source's commit where no branch is checked out
KEPT = f'{OURS}kept/'  # what the source has rewritten or deleted
RELEASED = f'{OURS}released/'  # what tasks of a snapshot need

_DIGITS = re.compile(r'(\d+)')

# What Git hosts merge, what we keep by ourselves, and replaced objects.
_IGNORED = re.compile(r'refs/(coevo|replace)/|refs/pull/[^/]+/merge$')

# So many refs are asked for at once: what came stays, whatever becomes of the next ones.
_BATCH = 500
# After a break: fewer, and the history of the default branch in so many pieces.
_CAREFUL, _SLICES = 50, 16

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
    # Hosts such as GitHub ask for a login where they show nothing, also where nothing is.
    r'could not read Username': (
        RepositoryReason.GONE,
        'asks for a login (401): it is private, renamed or gone; check the name, or name a clone of it',
    ),
    # Git says so only of a login that it had.
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
    """Where to fetch from: a URL, or the path of a repository on this machine."""

    location: str
    local: bool
    objects: Path | None = None  # of a local one: the folder where they lie

    @property
    def shown(self) -> str:
        """Without what logs in: a user, a password, a token."""
        return self.location if self.local else credentials.without(self.location)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """What a clone may cost; None sets no limit.

    clone_bytes  on disk, of one clone
    store_bytes  on disk, of all clones of a store; what can be had again gives way
    silence      seconds without a word of the server (less than 1,000 bytes each)
    """

    clone_bytes: int | None = None
    store_bytes: int | None = None
    silence: int = SILENCE_SECONDS


NO_LIMITS = FetchLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Advertised:
    """The refs of a source by name (HEAD among them if it is detached), and its default branch."""

    refs: Mapping[str, str]
    branch: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A source as one run reaches it; `lock` is shared with Git, which may outlive a killed run."""

    address: Address
    limits: FetchLimits
    lock: int | None = None

    def ask(self) -> Advertised:
        """What the source has; Unclonable if that is nothing."""
        refs, branch, head = {}, None, None
        listing = self._reach(None, 'ls-remote', '--symref', self.address.location)
        for line in listing.split('\n')[:-1]:
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
            raise Unclonable(
                RepositoryReason.EMPTY,
                f'{self.address.shown} is empty: it has no commit to walk from',
            )
        return Advertised(refs=refs, branch=branch)

    def fetch(
        self, git_dir: Path, wanted: Mapping[str, str], branch: str | None, *, careful: bool
    ) -> None:
        """Bring refs to these ids, the default branch first; each batch is there to stay.

        careful  whether it broke off before: in smaller batches, tags before the default branch
        """
        refs = sorted(wanted, key=partial(_rank, branch))
        batches = [refs] if self.address.local and refs else _batches(refs, branch, careful)
        for batch in batches:
            self.bring(git_dir, ''.join(f'+{wanted[ref]}:{ref}\n' for ref in batch))

    def bring(self, git_dir: Path, refspecs: str) -> None:
        """Fetch what refspecs (a line each) name; nothing half-fetched is left."""
        left = self._bytes_left(git_dir)
        try:
            self._bring(git_dir, refspecs, left)
        except (Transient, Unclonable):
            # Git does not say that what it wrote has reached the limit.
            if left is not None and _largest(git_dir / 'objects' / 'pack') >= left:
                raise self._too_large() from None
            raise
        finally:
            sweep(git_dir)
        if (git_dir / 'shallow').exists():
            reason, sentence = _SENTENCES['shallow']
            raise Unclonable(reason, f'{self.address.shown} {sentence}')

    def fill(self, git_dir: Path, refs: Mapping[str, str]) -> None:
        """Bring what a mirror lacks since its local source lacked it once, if that has it by now."""
        if self.address.objects is not None and holes.are_filled(self.address.objects, git_dir):
            self._copy(git_dir, sorted(refs.items()), self._bytes_left(git_dir))

    def _bring(self, git_dir: Path, refspecs: str, left: int | None) -> None:
        fetch = (*FETCH, '--force', '--stdin', self.address.location)
        try:
            self._reach(git_dir, *fetch, stdin=refspecs, file_bytes=left)
        except Unclonable as trouble:
            if self.address.objects is None or trouble.reason is not RepositoryReason.UNREADABLE:
                raise
            lines = (line.removeprefix('+').partition(':') for line in refspecs.splitlines())
            self._copy(git_dir, [(ref, oid) for oid, _, ref in lines], left)

    def _copy(self, git_dir: Path, refs: Sequence[tuple[str, str]], left: int | None) -> None:
        """From a local source that lacks objects, all that it has."""
        assert self.address.objects is not None, 'only what lies on this machine is copied'
        try:
            holes.copy(self.address.objects, git_dir, refs, lock=self.lock, file_bytes=left)
        except holes.CannotCopy as error:
            raise self._trouble(str(error)) from error

    def _reach(
        self,
        git_dir: Path | None,
        *arguments: str,
        stdin: str = '',
        file_bytes: int | None = None,
    ) -> str:
        """Run a command that talks to the source."""
        environment = fetching(local=self.address.local, silence_seconds=self.limits.silence)
        done = run(
            git_dir,
            *arguments,
            environment=environment,
            stdin=stdin,
            lock=self.lock,
            file_bytes=file_bytes,
        )
        if done.returncode:
            raise self._trouble(done.stderr)
        return done.stdout

    def _bytes_left(self, git_dir: Path) -> int | None:
        limit = self.limits.clone_bytes
        if limit is None:
            return None
        left = limit - bytes_of(git_dir)
        if left <= 0:
            raise self._too_large()
        return left

    def check_size(self, expected_bytes: int) -> None:
        """Unclonable if what the host says of a source's size is above the limit already."""
        limit = self.limits.clone_bytes
        if limit is not None and expected_bytes > limit:
            raise self._too_large()

    def _too_large(self) -> Unclonable:
        return Unclonable(
            RepositoryReason.CLONE_TOO_LARGE,
            f'{self.address.shown} takes more than the {self.limits.clone_bytes:,} bytes that a '
            'clone may have; raise that limit, or leave the repository out',
        )

    def _trouble(self, complaint: str) -> RuntimeError:
        shown = self.address.shown
        complaint = credentials.hidden(complaint.replace(self.address.location, shown))
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


def _largest(folder: Path) -> int:
    return max((path.stat().st_size for path in folder.glob('tmp_*')), default=0)


def _rank(branch: str | None, ref: str) -> tuple[int, int, str]:
    """The default branch, since it brings most, then branches, tags and the rest.

    By length before by name: pull requests come in the order of their numbers.
    """
    kinds = {'heads': 1, 'tags': 2}
    return 0 if ref == branch else kinds.get(ref.split('/')[1], 3), len(ref), ref


def _batches(refs: Sequence[str], branch: str | None, careful: bool) -> Iterator[Sequence[str]]:
    first = [ref for ref in refs[:1] if ref == branch]
    slices = list(_slices(refs)) if first and careful else []
    yield from slices
    if first:
        yield first
    done = {*first, *(ref for part in slices for ref in part)}
    rest = [ref for ref in refs if ref not in done]
    size = _CAREFUL if careful else _BATCH
    for start in range(0, len(rest), size):
        yield rest[start : start + size]


def _slices(refs: Sequence[str]) -> Iterator[Sequence[str]]:
    """Tags in the order of their versions, which take a history in pieces, oldest first."""
    tags = [ref for ref in refs if ref.startswith('refs/tags/')]
    tags.sort(key=lambda ref: [(part.isdigit(), part.zfill(9)) for part in _DIGITS.split(ref)])
    size = -(-len(tags) // _SLICES)
    for start in range(0, len(tags), size or 1):
        yield tags[start : start + size]
