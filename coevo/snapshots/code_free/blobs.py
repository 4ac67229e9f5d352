"""Find the files from which texts are restored: in a user's clones, in a store, or by fetching."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from coevo.git.clones import fetch_into_cache, hold_cached_clone, is_address
from coevo.git.fetches import FetchFailure, FetchTrouble
from coevo.git.process import run_git
from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.snapshots.code_free.recipes import TextSource
from coevo.storage.clone_folders import locate_clone, lock_for_use


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobSearch:
    """The result of a search for the files of one repository.

    folders  for each file that was found, by the id of its blob: a clone that has it
    why      what kept other files away, such as Git's words; empty if all were found
    """

    folders: dict[str, Path]
    why: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneLocations:
    """Places to look for repositories, in this order; files that neither has are fetched.

    folder  a user's clones, as OWNER/NAME, OWNER/NAME.git, OWNER+NAME.git or OWNER+NAME/repo
    store   a coevo store, whose clones are used
    """

    folder: Path | None = None
    store: Path | None = None

    def find_blobs(self, repo: str, url: str | None, sources: Sequence[TextSource]) -> BlobSearch:
        """Return which clones have the files of a repository; fetch the files that no clone has.

        What is missing is fetched from `url` into coevo's cache. The result says why files are
        still missing.
        """
        folders: dict[str, Path] = {}
        whys: list[str] = []
        clones = [*self._list_clones(repo)]
        for git_dir in clones:
            with lock_beside(git_dir):
                folders |= dict.fromkeys(_list_blobs(git_dir, sources), git_dir)
        missing = [source for source in sources if source.blob not in folders]
        shown = ' and '.join(map(str, dict.fromkeys(clones)))
        if missing and clones:
            whys.append(f'{shown} lacks {len(missing)} of {len(sources)} files')
        failure = None
        if missing:
            failure = _fetch_blobs(repo, url, missing, folders)
            whys += [str(failure)] if failure is not None else []
        lacking = next((source for source in missing if source.blob not in folders), None)
        if lacking is None:
            return BlobSearch(folders=folders)
        if failure is None or failure.trouble is FetchTrouble.LACKS_COMMIT:
            whys.append(f'first lacking is {lacking.path} of {lacking.rev[:12]}')
        return BlobSearch(folders=folders, why='; '.join(whys))

    def _list_clones(self, repo: str) -> Iterator[Path]:
        """Yield the Git directories of a repository's clones: in `folder`, then in the store."""
        owner, _, name = repo.partition('/')
        forms = (f'{owner}/{name}', f'{owner}/{name}.git', f'{owner}+{name}.git')
        named = () if self.folder is None else (self.folder / form for form in forms)
        mirrored = () if self.folder is None else (self.folder / f'{owner}+{name}' / 'repo',)
        for path in (*named, *mirrored):
            for git_dir in (path / '.git', path):
                if (git_dir / 'HEAD').is_file():
                    yield git_dir
                    break
        if self.store is not None and locate_clone(self.store, repo).is_dir():
            yield locate_clone(self.store, repo)


def _fetch_blobs(
    repo: str, url: str | None, missing: Sequence[TextSource], folders: dict[str, Path]
) -> FetchFailure | None:
    """Fetch the commits of missing files into the cache, and add the files that came to `folders`.

    Return what kept files away; None if all fetches succeeded.
    """
    if not is_address(url):
        return FetchFailure(trouble=FetchTrouble.NO_ADDRESS)
    with hold_cached_clone(repo, url) as git_dir:
        revs = sorted({source.rev for source in missing})
        failure = fetch_into_cache(git_dir, url, revs)
        folders |= dict.fromkeys(_list_blobs(git_dir, missing), git_dir)
    return failure


@contextmanager
def lock_beside(git_dir: Path) -> Iterator[None]:
    """Hold the lock of a clone during the block, so that no other process removes the clone.

    Only clones of a store or of the cache have a lock (a file `.use` beside them); others, such as
    a user's, are not locked.
    """
    if not git_dir.with_suffix('.use').is_file():
        yield
        return
    with lock_for_use(git_dir):
        yield


@contextmanager
def open_clone(git_dir: str) -> Iterator[Repository]:
    """Yield the repository at a path, and close it at the end of the block.

    Meanwhile the clone is locked, see `lock_beside`.
    """
    path = Path(git_dir)  # own name: of a clone that `find_blobs` named
    with lock_beside(path), closing(Repository(path)) as repository:
        yield repository


def _list_blobs(git_dir: Path, sources: Sequence[TextSource]) -> Iterator[str]:
    """Yield the ids of the wanted blobs that a clone has; none for a damaged clone."""
    wanted = sorted({source.blob for source in sources})
    request = ''.join(f'{blob}\n' for blob in wanted)
    try:
        answers = run_git(git_dir, 'cat-file', '--batch-check', stdin=request.encode())
    except Fatal:
        return  # a damaged clone has nothing; another one, or a fetch, may have it
    for blob, line in zip(wanted, answers.decode('utf-8', 'replace').splitlines(), strict=True):
        if line.split()[:2] == [blob, 'blob']:
            yield blob
