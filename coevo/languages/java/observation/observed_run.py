"""An observer beside a running test process, and its judgement on the reported passes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Collection, Mapping, Sequence

from coevo.languages.java.observation.observer import (
    Observer,
    WatchedMethod,
    explain_unconfirmed_pass,
)
from coevo.languages.verdicts import UNOBSERVED
from coevo.sandboxes.sandbox import Process

_ACCEPT_SECONDS = 0.5


class ObservedRun:
    """The observation of one running test process by a thread beside it.

    It starts to listen at once. The process waits for the port before any code of the project runs.
    """

    def __init__(
        self,
        process: Process,
        targets: Sequence[WatchedMethod],
        lines: Mapping[str, Collection[int]] | None = None,
    ) -> None:
        """Start to listen; `lines` are the lines to watch, see `Observer`.

        Raises: Transient if the network of the job cannot be entered.
        """
        self._process = process
        self._observer = Observer(targets, lines)
        server = process.listen()
        port = server.getsockname()[1]
        self._thread = threading.Thread(
            target=self._accept_and_observe, args=(server,), daemon=True
        )
        self._thread.start()
        try:
            process.stdin.write(f'{port}\n'.encode())
            process.stdin.flush()
        except BrokenPipeError:
            return  # the process has ended, so the observer will see nothing

    def explain_unconfirmed_passes(self, expects: Sequence[Sequence[str]]) -> list[str | None]:
        """Return for each target why its pass is not credible; None if it is credible.

        Waits for the end of the JVM. All are `unobserved` if the JVM could not be observed.
        `expects` holds the names of expected throwables of each target, see
        `observer.explain_unconfirmed_pass`.
        """
        self._thread.join()
        seen = self._observer.seen
        if seen.trouble is not None:
            return [UNOBSERVED] * len(seen.invocations)
        return [
            explain_unconfirmed_pass(invocations, names, ended=seen.ended > index)
            for index, (invocations, names) in enumerate(
                zip(seen.invocations, expects, strict=True)
            )
        ]

    def find_reached_lines_by_type(self) -> dict[str, frozenset[int]]:
        """Return the watched lines that were executed, by top-level type.

        Waits for the end of the JVM. The result is empty if the JVM could not be observed to its
        end.
        """
        self._thread.join()
        seen = self._observer.seen
        if seen.trouble is not None:
            return {}
        return {name: frozenset(lines) for name, lines in seen.reached.items()}

    def _accept_and_observe(self, server: socket.socket) -> None:
        """Accept the first connection, stop listening, and observe through it until the JVM ends.

        The first connection is that of the JVM's agent. Returns if the process ends without one.
        """
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
            self._observer.observe_until_jvm_ends(connection)
