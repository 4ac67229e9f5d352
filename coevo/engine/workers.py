"""Work on many items in a few threads, each with a builder of its own."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Self, TypeVar

from coevo.languages.base import Language
from coevo.languages.engine import Builder, Engine, RunSettings
from coevo.model.errors import Bug, Transient, catch_bug
from coevo.model.records import Pair

# A failure of coevo itself (a full disk, a killed helper) is tried again at once. If it persists,
# the item is left for the next run of the miner, which works on missing items.
TRIES = 2

# All that a thread does outside of sandboxes (a diff, a git process) ends well within this time.
_ENDING_SECONDS = 20.0

Item = TypeVar('Item')
Result = TypeVar('Result')
Work = Callable[[Item, Callable[[], Builder]], Result]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFailure:
    """A transient failure that persisted in the last try of an item; `sentence` describes it."""

    sentence: str


def run_in_parallel(
    work: Work[Item, Result], items: Sequence[Item], builders: BuilderPool, *, jobs: int
) -> Generator[tuple[Item, Result | WorkFailure | Bug]]:
    """Work on items in up to `jobs` threads and yield each with its result as it is done.

    An item that fails yields a WorkFailure (transient, tried twice) or a Bug. After a bug the
    thread closes its builder and opens a new one for the next item.

    Fatal errors and interrupts stop all threads and are raised here. When the generator ends or is
    closed, it halts the builders and waits up to 20 seconds for the threads, so that the builders'
    folder can be removed.
    """
    todo: queue.SimpleQueue[Item] = queue.SimpleQueue()
    for item in items:
        todo.put(item)
    done: queue.SimpleQueue[tuple[Item, Result | WorkFailure | Bug] | BaseException]
    done = queue.SimpleQueue()
    stop = threading.Event()

    def run_thread() -> None:
        """Work until no item is left; pass any error on to the caller and close the builder."""
        opened: list[Builder] = []
        try:
            work_items(opened)
        except BaseException as end:  # noqa: BLE001 - raised again in the caller's thread
            done.put(end)
        finally:
            for builder in opened:
                builder.close()

    def work_items(opened: list[Builder]) -> None:
        """Work on items until none is left or the run is stopped."""
        while not stop.is_set():
            try:
                item = todo.get_nowait()
            except queue.Empty:
                return
            result = _retry_item_if_transient(
                work, item, partial(_open_once, builders, opened), stop
            )
            if isinstance(result, Bug) and opened:
                opened.pop().close()
            done.put((item, result))

    threads = [
        threading.Thread(target=run_thread, daemon=True) for _ in range(min(jobs, len(items)))
    ]
    try:
        for thread in threads:
            thread.start()
        for _ in items:
            result = done.get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        stop.set()
        builders.halt()
        _wait_briefly_for_threads(threads)


def _open_once(builders: BuilderPool, opened: list[Builder]) -> Builder:
    """Return the thread's builder; open it on first use."""
    if not opened:
        opened.append(builders.open_builder())
    return opened[0]


def _wait_briefly_for_threads(threads: Sequence[threading.Thread]) -> None:
    deadline = time.monotonic() + _ENDING_SECONDS
    for thread in threads:
        if thread.is_alive():
            thread.join(max(0.0, deadline - time.monotonic()))


def _retry_item_if_transient(
    work: Work[Item, Result],
    item: Item,
    builder: Callable[[], Builder],
    stop: threading.Event,
) -> Result | WorkFailure | Bug:
    """Work on an item, up to `TRIES` times while errors are transient; return a bug at once."""
    trouble = ''
    for _ in range(TRIES):
        if stop.is_set():
            break
        try:
            return catch_bug(partial(work, item, builder))
        except Transient as error:
            trouble = str(error)
    return WorkFailure(sentence=trouble)


class BuilderPool:
    """Opens a builder for each thread of a run, over one engine that is made on first use.

    A context manager. All threads must have ended before it exits, which `halt` speeds up: the
    folder that they write to is removed at the exit, and a late write would leave it behind.
    """

    def __init__(self, language: Language, run: RunSettings, pairs: Iterable[Pair]) -> None:
        self._language, self._run = language, run
        self._uses = Counter(rev for pair in pairs for rev in (pair.old.rev, pair.new.rev))
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._halted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.halt()
        self._stack.close()

    def open_builder(self) -> Builder:
        """Open a builder for one thread. Raises Transient once the run is halted."""
        with self._lock:
            if self._halted:
                raise Transient('the run is being ended')
            if self._engine is None:
                self._engine = self._language.make_engine(self._run, self._stack)
            return self._engine.make_builder()

    def remove_builds_no_longer_needed(self, pair: Pair) -> None:
        """Note that a pair is done; remove builds of revisions that no other pair needs."""
        for rev in (pair.old.rev, pair.new.rev):
            self._uses[rev] -= 1
            if not self._uses[rev] and self._engine is not None:
                self._engine.remove_builds_of_revision(rev)

    def halt(self) -> None:
        """Stop what threads may be waiting for, and refuse new builders."""
        with self._lock:
            self._halted = True
            if self._engine is not None:
                self._engine.stop_running_processes()
        self._run.end_helpers()
