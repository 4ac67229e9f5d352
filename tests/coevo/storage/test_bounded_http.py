"""Whatever a web server sends, reading it ends within the bounds, and in one exception that says why."""

from __future__ import annotations

import time
import urllib.error

import pytest

from coevo.storage.bounded_http import ServerUnreachable, fetch_body, open_url
from coevo.storage.bounded_reading import ContentTooLarge, ContentTooSlow
from tests.raw_server import Said, saying

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
        urllib.error.HTTPError,
        '500',
    ),
    'a circle with bodies without end': (
        Said(first=b'HTTP/1.1 302 No\r\nLocation: /file\r\n\r\n', forever=MUCH),
        urllib.error.HTTPError,
        'infinite loop',
    ),
    'a way to a file of this machine': (
        Said(first=b'HTTP/1.1 302 No\r\nLocation: file:///etc/passwd\r\n\r\n'),
        urllib.error.HTTPError,
        'not allowed',
    ),
    'a way to another protocol': (
        Said(first=b'HTTP/1.1 302 No\r\nLocation: ftp://127.0.0.1/\r\n\r\n'),
        ServerUnreachable,
        'unknown url type',
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
        with pytest.raises(urllib.error.HTTPError) as caught, open_url(url, seconds=SECONDS):
            pass
        assert (caught.value.code, caught.value.read()) == (404, b'not here')
