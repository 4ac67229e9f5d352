"""The module proxy as it was on a day, by a server that answers as one does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from http.server import ThreadingHTTPServer

import pytest

from coevo.languages.golang.dated_proxy import Dates

VERSIONS = {'v0.9.0': 2018, 'v0.10.0': 2019, 'v1.0.0-rc.1': 2020, 'v1.0.0': 2021}


class Proxy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = self.path.rpartition('/')[2]
        text = self.text(name)
        self.send_response(404 if text is None else 200)
        self.end_headers()
        self.wfile.write((text or '').encode())

    def text(self, name: str) -> str | None:
        if name == 'list':
            return '\n'.join(VERSIONS) if 'a.example' in self.path else ''
        year = {'@latest': 2024}.get(name) or VERSIONS.get(name.removesuffix('.info'))
        return year and json.dumps(
            {'Version': name.removesuffix('.info'), 'Time': f'{year}-01-01T00:00:00Z'}
        )

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope='module')
def upstream() -> Iterator[str]:
    server = ThreadingHTTPServer(('127.0.0.1', 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f'http://127.0.0.1:{server.server_address[1]}'
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ('year', 'expected'),
    [
        (2017, []),
        (2019, ['v0.9.0', 'v0.10.0']),
        (2022, ['v0.9.0', 'v0.10.0', 'v1.0.0-rc.1', 'v1.0.0']),
    ],
)
def test_what_came_later_is_not_offered(upstream: str, year: int, expected: list[str]) -> None:
    dates = Dates(upstream, datetime(year, 6, 1, tzinfo=UTC))
    assert dates.versions('a.example/one') == expected


def test_the_newest_of_all_is_offered_where_it_is_old_enough_or_the_only_one(upstream: str) -> None:
    then = Dates(upstream, datetime(2020, 6, 1, tzinfo=UTC))
    assert then.latest('a.example/one') is None
    assert then.latest('b.example/without-versions') is not None
    assert Dates(upstream, datetime(2025, 1, 1, tzinfo=UTC)).latest('a.example/one') is not None


def test_of_a_module_that_is_younger_the_oldest_is_offered(upstream: str) -> None:
    then = Dates(upstream, datetime(2012, 6, 1, tzinfo=UTC))
    assert then.versions('a.example/one') == []
    assert json.loads(then.latest('a.example/one') or b'{}')['Version'] == 'v0.9.0'
