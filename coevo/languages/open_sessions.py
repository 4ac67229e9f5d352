"""Sandboxes that are kept open for runs to come, the one that was used longest ago closed first."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

Run_contra = TypeVar('Run_contra', contravariant=True)
Done_co = TypeVar('Done_co', covariant=True)
Key = TypeVar('Key', bound=Hashable)
Run = TypeVar('Run')
Done = TypeVar('Done')


class ReusableSession(Protocol[Run_contra, Done_co]):
    """An open one.

    started  whether it took the last run on; goes_on: whether it may take another one
    """

    @property
    def started(self) -> bool: ...

    @property
    def goes_on(self) -> bool: ...

    # None if it did not go to its end; the CPU seconds since the last one
    def run(self, run: Run_contra, /) -> tuple[Done_co | None, float]: ...

    # until the next run
    def pause(self) -> None: ...

    def close(self) -> None: ...


class OpenSessions(Generic[Key, Run, Done]):
    """Of one thread; at most so many at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[Key, ReusableSession[Run, Done]] = {}

    def run_in_session(
        self, key: Key, run: Run, started: Callable[[], ReusableSession[Run, Done]]
    ) -> tuple[Done | None, float]:
        """In the session of a key, in a new one where none is open or a run before has ended it."""
        spent = 0.0
        session = self._open.pop(key, None)
        if session is not None:
            done, spent = session.run(run)
            if session.started:
                self._keep_or_close(key, session)
                return done, spent
            session.close()
        while len(self._open) >= self._most:
            self._open.pop(next(iter(self._open))).close()
        session = started()
        done, more = session.run(run)
        self._keep_or_close(key, session)
        return done, spent + more

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def _keep_or_close(self, key: Key, session: ReusableSession[Run, Done]) -> None:
        if session.goes_on:
            session.pause()
            self._open[key] = session  # used last
        else:
            session.close()
