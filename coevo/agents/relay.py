"""The relay that forwards an agent's calls from the sandbox to one endpoint and adds the key.

The relay is the agent's only network. It forwards what the endpoint's API needs for a round and
nothing else: no other calls, and no tools that run at the endpoint and could look up the answer
there.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from email.message import Message

from coevo.agents.costs import Meter
from coevo.agents.endpoint import Endpoint
from coevo.agents.keeping import AnswerLog
from coevo.agents.records import Rejection
from coevo.agents.relayed_calls import (
    ANSWER_SECONDS,
    ANSWERS_BYTES,
    IDLE_SECONDS,
    REQUESTS_BYTES,
    Allowance,
    RelayServer,
)
from coevo.storage.bounded_http import HttpAnswer, HttpClient, find_environment_proxy

_CONNECT_SECONDS = 30.0
# A call that is still open when the agent has ended gets this long to end, so that its usage counts.
_SETTLE_SECONDS = 5.0
_SAID, _MOST_REFUSALS = 200, 100

# Headers of the agent that are forwarded; an agent's own keys are not.
_PASSED_ON = ('accept', 'anthropic-version', 'anthropic-beta', 'openai-beta', 'user-agent')


class Relay:
    """The relay of one attempt; safe to use from several threads.

    refused   reasons why calls were not forwarded, each once, in order of first occurrence
    trouble   failures of the endpoint: no answer, or a server error
    cut_off   whether the endpoint failed the last call that ended
    rejection  the refusal of the last call that ended; None if it was not refused
    bug       an error that ended the relay's work, which the attempt raises again
    """

    def __init__(
        self,
        endpoint: Endpoint,
        meter: Meter,
        stop: Callable[[], None],
        log: AnswerLog | None = None,
    ) -> None:
        """Create a relay.

        stop  is called when no further round is allowed, and when `bug` is set
        log   keeps requests to the model and its answers; None keeps nothing
        """
        self.endpoint, self.meter, self.stop, self.log = endpoint, meter, stop, log
        self.refused: list[str] = []
        self.trouble: list[str] = []
        self.cut_off = False
        self.rejection: Rejection | None = None
        self.bug: Exception | None = None
        self.requests, self.answers = Allowance(REQUESTS_BYTES), Allowance(ANSWERS_BYTES)
        self._settled = threading.Condition()
        self._call_starts: list[float] = []
        proxy = find_environment_proxy(endpoint.url)
        self._client = HttpClient(find_proxy=lambda _: proxy, connect_seconds=_CONNECT_SECONDS)

    @contextmanager
    def serve(self, listening: socket.socket) -> Iterator[None]:
        """Serve on a socket while entered; the socket is closed at the end."""
        server = RelayServer(self, listening)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            self._await_calls_or_count_unmetered()
            self._client.close()

    @contextmanager
    def track_call(self) -> Iterator[None]:
        """Mark a call as in progress while entered; `serve` waits for such calls to end."""
        start = time.monotonic()
        with self._settled:
            self._call_starts.append(start)
        try:
            yield
        finally:
            with self._settled:
                self._call_starts.remove(start)
                self._settled.notify_all()

    def measure_newest_open_call_seconds(self) -> float | None:
        """Return for how many seconds the newest call has been open; None if all have ended."""
        with self._settled:
            return time.monotonic() - max(self._call_starts) if self._call_starts else None

    def _await_calls_or_count_unmetered(self) -> None:
        with self._settled:
            if not self._settled.wait_for(lambda: not self._call_starts, _SETTLE_SECONDS):
                self.meter.unmetered += len(self._call_starts)

    def forward_request(
        self, target: str, body: bytes, headers: Message
    ) -> AbstractContextManager[HttpAnswer]:
        """Return a context that sends a request to the endpoint and provides the answer.

        Of the agent's headers only harmless ones are sent; the key is added.
        Raises: ServerUnreachable, ContentTooSlow.
        """
        return self._client.send(
            'POST',
            self.endpoint.url + target,
            body,
            seconds=ANSWER_SECONDS,
            silence=IDLE_SECONDS,
            headers={
                **{
                    name: text
                    for name in _PASSED_ON
                    if _may_forward_header_value(text := headers.get(name, ''))
                },
                **self.endpoint.auth_headers,
                'Content-Type': 'application/json',
            },
        )

    def note_refusal(self, why: str) -> None:
        """Record why a call was refused, each reason once.

        Length and number of reasons are limited, since the agent determines them.
        """
        if why[:_SAID] not in self.refused and len(self.refused) < _MOST_REFUSALS:
            self.refused.append(why[:_SAID])

    def note_trouble(self, why: str) -> None:
        """Record a failure of the endpoint, and set `cut_off`."""
        self.trouble.append(why)
        self.cut_off, self.rejection = True, None

    def note_answered(self, rejection: Rejection | None = None) -> None:
        """Record that the endpoint has answered a call, and whether it refused it."""
        self.cut_off, self.rejection = False, rejection

    def give_up(self, error: Exception) -> None:
        """Record an error of the relay in `bug`, unless there is one, and stop the attempt."""
        self.bug = self.bug or error
        self.stop()


def _may_forward_header_value(text: str) -> bool:
    """Return whether a header can be forwarded: it is printable ASCII and not empty."""
    return bool(text) and text.isascii() and text.isprintable()
