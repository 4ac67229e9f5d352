"""What a page of an index may say, and what of it a job is given."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coevo.languages.python.index_pages import (
    HTML_TYPE,
    JSON_TYPE,
    IndexPage,
    InvalidIndexPage,
    parse_page,
    render_links,
)

PLACE = 'https://index.invalid/simple/shoe/'
DIGEST = 'a' * 64


def page(*rows: object, url: str = PLACE) -> IndexPage:
    return parse_page(json.dumps({'files': rows}).encode(), JSON_TYPE, url)


def row(name: str = 'shoe-1.0-py3-none-any.whl', **more: object) -> dict[str, Any]:
    return {'filename': name, 'url': f'../../files/{name}', 'hashes': {'sha256': DIGEST}, **more}


def test_page_keeps_its_fields_and_links_only_below_itself() -> None:
    told = row(
        **{
            'upload-time': '2024-01-01T00:00:00Z',
            'yanked': 'broken',
            'size': 7,
            'core-metadata': True,
        }
    )
    found = page(told)
    (written,) = json.loads(found.content)['files']
    assert written == {**told, 'url': 'shoe-1.0-py3-none-any.whl'}
    (file,) = found.files.values()
    assert file.url == 'https://index.invalid/files/shoe-1.0-py3-none-any.whl'
    assert (file.sha256, file.size, file.yanked, file.has_metadata) == (DIGEST, 7, True, True)


@pytest.mark.parametrize(
    'bad',
    [
        {'filename': 'x.whl'},
        {'url': 'x.whl'},
        {'filename': 7, 'url': 'x.whl'},
        {'filename': '../../x.whl', 'url': 'x.whl'},
        {'filename': '/etc/passwd', 'url': 'x.whl'},
        {'filename': 'a\0b.whl', 'url': 'x.whl'},
        {'filename': 'x' * 300, 'url': 'x.whl'},
        {'filename': '', 'url': 'x.whl'},
        {'filename': '\ud800.whl', 'url': 'x.whl'},
        {'filename': 'x.whl', 'url': 'file:///etc/passwd'},
        {'filename': 'x.whl', 'url': 'https://[x.whl'},
        'x.whl',
        None,
    ],
)
def test_row_without_a_valid_file_name_and_address_is_left_out(bad: object) -> None:
    assert list(page(bad, row()).files) == ['shoe-1.0-py3-none-any.whl']


@pytest.mark.parametrize(
    'odd', [{'sha256': 7}, {'sha256': '../..'}, {'md5': DIGEST}, [], None, 'x']
)
def test_invalid_digest_is_ignored(odd: object) -> None:
    (file,) = page(row(hashes=odd, **{'core-metadata': odd})).files.values()
    assert file.sha256 is None
    assert file.metadata_sha256 == ''


def test_html_page_is_parsed_like_a_json_page() -> None:
    text = (
        f'<!DOCTYPE html><body><a href="../../files/shoe-1.0%2Bx.tar.gz#sha256={DIGEST}"'
        f' data-requires-python="&gt;=3.8" data-yanked="" data-core-metadata="sha256={DIGEST}">x</a>'
        '<a>nothing</a><br>'
    )
    found = parse_page(text.encode(), f'{HTML_TYPE}; charset=utf-8', PLACE)
    (file,) = found.files.values()
    assert (file.name, file.python, file.sha256) == ('shoe-1.0+x.tar.gz', '>=3.8', DIGEST)
    assert file.url == 'https://index.invalid/files/shoe-1.0%2Bx.tar.gz'
    assert (file.yanked, file.has_metadata, file.metadata_sha256) == (True, True, DIGEST)
    again = parse_page(render_links(found), HTML_TYPE, 'http://127.0.0.1:1/links/0/')
    assert again.files.keys() == found.files.keys()


@pytest.mark.parametrize('content', [b'', b'[]', b'{}', b'{"files": {}}', b'\xff', b'[' * 100_000])
def test_malformed_page_raises_invalid_index_page(content: bytes) -> None:
    with pytest.raises(InvalidIndexPage):
        parse_page(content, JSON_TYPE, PLACE)


def test_login_is_sent_only_to_the_server_of_the_index() -> None:
    with_login = 'https://me:secret@index.invalid/simple/shoe/'
    (own,) = page(row(), url=with_login).files.values()
    assert own.url == 'https://me:secret@index.invalid/files/shoe-1.0-py3-none-any.whl'
    (other,) = page({**row(), 'url': 'https://files.invalid/x.whl'}, url=with_login).files.values()
    assert other.url == 'https://files.invalid/x.whl'
    assert 'secret' not in page(row(), url=with_login).content.decode()
