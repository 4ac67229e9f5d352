"""Leads an agent's calls out of the sandbox to one endpoint, and adds the key on the way.

It is the only network that an agent has. It passes on what the endpoint's API needs for a round and
nothing else: no other call, no tool that runs at the endpoint and could look up the answer there.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from email.message import Message

from coevo.agents.endpoint import Endpoint
from coevo.agents.meter import Meter
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
_SETTLE_SECONDS = 60.0
_SAID, _MOST_REFUSALS = 200, 100

# What an agent may say beside its request; keys of its own are not among it.
_PASSED_ON = ('accept', 'anthropic-version', 'anthropic-beta', 'openai-beta', 'user-agent')


class Relay:
    """Serves one attempt; safe from several threads.

    refused   why calls were not passed on, each once, in the order of their first
    trouble   calls that the endpoint did not answer, or answered with a fault of its own
    cut_off   whether the last call that ended was one of these
    bug       what ended the relay's work: the attempt raises it
    """

    def __init__(self, endpoint: Endpoint, meter: Meter, stop: Callable[[], None]) -> None:
        """`stop` is called when no further round is allowed, or when `bug` is set."""
        self.endpoint, self.meter, self.stop = endpoint, meter, stop
        self.refused: list[str] = []
        self.trouble: list[str] = []
        self.cut_off = False
        self.bug: Exception | None = None
        self.requests, self.answers = Allowance(REQUESTS_BYTES), Allowance(ANSWERS_BYTES)
        self._settled = threading.Condition()
        self._calls = 0
        proxy = find_environment_proxy(endpoint.url)
        self._client = HttpClient(find_proxy=lambda _: proxy, connect_seconds=_CONNECT_SECONDS)

    @contextmanager
    def serve(self, listening: socket.socket) -> Iterator[None]:
        """Serve on a socket, which is closed in the end."""
        server = RelayServer(self, listening)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            self._await_calls()
            self._client.close()

    @contextmanager
    def track_call(self) -> Iterator[None]:
        """A call that is passed on: `serve` waits for what it cost."""
        with self._settled:
            self._calls += 1
        try:
            yield
        finally:
            with self._settled:
                self._calls -= 1
                self._settled.notify_all()

    def _await_calls(self) -> None:
        with self._settled:
            if not self._settled.wait_for(lambda: not self._calls, _SETTLE_SECONDS):
                self.meter.unmetered += self._calls

    def forward_request(
        self, target: str, body: bytes, headers: Message
    ) -> AbstractContextManager[HttpAnswer]:
        """Pass a request on, and give the endpoint's answer while entered. Raises: Unreachable, TooSlow."""
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
                    if _is_plain_header(text := headers.get(name, ''))
                },
                **self.endpoint.model_api.build_auth_headers(self.endpoint.key),
                'Content-Type': 'application/json',
            },
        )

    def note_refusal(self, why: str) -> None:
        """Once each, and no more than anyone would read: an agent may say what it likes."""
        if why[:_SAID] not in self.refused and len(self.refused) < _MOST_REFUSALS:
            self.refused.append(why[:_SAID])

    def note_trouble(self, why: str) -> None:
        self.trouble.append(why)
        self.cut_off = True

    def give_up(self, error: Exception) -> None:
        self.bug = self.bug or error
        self.stop()


def _is_plain_header(text: str) -> bool:
    """Whether it is a header that may be sent on."""
    return bool(text) and text.isascii() and text.isprintable()
