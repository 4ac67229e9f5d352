"""Leads an agent's calls out of the sandbox to one endpoint, and adds the key on the way.

It is the only network that an agent has. It passes on what the endpoint's API needs for a round and
nothing else: no other call, no tool that runs at the endpoint and could look up the answer there.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from functools import partial
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from coevo.agents.endpoint import Endpoint
from coevo.agents.meter import Meter
from coevo.agents.relayed_calls import (
    ANSWERS_BYTES,
    IDLE_SECONDS,
    REQUESTS_BYTES,
    Allowance,
    RelayServer,
)
from coevo.model.errors import Fatal

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
        self._pool = _make_pool(endpoint.url)

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
            self._pool.clear()

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
    ) -> urllib3.BaseHTTPResponse:
        """Pass a request on; urllib3.exceptions.HTTPError if the endpoint cannot be reached."""
        return self._pool.request(
            'POST',
            self.endpoint.url + target,
            body=body,
            headers={
                **{
                    name: text
                    for name in _PASSED_ON
                    if _is_plain_header(text := headers.get(name, ''))
                },
                **self.endpoint.model_api.build_auth_headers(self.endpoint.key),
                'Content-Type': 'application/json',
                'Accept-Encoding': 'identity',  # what is metered is read
            },
            preload_content=False,
            redirect=False,
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


def _make_pool(url: str) -> urllib3.PoolManager:
    proxy = _find_proxy(urlsplit(url))
    make = partial(urllib3.ProxyManager, proxy) if proxy else urllib3.PoolManager
    timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=IDLE_SECONDS)
    return make(retries=False, timeout=timeout)


def _find_proxy(parts: SplitResult) -> str | None:
    """The one that the environment names for an address; never for one of this machine."""
    host = parts.hostname or ''
    named = getproxies().get(parts.scheme)
    if named is None or host == 'localhost' or host.startswith('127.') or proxy_bypass(host):
        return None
    proxy = named if '://' in named else f'http://{named}'
    if not proxy.startswith(('http://', 'https://')):
        raise Fatal(f'${parts.scheme}_proxy is not a proxy of HTTP; name such a one, or none')
    return proxy


def _is_plain_header(text: str) -> bool:
    """Whether it is a header that may be sent on."""
    return bool(text) and text.isascii() and text.isprintable()
