"""Search the histories of several clones at the same time, each in a process of its own.

The clones do not depend on each other: the bodies to search for are in the store before the first
search begins, and each result is a file of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import datetime
from multiprocessing.connection import wait
from multiprocessing.synchronize import Event
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.prints import BodyPrint
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import SILENT, Listener
from coevo.storage.place import Root
from coevo.storage.store import Store
from miners.dates.clone_search import SearchedClone
from miners.dates.dating import load_wanted_prints, search_clone_for_bodies

_STEP = 'histories'


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryJob:
    """A clone to search, in a form that can be sent to another process; see `SearchedClone`."""

    repo: str
    git_dir: Path
    crawled_at: datetime
    refs: tuple[tuple[str, str], ...]

    def open_clone(self) -> SearchedClone:
        """Open the clone."""
        return SearchedClone(
            repository=Repository(self.git_dir), crawled_at=self.crawled_at, refs=self.refs
        )


def make_history_job(repo: str, clone: SearchedClone) -> HistoryJob:
    """Return the job that searches a clone."""
    return HistoryJob(
        repo=repo,
        git_dir=clone.repository.git_dir,
        crawled_at=clone.crawled_at,
        refs=clone.refs,
    )


def search_histories(
    store: Store, jobs: Sequence[HistoryJob], processes: int, listener: Listener = SILENT
) -> None:
    """Search each clone for the bodies that the store wants, and write the results to the store.

    With one process the clones are searched in this one, one after another. An error or an
    interruption ends all searches; a later call goes on where they were, but for some seconds.

    Raises: Fatal if a clone cannot be read; Transient if a process was killed.
    """
    if min(processes, len(jobs)) <= 1:
        wanted = load_wanted_prints(store)
        for number, job in enumerate(jobs):
            listener.step(_STEP, number, len(jobs))
            search_clone_for_bodies(store, job.repo, job.open_clone(), wanted, listener)
    else:
        _search_in_processes(store.root, jobs, processes, listener)
    listener.step(_STEP, len(jobs), len(jobs))


def _search_in_processes(
    root: Root, jobs: Sequence[HistoryJob], processes: int, listener: Listener
) -> None:
    # A forked process would inherit the locks of this one's threads in any state.
    context = multiprocessing.get_context('spawn')
    is_stopped = context.Event()
    with ProcessPoolExecutor(
        min(processes, len(jobs)),
        mp_context=context,
        initializer=_begin_worker,
        initargs=(root, is_stopped),
    ) as pool:
        futures = [pool.submit(_search_history, job) for job in jobs]
        listener.step(_STEP, 0, len(jobs))
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                future.result()
                listener.step(_STEP, number, len(jobs))
        except BrokenProcessPool:
            raise Transient(
                'a process that searched a history was killed, perhaps for want of memory: run the '
                'command again, with fewer --jobs'
            ) from None
        finally:
            is_stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)


# The rest runs in the other processes.


class _Stopped(Exception):
    """The end of a search that the main process no longer waits for."""


@dataclass(slots=True, kw_only=True)
class _Worker:
    store: Store
    wanted: Mapping[str, Mapping[str, BodyPrint]]
    is_stopped: Event


_worker: _Worker | None = None


def _begin_worker(root: Root, is_stopped: Event) -> None:
    """Load the bodies to search for, and leave interruptions to the main process."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_main_process, daemon=True).start()
    store = Store(root)
    _worker = _Worker(store=store, wanted=load_wanted_prints(store), is_stopped=is_stopped)


def _end_with_main_process() -> None:
    """Wait until the main process ends, and end this one; a killed process cannot ask for that."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _search_history(job: HistoryJob) -> None:
    worker = _worker
    if worker is None:
        raise AssertionError('the process was not prepared')

    def check_stopped(name: str, done: int, total: int) -> None:
        """Raise _Stopped once the main process has ended."""
        if worker.is_stopped.is_set():
            raise _Stopped

    try:
        search_clone_for_bodies(
            worker.store, job.repo, job.open_clone(), worker.wanted, Listener(step=check_stopped)
        )
    except Fatal as error:
        # The subclasses take other arguments than the sentence, which unpickling would mix up.
        raise Fatal(str(error)) from None
