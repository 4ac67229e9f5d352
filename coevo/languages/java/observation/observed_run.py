"""An observer beside a running test process, and what it says of the passes that are told."""

from __future__ import annotations

import socket
import threading
from collections.abc import Collection, Mapping, Sequence

from coevo.languages.java.observation.observer import Observer, WatchedMethod, find_disagreement
from coevo.languages.verdicts import UNOBSERVED
from coevo.sandboxes.sandbox import Process

_ACCEPT_SECONDS = 0.5


class ObservedRun:
    """Starts to listen at once; the job waits for the port, before any of its own code runs."""

    def __init__(
        self,
        process: Process,
        targets: Sequence[WatchedMethod],
        lines: Mapping[str, Collection[int]] | None = None,
    ) -> None:
        """Transient where the job's network cannot be entered; `lines` as `Observer` has them."""
        self._process = process
        self._observer = Observer(targets, lines)
        server = process.listen()
        port = server.getsockname()[1]
        self._thread = threading.Thread(target=self._follow_connection, args=(server,), daemon=True)
        self._thread.start()
        try:
            process.stdin.write(f'{port}\n'.encode())
            process.stdin.flush()
        except BrokenPipeError:
            return  # it has ended, of which the observer will have seen nothing

    def find_disagreements(self, expects: Sequence[Sequence[str]]) -> list[str | None]:
        """For each target why a pass of it is not to be believed; the process has ended.

        expects  of each target, see `observer.disagreement`
        """
        self._thread.join()
        seen = self._observer.seen
        if seen.trouble is not None:
            return [UNOBSERVED] * len(seen.invocations)
        return [
            find_disagreement(invocations, names, ended=seen.ended > index)
            for index, (invocations, names) in enumerate(
                zip(seen.invocations, expects, strict=True)
            )
        ]

    def find_reached_lines(self) -> dict[str, frozenset[int]]:
        """The lines that were, by their top-level type; the process has ended.

        None of them where it could not be observed to its end.
        """
        self._thread.join()
        seen = self._observer.seen
        if seen.trouble is not None:
            return {}
        return {name: frozenset(lines) for name, lines in seen.reached.items()}

    def _follow_connection(self, server: socket.socket) -> None:
        """The first to connect is the JVM's agent; nobody after it finds anyone listening."""
        with server:
            server.settimeout(_ACCEPT_SECONDS)
            while self._process.poll() is None:
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                break
            else:
                return
        connection.settimeout(None)
        with connection:
            self._observer.follow_connection(connection)
