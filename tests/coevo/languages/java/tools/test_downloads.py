"""A package repository that sends without end, or byte by byte, is trouble of ours, and soon."""

from __future__ import annotations

import io

import pytest

from coevo.languages.java.tools import upstreams
from coevo.languages.java.tools.upstreams import ArtifactDownloads, Upstream
from coevo.model.errors import Transient
from tests.raw_server import Said, saying

OK = b'HTTP/1.1 200 OK\r\n'
MUCH = b'x' * (1 << 16)


@pytest.mark.parametrize(
    ('said', 'words'),
    [
        (Said(first=OK + b'\r\n', forever=MUCH), 'more than 1 MiB'),
        (Said(first=OK + b'Content-Length: 1000000\r\n\r\n', drip=b'x'), 'within 0 seconds'),
        (Said(first=OK + b'Content-Length: 10\r\n\r\nabc'), 'breaks off after 3 of 10'),
    ],
)
def test_download_is_bounded_in_size_and_time(
    said: Said, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstreams, '_LARGEST_BYTES', 1 << 20)
    monkeypatch.setattr(upstreams, '_SECONDS', 0.3)
    with saying(said) as url:
        client = ArtifactDownloads([Upstream(url=url.removesuffix('/file'))], tries=1)
        with pytest.raises(Transient, match=words):
            client.fetch('a.jar', io.BytesIO())
        client.close()
