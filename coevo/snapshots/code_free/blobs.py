"""Find the files from which texts are restored: in a user's clones, in a store, or by fetching."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from coevo.git.clones import (
    fetch_into_cache,
    hold_or_init_cached_clone,
    is_address,
    list_local_clones,
    lock_if_shared,
)
from coevo.git.fetches import FetchFailure, FetchTrouble
from coevo.git.process import run_git
from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.snapshots.code_free.recipes import TextSource


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobSearch:
    """The result of a search for the files of one repository.

    folders  for each file that was found, by the id of its blob: a clone that has it
    why      what kept other files away, such as Git's words; empty if all were found
    """

    folders: dict[str, Path]
    why: str = ''


def find_or_fetch_blobs(
    clones: Path | None, repo: str, url: str | None, sources: Sequence[TextSource]
) -> BlobSearch:
    """Return which clones have the files of a repository; fetch the files that no clone has.

    What is missing is fetched from `url` into coevo's cache. The result says why files are still
    missing.

    clones  a store or a folder with clones, as for `list_local_clones`
    """
    folders: dict[str, Path] = {}
    whys: list[str] = []
    local_clones = [*list_local_clones(clones, repo)]
    for git_dir in local_clones:
        with lock_if_shared(git_dir):
            folders |= dict.fromkeys(_list_present_blobs(git_dir, sources), git_dir)
    missing = [source for source in sources if source.blob not in folders]
    shown = ' and '.join(map(str, dict.fromkeys(local_clones)))
    if missing and local_clones:
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


def _fetch_blobs(
    repo: str, url: str | None, missing: Sequence[TextSource], folders: dict[str, Path]
) -> FetchFailure | None:
    """Fetch the commits of missing files into the cache, and add the files that came to `folders`.

    Return what kept files away; None if all fetches succeeded.
    """
    if not is_address(url):
        return FetchFailure(trouble=FetchTrouble.NO_ADDRESS)
    with hold_or_init_cached_clone(repo, url) as git_dir:
        revs = sorted({source.rev for source in missing})
        failure = fetch_into_cache(git_dir, url, revs)
        folders |= dict.fromkeys(_list_present_blobs(git_dir, missing), git_dir)
    return failure


@contextmanager
def open_clone(git_dir: str) -> Iterator[Repository]:
    """Yield the repository at a path, and close it at the end of the block.

    Meanwhile the clone is locked, see `lock_if_shared`.
    """
    path = Path(git_dir)  # own name: of a clone that `find_or_fetch_blobs` named
    with lock_if_shared(path), closing(Repository(path)) as repository:
        yield repository


def _list_present_blobs(git_dir: Path, sources: Sequence[TextSource]) -> Iterator[str]:
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
