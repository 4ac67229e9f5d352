"""PyGithub's connections, whose answers are read within bounds of bytes and seconds, packed or not."""

from __future__ import annotations

from collections.abc import Callable, ItemsView
from typing import Any

import requests
import urllib3
from github import Github
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass

from coevo.storage.bounded_reading import UnreadableContent, read_stream

# A page of a hundred repositories has a MiB.
_MOST_BYTES = 32 << 20
_SECONDS = 300.0


class UnreadableAnswer(requests.RequestException):
    """An answer that is too long, or comes too slowly."""


def limit_answers(client: Github) -> None:
    """Let a client's answers be bounded; it has not asked anything yet.

    PyGithub takes other connections for all clients alone, and drops each after one answer then.
    """
    requester: Any = client.requester
    kind = requester._Requester__connectionClass
    requester._Requester__connectionClass = _BOUNDED[kind]


class _GitHubAnswer:
    """What PyGithub asks of an answer."""

    def __init__(self, status: int, headers: ItemsView[str, str], text: str) -> None:
        self.status, self._headers, self._text = status, headers, text

    def getheaders(self) -> ItemsView[str, str]:
        return self._headers

    def read(self) -> str:
        return self._text


class _UnpackedStream:
    """The bytes of an answer as they come, unpacked no further than is asked for."""

    def __init__(self, raw: urllib3.HTTPResponse) -> None:
        self._raw = raw

    def read(self, size: int, /) -> bytes:
        return self._raw.read1(size, decode_content=True)


class _BoundedHttpConnection(HTTPRequestsConnectionClass):
    def getresponse(self) -> Any:
        return _get_answer(self, self.session.get)


class _BoundedHttpsConnection(HTTPSRequestsConnectionClass):
    def getresponse(self) -> Any:
        return _get_answer(self, self.session.get)


_BOUNDED = {
    HTTPRequestsConnectionClass: _BoundedHttpConnection,
    HTTPSRequestsConnectionClass: _BoundedHttpsConnection,
}


def _get_answer(
    connection: HTTPRequestsConnectionClass | HTTPSRequestsConnectionClass,
    ask: Callable[..., requests.Response],
) -> _GitHubAnswer:
    """The answer to a question by GET, which are all that are asked."""
    url = f'{connection.protocol}://{connection.host}:{connection.port}{connection.url}'
    with ask(
        url,
        headers=connection.headers,
        timeout=connection.timeout,
        verify=connection.verify,
        allow_redirects=False,
        stream=True,
    ) as response:
        try:
            content = read_stream(_UnpackedStream(response.raw), most=_MOST_BYTES, seconds=_SECONDS)
        except UnreadableContent as error:
            raise UnreadableAnswer(f'the answer {error}') from None
        except urllib3.exceptions.HTTPError as error:
            raise requests.ConnectionError(str(error)) from None
        return _GitHubAnswer(
            response.status_code, response.headers.items(), content.decode(errors='replace')
        )
