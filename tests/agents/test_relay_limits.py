"""Whatever an agent sends, the relay answers soon, and holds little of it."""

from __future__ import annotations

import json
import socket
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from coevo.agents.relayed_calls import CONNECTIONS, REQUEST_BYTES, REQUESTS_BYTES, Allowance
from tests.agents import model_server
from tests.agents.model_server import ModelServer, Turn
from tests.agents.test_relay import ASK, post, relaying

MIB = 1 << 20


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server.serving(lambda request: [Turn()]) as server:
        yield server


def wait_until(is_so: Callable[[], bool]) -> None:
    """Look until something is so, for a minute at most."""
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end, 'it did not come about'
        time.sleep(0.01)


def is_turned_away(port: int) -> bool:
    """Ask the model; the relay may close the connection before it has read the question."""
    try:
        return post(port, '/v1/messages', ASK)[0] == 503
    except (BrokenPipeError, ConnectionResetError):
        return True


def head(path: str, length: object) -> bytes:
    return f'POST {path} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n'.encode()


def said(port: int, sent: bytes) -> bytes:
    """The first line of the answer, of which the sender waits for with its connection open."""
    with socket.create_connection(('127.0.0.1', port), timeout=30) as connection:
        connection.sendall(sent)
        return connection.recv(1 << 16).split(b'\r\n')[0]


@pytest.mark.parametrize(
    ('sent', 'status'),
    [
        # The body never comes: who waited for it would wait for ever.
        (head('/v1/nothing', REQUEST_BYTES), 404),
        (head('http://169.254.169.254/v1/messages', 10), 404),
        (head('/v1/messages', REQUEST_BYTES + 1), 413),
        (head('/v1/messages', 10**11), 413),
        (head('/v1/messages', 10**30), 400),
        (head('/v1/messages', '-1'), 400),
        (head('/v1/messages', '0x10'), 400),
        (head('/v1/messages', ''), 400),
        (b'POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n', 400),
        (b'POST /v1/messages HTTP/1.1\r\n' + b'X: ' + b'y' * (60 << 10) + b'\r\n' + b'X: y' * (20 << 10), 431),
        (b'POST /v1/messages HTTP/1.1\r\n' + b'X: y\r\n' * 200 + b'\r\n', 431),
        (b'POST /' + b'a' * (70 << 10) + b' HTTP/1.1\r\n\r\n', 414),
    ],
)  # fmt: skip
def test_request_with_a_bad_head_is_refused_before_its_body_arrives(
    model: ModelServer, tmp_path: Path, sent: bytes, status: int
) -> None:
    with relaying(model.url, tmp_path) as (relay, port):
        assert said(port, sent).startswith(b'HTTP/1.1 %d ' % status)
        assert post(port, '/v1/messages', ASK)[0] == 200
    assert relay.bug is None


# Made when they are needed: each worker collects this module, and one of them runs it.
BODIES: dict[str, Callable[[], bytes]] = {
    'empty lists': lambda: b'{"a":[' + b'[],' * (2 * MIB) + b'0]}',
    'objects': lambda: b'{"a":[' + b'{"a":{}},' * (MIB // 2) + b'0]}',
    'texts': lambda: b'{"a":[' + b'"ab",' * MIB + b'0]}',
    'names': lambda: b'{' + b','.join(b'"%d":0' % number for number in range(MIB // 2)) + b'}',
    'depth': lambda: b'{"a":' * MIB,
    'UTF-16': lambda: '{"a": ["\u2222"]}'.encode('utf-16'),
    'digits': lambda: b'{"a":' + b'9' * MIB + b'}',
}


@pytest.mark.parametrize('name', BODIES)
def test_request_body_takes_little_more_memory_than_its_bytes(
    model: ModelServer, tmp_path: Path, name: str
) -> None:
    body = BODIES[name]()
    with relaying(model.url, tmp_path) as (relay, port):
        tracemalloc.start()
        status, _ = post(port, '/v1/messages', body)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert post(port, '/v1/messages', ASK)[0] == 200
    assert status in (400, 413)
    assert peak < 24 * MIB
    assert (relay.bug, len(model.requests)) == (None, 1)


def test_request_as_large_as_a_context_window_is_passed_on(
    model: ModelServer, tmp_path: Path
) -> None:
    line = 'int x = call(a, b[0], "text"); // {ünïcode}\n'
    asked = {**ASK, 'messages': [{'role': 'user', 'content': line * 100_000}]}
    with relaying(model.url, tmp_path) as (_, port):
        status, _ = post(port, '/v1/messages', json.dumps(asked, ensure_ascii=False).encode())
    assert status == 200
    assert model.requests[0][2] == asked


def test_request_is_refused_while_unsent_bodies_hold_all_request_memory(
    model: ModelServer, tmp_path: Path
) -> None:
    """Each of these is within its bound, and promised, not sent."""
    with relaying(model.url, tmp_path) as (relay, port), ExitStack() as held:
        for _ in range(REQUESTS_BYTES // REQUEST_BYTES):
            connection = held.enter_context(socket.create_connection(('127.0.0.1', port)))
            connection.sendall(head('/v1/messages', REQUEST_BYTES) + b'{')
        wait_until(lambda: relay.requests.remaining_bytes == 0)  # all of them have begun
        assert post(port, '/v1/messages', ASK)[0] == 503
        held.close()
        wait_until(lambda: relay.requests.remaining_bytes == REQUESTS_BYTES)
        assert post(port, '/v1/messages', ASK)[0] == 200
    assert relay.bug is None


def test_connections_beyond_the_bound_are_turned_away(model: ModelServer, tmp_path: Path) -> None:
    with relaying(model.url, tmp_path) as (relay, port), ExitStack() as held:
        for _ in range(CONNECTIONS):
            held.enter_context(socket.create_connection(('127.0.0.1', port)))
        with socket.create_connection(('127.0.0.1', port), timeout=30) as one:
            assert one.recv(100).startswith(b'HTTP/1.1 503 ')
        held.close()
        wait_until(lambda: not is_turned_away(port))
    assert relay.refused == [f'{CONNECTIONS} connections are open']
    assert relay.bug is None


def test_answer_beyond_the_size_limit_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('coevo.agents.relayed_calls.ANSWER_BYTES', MIB)
    long = [Turn(text='word ' * MIB)]
    with (
        model_server.serving(lambda request: long) as model,
        relaying(model.url, tmp_path) as (relay, port),
    ):
        with socket.create_connection(('127.0.0.1', port), timeout=30) as connection:
            body = json.dumps({**ASK, 'stream': True}).encode()
            connection.sendall(head('/v1/messages', len(body)) + body)
            size = 0
            while block := connection.recv(1 << 16):
                size += len(block)
        assert relay.answers.try_take(128 * MIB)
    assert MIB / 2 < size < 2 * MIB
    assert relay.trouble == ['the answer did not end in time or size']


def test_answer_is_refused_when_the_shared_answer_memory_is_used_up(
    model: ModelServer, tmp_path: Path
) -> None:
    with relaying(model.url, tmp_path) as (relay, port):
        assert relay.answers.try_take(128 * MIB)
        with socket.create_connection(('127.0.0.1', port), timeout=30) as connection:
            body = json.dumps(ASK).encode()
            connection.sendall(head('/v1/messages', len(body)) + body)
            while connection.recv(1 << 16):
                continue
    assert relay.trouble == ['too many answers at once']


def test_allowance_lends_no_more_than_it_has_left() -> None:
    allowance = Allowance(10)
    with allowance.borrow(6) as first, allowance.borrow(6) as second:
        assert (first, second) == (True, False)
    assert allowance.try_take(10)
