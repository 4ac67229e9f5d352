"""Whatever a web server sends, reading it ends within the bounds, and in one exception that says why."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from coevo.model.errors import Fatal
from coevo.storage.bounded_http import HttpClient, HttpStatusError, ServerUnreachable, open_url
from coevo.storage.bounded_reading import ContentTooLarge, ContentTooSlow
from tests.raw_server import Said, saying


def fetch_body(url: str, *, most: int, seconds: float) -> bytes:
    with open_url(url, seconds=seconds) as answer:
        return answer.read(most=most)


OK = b'HTTP/1.1 200 OK\r\n'
CHUNKED = OK + b'Transfer-Encoding: chunked\r\n\r\n'
MUCH = b'x' * (1 << 16)
MOST, SECONDS = 1 << 20, 1.0

HOSTILE: dict[str, tuple[Said, type[Exception], str]] = {
    'a body without end': (
        Said(first=OK + b'\r\n', forever=MUCH),
        ContentTooLarge,
        'more than 1 MiB',
    ),
    'chunks without end': (
        Said(first=CHUNKED, forever=b'10000\r\n' + MUCH + b'\r\n'),
        ContentTooLarge,
        'more than 1 MiB',
    ),
    'a length that is too large': (
        Said(first=OK + b'Content-Length: 1125899906842624\r\n\r\nx'),
        ContentTooLarge,
        'more than 1 MiB',
    ),
    'a length of twenty digits': (
        Said(first=OK + b'Content-Length: 99999999999999999999\r\n\r\nx'),
        ContentTooLarge,
        'more than 1 MiB',
    ),
    'fewer bytes than said': (
        Said(first=OK + b'Content-Length: 10\r\n\r\nabc'),
        ServerUnreachable,
        'breaks off after 3 of 10',
    ),
    'a chunk of absurd length': (
        Said(first=CHUNKED + b'FFFFFFFFFFFFFFFFFF\r\nabc'),
        ServerUnreachable,
        'IncompleteRead',
    ),
    'a chunk whose length is no number': (
        Said(first=CHUNKED + b'ZZ\r\nabc'),
        ServerUnreachable,
        'IncompleteRead',
    ),
    'a length of a chunk without end': (
        Said(first=CHUNKED + b'1;', forever=MUCH),
        ServerUnreachable,
        'chunk size',
    ),
    'trailers without end': (
        Said(first=CHUNKED + b'1\r\na\r\n0\r\n', forever=b'X: y\r\n' * 1000),
        ContentTooSlow,
        'within 1 seconds',
    ),
    'headers without end': (Said(first=OK, forever=b'X: y\r\n'), ServerUnreachable, '100 headers'),
    'a header without end': (
        Said(first=OK + b'X: ', forever=MUCH),
        ServerUnreachable,
        'header line',
    ),
    'interim answers without end': (
        Said(forever=b'HTTP/1.1 100 Continue\r\n\r\n' * 100),
        ContentTooSlow,
        'within 1 seconds',
    ),
    'a first line that drips': (Said(drip=b'H'), ContentTooSlow, 'within 1 seconds'),
    'a header that drips': (Said(first=OK + b'X: ', drip=b'a'), ContentTooSlow, 'within 1 seconds'),
    'a body that drips': (
        Said(first=OK + b'Content-Length: 1000000\r\n\r\n', drip=b'x'),
        ContentTooSlow,
        'within 1 seconds',
    ),
    'a length of a chunk that drips': (
        Said(first=CHUNKED, drip=b'0'),
        ContentTooSlow,
        'within 1 seconds',
    ),
    'an error that drips': (
        Said(first=b'HTTP/1.1 500 No\r\n\r\n', drip=b'x'),
        ContentTooSlow,
        'within 1 seconds',
    ),
    'an error without end': (
        Said(first=b'HTTP/1.1 500 No\r\n\r\n', forever=MUCH),
        HttpStatusError,
        '500',
    ),
    'a circle with bodies without end': (
        Said(first=b'HTTP/1.1 302 No\r\nLocation: /file\r\n\r\n', forever=MUCH),
        HttpStatusError,
        'infinite loop',
    ),
    'a way to a file of this machine': (
        Said(first=b'HTTP/1.1 302 No\r\nLocation: file:///etc/passwd\r\n\r\n'),
        HttpStatusError,
        'not allowed',
    ),
    'a way to another protocol': (
        Said(first=b'HTTP/1.1 302 No\r\nLocation: ftp://127.0.0.1/\r\n\r\n'),
        HttpStatusError,
        'not allowed',
    ),
    'a way to no address': (
        Said(first=b'HTTP/1.1 302 No\r\nLocation: http://[::1\r\n\r\n'),
        ServerUnreachable,
        'IPv6',
    ),
    'a way to a port that is none': (
        Said(first=b'HTTP/1.1 302 No\r\nLocation: http://h:99999999/\r\n\r\n'),
        ServerUnreachable,
        'parse',
    ),
    'another protocol': (
        Said(first=b'SSH-2.0-\x1b[31mx\r\n'),
        ServerUnreachable,
        r'SSH-2.0-\[31mx',
    ),
    'nothing': (Said(), ServerUnreachable, 'without response'),
}


@pytest.mark.parametrize('name', HOSTILE)
def test_fetching_a_url_ends_whatever_the_server_sends(name: str) -> None:
    said, error, words = HOSTILE[name]
    began = time.monotonic()
    with saying(said) as url, pytest.raises(error, match=words):
        fetch_body(url, most=MOST, seconds=SECONDS)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    'url',
    ['file:///etc/passwd', 'data:,x', 'http://a b/', 'http://[::1', 'x', f'http://{"a" * 70}/'],
)
def test_an_invalid_web_address_is_not_opened(url: str) -> None:
    with pytest.raises(ServerUnreachable):
        fetch_body(url, most=MOST, seconds=SECONDS)


def test_no_more_bytes_are_read_than_the_server_announces() -> None:
    with saying(Said(first=OK + b'Content-Length: 3\r\n\r\nabcdef')) as url:
        assert fetch_body(url, most=MOST, seconds=SECONDS) == b'abc'


def test_the_body_of_an_http_error_can_be_read() -> None:
    with saying(Said(first=b'HTTP/1.1 404 No\r\n\r\nnot here')) as url:
        with pytest.raises(HttpStatusError) as caught, open_url(url, seconds=SECONDS):
            pass
        assert (caught.value.status, caught.value.body) == (404, b'not here')


# -- a server that keeps connections ---------------------------------------------------------------


@dataclass
class Asked:
    """What a server was asked: from which port, method, path, `Authorization` and body."""

    url: str = ''
    requests: list[tuple[int, str, str, str | None, bytes]] = field(default_factory=list)
    redirects: dict[str, str] = field(default_factory=dict)


@contextmanager
def answering() -> Iterator[Asked]:
    """A server that answers with the path, or leads elsewhere."""
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
            login = self.headers.get('Authorization')
            asked.requests.append((self.client_address[1], self.command, self.path, login, body))
            target = asked.redirects.get(self.path)
            content = self.path.encode()
            self.send_response(200 if target is None else 302)
            if target is not None:
                self.send_header('Location', target)
            self.send_header('Content-Length', str(len(content)))
            self.end_headers()
            if self.command != 'HEAD':
                self.wfile.write(content)

        do_HEAD = do_POST = do_GET

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.daemon_threads = True
    asked.url = f'http://127.0.0.1:{server.server_port}'
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def client() -> Iterator[HttpClient]:
    client = HttpClient()
    yield client
    client.close()


def test_a_client_keeps_a_connection_whose_answer_was_read_whole(client: HttpClient) -> None:
    with answering() as asked:
        for name in ('a', 'b'):
            with client.open(f'{asked.url}/{name}', seconds=30) as answer:
                assert answer.read(most=MOST) == f'/{name}'.encode()
        assert len({port for port, *_ in asked.requests}) == 1
        with client.open(f'{asked.url}/c', seconds=30):
            pass
        with client.open(f'{asked.url}/d', seconds=30):
            pass
        assert len({port for port, *_ in asked.requests}) == 2


def test_time_of_a_question_on_a_kept_connection_is_its_own(client: HttpClient) -> None:
    """What drips on a connection that served before is ended, and what follows is not."""
    with answering() as asked, saying(Said(first=OK + b'X: ', drip=b'a')) as dripping:
        with client.open(f'{asked.url}/a', seconds=30) as answer:
            answer.read(most=MOST)
        with pytest.raises(ContentTooSlow), client.open(dripping, seconds=0.2):
            pass
        with client.open(f'{asked.url}/b', seconds=30) as answer:
            assert answer.read(most=MOST) == b'/b'


def test_a_redirect_carries_no_password_to_another_host(client: HttpClient) -> None:
    login = {'Authorization': 'Basic eDp5'}
    with answering() as first, answering() as second:
        first.redirects = {'/a': '/b', '/b': f'{second.url}/c'}
        second.redirects = {'/c': f'{first.url}/d'}
        with client.open(f'{first.url}/a', seconds=30, headers=login) as answer:
            assert answer.read(most=MOST) == b'/d'
        sent = [(path, login) for _, _, path, login, _ in first.requests]
        assert sent == [('/a', 'Basic eDp5'), ('/b', 'Basic eDp5'), ('/d', None)]
        assert [login for _, _, _, login, _ in second.requests] == [None]


def test_a_redirected_head_stays_a_head(client: HttpClient) -> None:
    with answering() as asked:
        asked.redirects = {'/a': '/b'}
        with client.open(f'{asked.url}/a', seconds=30, method='HEAD') as answer:
            assert answer.headers['content-length'] == '2'
        assert [method for _, method, *_ in asked.requests] == ['HEAD', 'HEAD']


def test_what_is_sent_is_answered_as_it_comes_and_follows_no_redirect(client: HttpClient) -> None:
    with answering() as asked:
        asked.redirects = {'/a': '/b'}
        with client.send('POST', f'{asked.url}/a', b'{}', seconds=30) as answer:
            assert (answer.status, answer.read(most=MOST)) == (302, b'/a')
        assert [(method, body) for _, method, _, _, body in asked.requests] == [('POST', b'{}')]


def test_proxy_of_the_environment_leads_to_others_and_not_to_this_machine(
    monkeypatch: pytest.MonkeyPatch, client: HttpClient
) -> None:
    with answering() as proxy, answering() as here:
        monkeypatch.setenv('http_proxy', proxy.url.removeprefix('http://'))
        monkeypatch.setenv('no_proxy', '')
        with client.open('http://nowhere.invalid/x', seconds=30) as answer:
            assert answer.read(most=MOST) == b'http://nowhere.invalid/x'
        with client.open(f'{here.url}/y', seconds=30) as answer:
            assert answer.read(most=MOST) == b'/y'
        assert len(proxy.requests) == 1
        monkeypatch.setenv('http_proxy', 'socks5://127.0.0.1:1')
        with (
            pytest.raises(Fatal, match='not a proxy of HTTP'),
            client.open('http://nowhere.invalid/x', seconds=30),
        ):
            pass
