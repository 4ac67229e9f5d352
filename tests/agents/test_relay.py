"""The relay between real sockets: what it passes on, what it adds, and what it keeps back."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from coevo.agents.costs import Meter
from coevo.agents.endpoint import Endpoint
from coevo.agents.relay import Relay
from coevo.model.errors import Fatal
from tests.agents import model_server
from tests.agents.model_server import KEY, ModelServer, Turn

ASK = {'model': 'claude-x', 'messages': [{'role': 'user', 'content': 'Ünïcode'}]}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server.serving(lambda request: [Turn()]) as server:
        yield server


@contextmanager
def relaying(url: str, folder: Path, key: str = KEY) -> Iterator[tuple[Relay, int]]:
    meter = Meter(folder / 'rounds.jsonl', None, None)
    stopped = threading.Event()
    relay = Relay(Endpoint(url=url, api='anthropic', key=key), meter, stopped.set)
    listening = socket.create_server(('127.0.0.1', 0))
    port = listening.getsockname()[1]
    with relay.serve(listening):
        yield relay, port


def post(port: int, path: str, body: object, **headers: str) -> tuple[int, bytes]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with closing(http.client.HTTPConnection('127.0.0.1', port, timeout=30)) as connection:
        connection.request('POST', path, data, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_relay_replaces_the_credentials_of_an_agent_by_its_own_key(
    model: ModelServer, tmp_path: Path
) -> None:
    with relaying(model.url, tmp_path) as (relay, port):
        headers = {'x-api-key': 'mine', 'Authorization': 'Bearer mine', 'Cookie': 'mine'}
        status, _ = post(port, '/v1/messages?beta=true&key=mine', ASK, **headers)
    path, sent, body = model.requests[0]
    assert (status, path, body) == (200, '/v1/messages?beta=true', ASK)
    assert sent['x-api-key'] == KEY
    assert 'mine' not in str(sent)
    assert KEY not in repr(relay.endpoint)


def test_streamed_answer_is_passed_on_and_metered(model: ModelServer, tmp_path: Path) -> None:
    with relaying(model.url, tmp_path) as (relay, port):
        status, content = post(port, '/v1/messages', {**ASK, 'stream': True})
    assert status == 200
    assert content.count(b'data: ') == 6
    assert [(one.model, one.tokens) for one in relay.meter.rounds] == [('claude-x', 1100)]


def test_token_counting_call_is_not_metered_as_a_round(model: ModelServer, tmp_path: Path) -> None:
    with relaying(model.url, tmp_path) as (relay, port):
        status, _ = post(port, '/v1/messages/count_tokens', ASK)
    assert (status, relay.meter.rounds, relay.meter.unmetered) == (200, (), 0)


@pytest.mark.parametrize(
    ('path', 'body', 'status'),
    [
        ('/v1/files', ASK, 404),
        ('http://example.org/v1/messages', b'nothing', 404),
        ('/v1/messages', b'nothing', 400),
        ('/v1/messages', b'[]', 400),
        ('/v1/messages', {**ASK, 'tools': [{'type': 'web_search_20250305'}]}, 403),
        # Whoever reads the first of two equal names would see another tool than who reads the last.
        ('/v1/messages', b'{"tools": [], "tools": [{"type": "web_search_20250305"}]}', 403),
    ],
)
def test_refused_request_never_reaches_the_endpoint(
    model: ModelServer, tmp_path: Path, path: str, body: object, status: int
) -> None:
    with relaying(model.url, tmp_path) as (relay, port):
        assert post(port, path, body)[0] == status
    assert not model.requests
    assert len(relay.refused) == 1


@pytest.mark.parametrize(
    'sent',
    [
        b'POST /v1/messages HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n',
        b'POST http://[ HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}',
        b'POST /v1/messages HTTP/1.1\r\nContent-Length: 8000\r\n\r\n'
        + b'{"messages":'
        + b'[' * 7988,
        b'POST /v1/messages HTTP/1.1\r\nContent-Length: 1613\r\n\r\n'
        b'{"messages":' + b'[' * 800 + b']' * 800 + b'}',
        b'GET ' + b'/' * 70000 + b' HTTP/1.1\r\n\r\n',
        b'\0\n',
    ],
)
def test_malformed_request_ends_only_its_own_call(
    model: ModelServer, tmp_path: Path, sent: bytes
) -> None:
    with relaying(model.url, tmp_path) as (relay, port):
        with socket.create_connection(('127.0.0.1', port), timeout=30) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1 << 16):
                continue
        assert post(port, '/v1/messages', ASK)[0] == 200
    assert relay.bug is None


def test_answer_is_metered_after_the_agent_has_disconnected(tmp_path: Path) -> None:
    """The counts of a stream stand at its end."""
    slow = [Turn(text='word ' * 1_000_000)]
    with (
        model_server.serving(lambda request: slow) as model,
        relaying(model.url, tmp_path) as (relay, port),
    ):
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
        connection.request('POST', '/v1/messages', json.dumps({**ASK, 'stream': True}))
        assert connection.getresponse().read(100)
        connection.close()
    assert [one.output for one in relay.meter.rounds] == [100]


def test_request_with_a_duplicate_field_is_sent_with_the_checked_value_only(
    model: ModelServer, tmp_path: Path
) -> None:
    double = b'{"model": "x", "tools": [{"type": "web_search_20250305"}], "tools": []}'
    with relaying(model.url, tmp_path) as (_, port):
        assert post(port, '/v1/messages', double)[0] == 200
    assert model.requests[0][2]['tools'] == []


def test_endpoint_trouble_cuts_off_an_attempt_only_if_the_last_call_fails(
    model: ModelServer, tmp_path: Path
) -> None:
    """The last call decides whether an attempt was cut off."""
    with relaying(model.url, tmp_path) as (relay, port):
        model.status = 529
        assert post(port, '/v1/messages', ASK)[0] == 529
        assert relay.cut_off
        model.status = 200
        assert post(port, '/v1/messages', ASK)[0] == 200
        assert not relay.cut_off
    assert relay.trouble == ['HTTP 529']


def test_reason_of_a_refused_call_is_noted_without_the_key_until_a_call_is_answered(
    model: ModelServer, tmp_path: Path
) -> None:
    model.refuses = lambda request: request['model'] == 'long'
    model.reason = f'it is too long for {KEY}'
    with relaying(model.url, tmp_path) as (relay, port):
        assert post(port, '/v1/messages', {**ASK, 'model': 'long'})[0] == 400
        assert str(relay.rejection) == 'HTTP 400: it is too long for ***'
        assert not relay.cut_off
        assert post(port, '/v1/messages', ASK)[0] == 200
        assert relay.rejection is None


@pytest.mark.parametrize('escaped', [False, True])
def test_key_that_json_escapes_is_hidden_in_the_reason(
    model: ModelServer, tmp_path: Path, escaped: bool
) -> None:
    """The server writes each slash as `\\/`; a message may be JSON itself."""
    model.key, model.refuses = 'sk/"/abc', lambda request: True
    model.reason = f'no {json.dumps(model.key) if escaped else model.key}'
    with relaying(model.url, tmp_path, model.key) as (relay, port):
        assert post(port, '/v1/messages', ASK)[0] == 400
    assert str(relay.rejection) == ('HTTP 400: no "***"' if escaped else 'HTTP 400: no ***')


def test_unreachable_endpoint_cuts_off_the_attempt(tmp_path: Path) -> None:
    with socket.create_server(('127.0.0.1', 0)) as free:
        url = f'http://127.0.0.1:{free.getsockname()[1]}'
    with relaying(url, tmp_path) as (relay, port):
        assert post(port, '/v1/messages', ASK)[0] == 502
    assert relay.cut_off
    assert relay.trouble == ['no connection could be opened']


def test_relay_uses_the_http_proxy_of_the_environment(
    model: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('http_proxy', model.url.removeprefix('http://'))
    monkeypatch.setenv('no_proxy', '')
    with relaying('http://model.invalid', tmp_path) as (_, port):
        status, _ = post(port, '/v1/messages', ASK)
    path, sent, _ = model.requests[0]
    assert (status, path, sent['Host']) == (
        200,
        'http://model.invalid/v1/messages',
        'model.invalid',
    )
    monkeypatch.setenv('http_proxy', 'socks5://127.0.0.1:1')
    with pytest.raises(Fatal, match='not a proxy of HTTP'), relaying('http://x.invalid', tmp_path):
        pass


def test_answer_that_denies_access_is_withheld_so_that_no_key_leaks(
    model: ModelServer, tmp_path: Path
) -> None:
    """This server repeats the key in them, as some do."""
    with relaying(model.url, tmp_path, 'wrong') as (relay, port):
        status, content = post(port, '/v1/messages', ASK)
    assert (status, KEY.encode() in content) == (403, False)
    assert isinstance(relay.bug, Fatal)
    assert KEY not in str(relay.bug)
    assert 'wrong' not in str(relay.bug)
