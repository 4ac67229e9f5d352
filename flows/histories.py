"""Search the histories of several clones at the same time, each in a process of its own.

The clones do not depend on each other: the bodies to search for are in the store before the first
search begins, and each result is a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.prints import BodyPrint
from coevo.model.listener import SILENT, Listener
from coevo.storage.place import Root
from coevo.storage.store import Store
from flows.processes import open_process_pool, raise_plain_fatal
from miners.dates.clone_search import SearchedClone
from miners.dates.dating import load_wanted_prints, search_clone_for_bodies

_STEP = 'histories'


Wanted = Mapping[str, Mapping[str, BodyPrint]]
"""The bodies to search for, as `load_wanted_prints` returns them."""


def search_histories(
    store: Store,
    repos: Sequence[str],
    wanted: Wanted,
    prepare: Callable[[str], SearchedClone],
    processes: int,
    listener: Listener = SILENT,
) -> None:
    """Search each clone for the bodies that need a date, and write the results to the store.

    With one process the clones are searched in this one, one after another. An error or an
    interruption ends all searches; a later call goes on where they were, but for some seconds.

    prepare  returns the clone of a repository; it is asked when the clone is searched, or sent to
             another process

    Raises: Fatal if a clone cannot be read; Transient if a process was killed.
    """
    if min(processes, len(repos)) <= 1:
        for number, repo in enumerate(repos):
            listener.step(_STEP, number, len(repos))
            search_clone_for_bodies(store, repo, prepare(repo), wanted, listener)
    else:
        _search_in_processes(store.root, repos, prepare, processes, listener)
    listener.step(_STEP, len(repos), len(repos))


def _search_in_processes(
    root: Root,
    repos: Sequence[str],
    prepare: Callable[[str], SearchedClone],
    processes: int,
    listener: Listener,
) -> None:
    pool_size = min(processes, len(repos))
    with open_process_pool(pool_size, _begin_worker, (root,), 'searched a history') as pool:
        futures = [_submit_search(pool, repo, prepare(repo)) for repo in repos]
        listener.step(_STEP, 0, len(repos))
        for number, future in enumerate(as_completed(futures), start=1):
            future.result()
            listener.step(_STEP, number, len(repos))


def _submit_search(pool: ProcessPoolExecutor, repo: str, clone: SearchedClone) -> Future[None]:
    git_dir = clone.repository.git_dir  # an open repository cannot be sent
    return pool.submit(_search_history, repo, git_dir, clone.crawled_at, clone.refs)


# The rest runs in the other processes.


@dataclass(slots=True, kw_only=True)
class _Worker:
    store: Store
    wanted: Wanted


_worker: _Worker | None = None


def _begin_worker(root: Root) -> None:
    """Load the bodies to search for."""
    global _worker
    store = Store(root)
    _worker = _Worker(store=store, wanted=load_wanted_prints(store))


def _search_history(
    repo: str, git_dir: Path, crawled_at: datetime, refs: tuple[tuple[str, str], ...]
) -> None:
    if _worker is None:
        raise AssertionError('the process was not prepared')
    clone = SearchedClone(repository=Repository(git_dir), crawled_at=crawled_at, refs=refs)
    with raise_plain_fatal():
        search_clone_for_bodies(_worker.store, repo, clone, _worker.wanted)
