"""Pools of worker processes, which end with the command that opened them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from multiprocessing.synchronize import Event

from coevo.model.errors import Fatal, Transient


@contextmanager
def open_process_pool(
    processes: int, begin: Callable[..., None], arguments: tuple[object, ...], work: str
) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of new processes; at the end of the block they end at once, whatever they do.

    begin  is called with the arguments in each process before its first job
    work   what the processes do, for the message about a killed one, such as 'made tasks'

    Raises: Transient if a process was killed.
    """
    # A forked process would inherit the locks of this one's threads in any state.
    context = multiprocessing.get_context('spawn')
    is_stopped = context.Event()
    with ProcessPoolExecutor(
        processes,
        mp_context=context,
        initializer=_begin_process,
        initargs=(is_stopped, begin, arguments),
    ) as pool:
        try:
            yield pool
        except BrokenProcessPool:
            raise Transient(
                f'a process that {work} was killed, perhaps for want of memory: run the command '
                'again, with fewer --jobs'
            ) from None
        finally:
            is_stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def raise_plain_fatal() -> Iterator[None]:
    """Raise a subclass of Fatal as Fatal itself, so that it can be sent to the main process.

    The subclasses take other arguments than the sentence, which unpickling would mix up.
    """
    try:
        yield
    except Fatal as error:
        raise Fatal(str(error)) from None


# The rest runs in the other processes.


def _begin_process(
    is_stopped: Event, begin: Callable[..., None], arguments: tuple[object, ...]
) -> None:
    """Leave interruptions to the main process, and end this process when the pool or that one ends.

    A killed main process cannot ask for it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_main_process, daemon=True).start()
    threading.Thread(target=_end_when_stopped, args=(is_stopped,), daemon=True).start()
    begin(*arguments)


def _end_with_main_process() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _end_when_stopped(is_stopped: Event) -> None:
    is_stopped.wait()
    os._exit(1)
