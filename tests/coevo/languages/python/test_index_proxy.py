"""What a job may ask of the indexes, and what becomes of faults of theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest

from coevo.languages.python.index_proxy import MOST_REQUESTS, IndexProxy
from coevo.languages.python.package_index import PackageIndex
from coevo.languages.python.uv import IndexSources
from coevo.model.errors import Transient
from coevo.sandboxes.read_only_proxy import ProxyAnswer
from coevo.storage.fetching import Fetcher
from tests.coevo.languages.python.index_server import Shelf, serving

WHEEL = 'shoe-1.0-py3-none-any.whl'
PLACE = f'/simple/0/shoe/{WHEEL}'


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    with serving(monkeypatch, Shelf()) as opened:
        opened.add_wheel('shoe', '1.0')
        yield opened


@pytest.fixture
def index(shelf: Shelf, tmp_path: Path) -> PackageIndex:
    links = (shelf.url.replace('/simple/', '/list.html'),)
    return PackageIndex(
        IndexSources(indexes=(shelf.url,), links=links), tmp_path, Fetcher(tries=2, pause=0.01)
    )


def ask(index: PackageIndex, target: str, part: str | None = None) -> ProxyAnswer:
    headers = Message()
    if part:
        headers['Range'] = part
    return IndexProxy(index).answer_get(target, headers)


def body(answer: ProxyAnswer) -> bytes:
    return answer.body.read_bytes() if isinstance(answer.body, Path) else answer.body


def test_proxy_serves_a_page_and_its_file(shelf: Shelf, index: PackageIndex) -> None:
    (row,) = json.loads(body(ask(index, '/simple/0/shoe/')))['files']
    assert row['url'] == WHEEL
    assert body(ask(index, PLACE)) == shelf.content[f'/files/{WHEEL}']
    assert IndexProxy(index).answer_head(PLACE, Message()).headers['Content-Length'] == str(
        len(shelf.content[f'/files/{WHEEL}'])
    )


def test_proxy_fetches_pages_and_files_once(shelf: Shelf, index: PackageIndex) -> None:
    for _ in range(3):
        ask(index, '/simple/0/shoe/')
        ask(index, PLACE)
    assert [path for path, _ in shelf.asked] == ['/simple/shoe/', f'/files/{WHEEL}']


@pytest.mark.parametrize('has_parts', [True, False])
def test_proxy_serves_byte_ranges_whether_or_not_the_index_supports_them(
    shelf: Shelf, index: PackageIndex, has_parts: bool
) -> None:
    shelf.has_parts = has_parts
    content = shelf.content[f'/files/{WHEEL}']
    for asked, wanted in (
        ('bytes=3-9', content[3:10]),
        ('bytes=-20', content[-20:]),
        (f'bytes=5-{10**9}', content[5:]),
        ('bytes=7-', content[7:]),
    ):
        for _ in range(2):
            answer = ask(index, PLACE, asked)
            assert (answer.status, body(answer)) == (206, wanted)
            assert answer.headers['Content-Range'].endswith(f'/{len(content)}')
    assert ask(index, PLACE, f'bytes={len(content)}-').status == 416
    whole = [path for path, part in shelf.asked if path.startswith('/files') and not part]
    assert whole == []


@pytest.mark.parametrize(
    'target',
    [
        '/',
        '/simple/',
        '/simple/0/',
        '/simple/1/shoe/',
        '/simple/-1/shoe/',
        '/simple/\u0660/shoe/',
        '/simple/0/other/',
        '/simple/0/../',
        '/simple/0/%2e%2e/',
        '/simple/0/Shoe/',
        '/simple/0/sh_oe/',
        '/simple/0/-shoe/',
        f'/simple/0/{"x" * 300}/',
        '/simple/0/shoe/..',
        '/simple/0/shoe/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
        '/simple/0/shoe/%00',
        '//[',
        '/simple/0/shoe/%ff',
        '/simple/0/shoe/other.whl',
        f'{PLACE}.metadata',
        f'{PLACE}/x',
        '/simple/0/shoe/http:%2f%2fother.invalid%2fx',
        '//other.invalid/simple/0/shoe/',
        '/links/1/',
        '/links/0/../../etc/passwd',
        '/files/shoe',
    ],
)
def test_proxy_serves_only_files_that_a_page_names(index: PackageIndex, target: str) -> None:
    answer = ask(index, target)
    assert answer.status == (
        200 if target.startswith('//other') else 404
    )  # the host is not looked at


def test_job_is_refused_after_the_maximum_number_of_requests(
    shelf: Shelf, index: PackageIndex
) -> None:
    proxy = IndexProxy(index)
    answers = {proxy.answer_get('/simple/0/shoe/', Message()).status for _ in range(MOST_REQUESTS)}
    assert answers == {200}
    assert proxy.answer_get('/simple/0/shoe/', Message()).status == 403
    assert IndexProxy(index).answer_get('/simple/0/shoe/', Message()).status == 200


def test_proxy_serves_wheel_metadata_that_the_page_names(shelf: Shelf, index: PackageIndex) -> None:
    shelf.pages['shoe'][0]['core-metadata'] = True
    shelf.content[f'/files/{WHEEL}.metadata'] = b'Name: shoe\n'
    assert body(ask(index, f'{PLACE}.metadata')) == b'Name: shoe\n'


def test_proxy_serves_link_pages_outside_an_index(shelf: Shelf, index: PackageIndex) -> None:
    shelf.content['/list.html'] = f'<a href="files/{WHEEL}">x</a>'.encode()
    assert body(ask(index, '/links/0/')).count(b'<a ') == 1
    assert body(ask(index, f'/links/0/{WHEEL}')) == shelf.content[f'/files/{WHEEL}']


def test_file_with_a_wrong_digest_is_a_transient_error_and_is_not_cached(
    shelf: Shelf, index: PackageIndex
) -> None:
    content = shelf.content[f'/files/{WHEEL}']
    shelf.content[f'/files/{WHEEL}'] = content[:-1] + b'x'
    with pytest.raises(Transient, match='another file than its page names'):
        ask(index, PLACE)
    shelf.content[f'/files/{WHEEL}'] = content
    assert body(ask(index, PLACE)) == content


@pytest.mark.parametrize('status', [500, 502, 503, 429, 408])
def test_index_server_error_is_transient_and_stops_further_requests(
    shelf: Shelf, index: PackageIndex, status: int
) -> None:
    shelf.statuses['/simple/shoe/'] = status
    proxy = IndexProxy(index)
    with pytest.raises(Transient):
        proxy.answer_get('/simple/0/shoe/', Message())
    asked = len(shelf.asked)
    with pytest.raises(Transient):
        proxy.answer_get('/simple/0/boot/', Message())
    assert len(shelf.asked) == asked
    shelf.statuses.clear()
    assert ask(index, '/simple/0/shoe/').status == 200


@pytest.mark.parametrize('status', [401, 403, 404, 410])
def test_refusal_by_the_index_is_passed_on_to_the_job(
    shelf: Shelf, index: PackageIndex, status: int
) -> None:
    shelf.statuses['/simple/shoe/'] = status
    assert ask(index, '/simple/0/shoe/').status == status


@pytest.mark.parametrize('place', ['address', 'netrc'])
def test_proxy_logs_in_to_the_index_as_uv_does(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    shelf.login = 'me:s ecret'
    lines = tmp_path / 'netrc'
    lines.write_text('machine 127.0.0.1 login me password "s ecret"\n' if place == 'netrc' else '')
    monkeypatch.setenv('NETRC', str(lines))
    url = shelf.url.replace('://', '://me:s%20ecret@') if place == 'address' else shelf.url
    index = PackageIndex(IndexSources(indexes=(url,)), tmp_path / 'files')
    page = ask(index, '/simple/0/shoe/')
    assert page.status == 200
    assert b'ecret' not in body(page)
    assert body(ask(index, PLACE)) == shelf.content[f'/files/{WHEEL}']
    lines.write_text('')
    without = PackageIndex(IndexSources(indexes=(shelf.url,)), tmp_path / 'others')
    assert ask(without, '/simple/0/shoe/').status == 401


def test_malformed_index_page_is_a_transient_error(shelf: Shelf, index: PackageIndex) -> None:
    shelf.content['/simple/boot/'] = b'Please log in.'
    shelf.statuses.clear()
    assert body(ask(index, '/simple/0/boot/')).endswith(b'"files":[]}')  # HTML without a link
    shelf.pages['clog'] = {'not': 'a list'}  # type: ignore[assignment]
    with pytest.raises(Transient, match='no page'):
        ask(index, '/simple/0/clog/')
