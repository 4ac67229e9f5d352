"""Items worked on side by side by a few threads, each with a builder of its own."""

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
from coevo.model.containment import Bug, run_contained
from coevo.model.errors import Transient
from coevo.model.records import Pair

# A trouble of ours (a full disk, a killed helper) is tried again at once, then left for the next
# run of the miner, which does what is missing.
TRIES = 2

# What a thread does outside of sandboxes (a diff, a git process) is over long before.
_ENDING_SECONDS = 20.0

Item = TypeVar('Item')
Result = TypeVar('Result')
Work = Callable[[Item, Callable[[], Builder]], Result]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFailure:
    """Trouble of ours that stayed after the last try."""

    sentence: str


def run_in_parallel(
    work: Work[Item, Result], items: Sequence[Item], builders: BuilderPool, *, jobs: int
) -> Generator[tuple[Item, Result | WorkFailure | Bug]]:
    """Results as they come. A bug ends its item, and the builder that it was met in.

    What has to end the run (Fatal, an interrupt) stops all threads and is raised here. The threads
    outlive no iteration: its end, or its being closed, halts the builders and waits for the
    threads, so that the builders' folder can be removed.
    """
    todo: queue.SimpleQueue[Item] = queue.SimpleQueue()
    for item in items:
        todo.put(item)
    done: queue.SimpleQueue[tuple[Item, Result | WorkFailure | Bug] | BaseException]
    done = queue.SimpleQueue()
    stop = threading.Event()

    def run_thread() -> None:
        opened: list[Builder] = []
        try:
            work_items(opened)
        except BaseException as end:  # noqa: BLE001 - raised again in the caller's thread
            done.put(end)
        finally:
            for builder in opened:
                builder.close()

    def work_items(opened: list[Builder]) -> None:
        while not stop.is_set():
            try:
                item = todo.get_nowait()
            except queue.Empty:
                return
            result = _try_item(work, item, partial(_open_once, builders, opened), stop)
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
        _wait_for_threads(threads)


def _open_once(builders: BuilderPool, opened: list[Builder]) -> Builder:
    """The builder of a thread, on its first use a new one."""
    if not opened:
        opened.append(builders.open_builder())
    return opened[0]


def _wait_for_threads(threads: Sequence[threading.Thread]) -> None:
    deadline = time.monotonic() + _ENDING_SECONDS
    for thread in threads:
        if thread.is_alive():
            thread.join(max(0.0, deadline - time.monotonic()))


def _try_item(
    work: Work[Item, Result],
    item: Item,
    builder: Callable[[], Builder],
    stop: threading.Event,
) -> Result | WorkFailure | Bug:
    trouble = ''
    for _ in range(TRIES):
        if stop.is_set():
            break
        try:
            return run_contained(partial(work, item, builder))
        except Transient as error:
            trouble = str(error)
    return WorkFailure(sentence=trouble)


# Builders over the same engine for the threads of a run, opened when something is to be run.


class BuilderPool:
    """A context manager; its threads have to end before it does, which `halt` hastens.

    What they write to is removed at the end: a thread that still writes would leave it behind.
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
        """A builder for one thread; Transient once the run is halted."""
        with self._lock:
            if self._halted:
                raise Transient('the run is being ended')
            if self._engine is None:
                self._engine = self._language.make_engine(self._run, self._stack)
            return self._engine.make_builder()

    def forget_pair(self, pair: Pair) -> None:
        """A pair is done: revisions that no other one needs are removed."""
        for rev in (pair.old.rev, pair.new.rev):
            self._uses[rev] -= 1
            if not self._uses[rev] and self._engine is not None:
                self._engine.forget_revision(rev)

    def halt(self) -> None:
        """End what threads may be waiting for, and let nothing begin."""
        with self._lock:
            self._halted = True
            if self._engine is not None:
                self._engine.halt()
        self._run.end_helpers()
