"""Send requests to GitHub's API through PyGithub: choose tokens, wait for limits, and retry.

PyGithub's own retries are off: they would sleep up to an hour while another token is free.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import requests
import urllib3
from github import Auth, Github
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass
from requests.adapters import HTTPAdapter

from coevo.model.errors import Fatal, Transient
from coevo.storage.bounded_reading import UnreadableContent, parse_json, read_stream
from coevo.storage.fetching import retry
from miners.discovery.budgets import Clock, GitHubToken, Resource, TokenBudgets

PUBLIC_API = 'https://api.github.com'

# Limits of one answer. A page of a hundred repositories has a MiB and 30,000 values.
_MOST_BYTES = 32 << 20
_MOST_VALUES = 500_000
_SECONDS = 300.0

# An address without a user's name and secret, which would show up in messages.
_ADDRESS = re.compile(r'https?://[\w.:\[\]-]+(/[\w./-]*)?')
_ANSWERS = frozenset({200, 204, 304, 404, 409, 410, 422, 451})
_LIMITED = ('rate limit', 'please retry your request again later', 'abuse detection')


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryLimits:
    """Limits on retries and waits; times are in seconds.

    attempts       tries of one request while the server fails
    pause          before the second try; doubled each time, up to `longest_pause`
    secondary      the wait after a secondary limit that does not say how long it lasts
    longest_limit  a limit that lasts longer ends the crawl
    refusals       refusals in a row for each token, without an answer between them, that end the
                   crawl
    timeout        for an answer to begin, and between its parts
    """

    attempts: int = 6
    pause: float = 1.0
    longest_pause: float = 60.0
    secondary: float = 60.0
    longest_limit: float = 3700.0
    refusals: int = 20
    timeout: int = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer that is no failure; `data` is None without a body, as with 204 and 304."""

    status: int
    data: Any
    etag: str | None

    @property
    def message(self) -> str:
        """The message of an error, empty if it has none."""
        return str(self.data.get('message', '')) if isinstance(self.data, dict) else ''


@dataclass(slots=True)
class RequestCounts:
    """The requests of a crawl.

    counted    requests that count against a budget, by resource
    unchanged  answers 304, which do not count
    failed     failed tries, by kind
    waited     seconds waited
    """

    counted: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    waited: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """A GET request with parameters; with `body` the GraphQL query that is POSTed."""

    path: str
    resource: Resource
    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    etag: str | None = None
    affinity: int = 0


@dataclass(frozen=True, slots=True)
class _FailedTry:
    """The reason why a try gave no answer; `pause` False leaves the waiting to the budgets."""

    kind: str
    sentence: str
    pause: bool = True


class _NoAnswer(Exception):
    """A try gave no answer; the message says why."""


class GitHubApi:
    """GitHub's API at `base`, with one request at a time.

    Raises: Fatal if `base` is no address of an API.
    """

    def __init__(
        self, base: str, tokens: Sequence[GitHubToken], clock: Clock, patience: RetryLimits
    ) -> None:
        if not _ADDRESS.fullmatch(base):
            raise Fatal(
                "what was given as GitHub's API is no address of an API: https://HOST[/PATH]"
            )
        self.requests = RequestCounts()
        self.warnings: list[str] = []
        self._clock = clock
        self._patience = patience
        self._budgets = TokenBudgets(tokens, clock)
        self._clients = {
            token.number: _make_client(base, token, patience.timeout) for token in tokens
        }

    def get(
        self,
        path: str,
        parameters: Mapping[str, Any],
        resource: Resource,
        *,
        etag: str | None = None,
        affinity: int = 0,
    ) -> Reply:
        """Return the answer to a request; with `etag`, status 304 if nothing has changed.

        `affinity` keeps a request with one token as far as possible, since an ETag belongs to a
        token.

        Raises: Transient if the server does not recover; Fatal if it accepts none of the tokens.
        """
        return self._ask(
            _Request(
                path=path,
                resource=resource,
                parameters=parameters,
                etag=etag,
                affinity=affinity,
            )
        )

    def query(self, text: str, variables: Mapping[str, str]) -> dict[str, Any]:
        """Return the data of a GraphQL query, in which None stands for what GitHub does not find.

        Raises: Transient if the server does not recover or refuses the query; Fatal as `get`.
        """
        body = {'query': text, 'variables': dict(variables)}
        reply = self._ask(_Request(path='/graphql', resource=Resource.GRAPHQL, body=body))
        if reply.status != 200:
            raise Transient(f'GitHub does not take a query: {reply.message}')
        data: dict[str, Any] = reply.data['data']
        return data

    def _ask(self, request: _Request) -> Reply:
        patience = self._patience
        try:
            return retry(
                partial(self._ask_until_granted, request),
                tries=patience.attempts,
                pause=patience.pause,
                longest_pause=patience.longest_pause,
                on=(_NoAnswer,),
                sleep=self._sleep,
            )
        except _NoAnswer as error:
            raise Transient(f'GitHub did not answer {request.path}: {error}') from None

    def close(self) -> None:
        """Close the connections of all tokens."""
        for client in self._clients.values():
            client.close()

    def _ask_until_granted(self, request: _Request) -> Reply:
        """Send a request until it meets no limit; waiting for a limit is no failed attempt.

        Raises: _NoAnswer.
        """
        for _ in range(self._patience.refusals * len(self._clients)):
            token = self._wait_for_token(request.resource, request.affinity)
            result = self._ask_once(token, request)
            if isinstance(result, Reply):
                return result
            if result.pause:
                raise _NoAnswer(result.sentence)
        raise Transient(f'GitHub refused {request.path} again and again, for its limits')

    def _wait_for_token(self, resource: Resource, affinity: int) -> GitHubToken:
        while True:
            token = self._budgets.choose_token(resource, affinity)
            if token is not None:
                return token
            seconds = self._budgets.compute_wait(resource)
            if seconds > self._patience.longest_limit:
                raise Transient(f'GitHub grants no {resource} request for {seconds:.0f} seconds')
            self._sleep(seconds)

    def _sleep(self, seconds: float) -> None:
        self.requests.waited += seconds
        self._clock.sleep(max(0.0, seconds))

    def _ask_once(self, token: GitHubToken, request: _Request) -> Reply | _FailedTry:
        sent = _send_request(self._clients[token.number], request)
        if isinstance(sent, _FailedTry):
            return self._count_failure(sent)
        status, headers, text = sent
        self._budgets.note_headers(token, request.resource, headers)
        trouble = self._explain_failure(token, status, headers, text)
        if trouble is not None:
            return self._count_failure(trouble)
        return self._make_reply(request, status, headers, text)

    def _count_failure(self, trouble: _FailedTry) -> _FailedTry:
        self.requests.failed[trouble.kind] += 1
        return trouble

    def _make_reply(
        self, request: _Request, status: int, headers: Mapping[str, str], text: str
    ) -> Reply | _FailedTry:
        if status == 304:
            self.requests.unchanged += 1
        else:
            self.requests.counted[request.resource] += 1
        try:
            data = parse_json(text.encode(), most_values=_MOST_VALUES) if text else None
        except UnreadableContent:
            return self._count_failure(_FailedTry('no_json', 'its answer is no JSON'))
        if status == 200 and (data is None or (request.body is not None and not _has_data(data))):
            return self._count_failure(_FailedTry('no_data', 'its answer is empty'))
        return Reply(status=status, data=data, etag=headers.get('etag'))

    def _explain_failure(
        self,
        token: GitHubToken,
        status: int,
        headers: Mapping[str, str],
        text: str,
    ) -> _FailedTry | None:
        """Return why a status is a failed try; None if it is an answer.

        A 403 is an answer if it is about the repository and not about limits. A token that is
        refused is dropped, one that met a limit is paused. Raises: Fatal if no token is left.
        """
        if status in _ANSWERS:
            return None
        if status == 401:
            return self._reject_token(token)
        if status in (403, 429):
            return self._note_limit_of_answer(token, status, headers, text)
        return _FailedTry(f'status_{status}', f'status {status}')

    def _reject_token(self, token: GitHubToken) -> _FailedTry:
        self._budgets.forget_token(token)
        self.warnings.append(f'GitHub refused {token}: it may have run out')
        if not len(self._budgets):
            raise Fatal('GitHub takes none of the tokens: make new ones and give them instead')
        return _FailedTry('refused_token', f'{token} was refused', pause=False)

    def _note_limit_of_answer(
        self, token: GitHubToken, status: int, headers: Mapping[str, str], text: str
    ) -> _FailedTry | None:
        if 'retry-after' in headers:
            seconds = _parse_seconds(headers['retry-after'], self._patience.secondary)
            self._budgets.pause_token(token, max(seconds, self._patience.pause))
            return _FailedTry('secondary_limit', 'a secondary limit', pause=False)
        if headers.get('x-ratelimit-remaining') == '0':  # recorded by note_headers already
            return _FailedTry('primary_limit', 'a limit', pause=False)
        if status == 429 or any(words in text.lower() for words in _LIMITED):
            self._budgets.pause_token(token, self._patience.secondary)
            return _FailedTry('secondary_limit', 'a secondary limit', pause=False)
        return None


def _send_request(
    client: Github, request: _Request
) -> tuple[int, dict[str, str], str] | _FailedTry:
    """Send a request once, and return status, headers and body, or why it failed.

    The token is in the request and in errors of the client, so neither leaves this function: errors
    are returned as kinds, not raised.
    """
    requester, headers = client.requester, {'If-None-Match': request.etag} if request.etag else {}
    try:
        if request.body is None:
            status, got, text = requester.requestJson(
                'GET', request.path, dict(request.parameters), headers
            )
        else:
            status, got, text = requester.requestJson(
                'POST', requester.graphql_url, input=dict(request.body)
            )
    except requests.RequestException as error:
        return _FailedTry(type(error).__name__, type(error).__name__)
    # PyGithub raises this for redirects, such as to a proxy's or a portal's page
    except RuntimeError:
        return _FailedTry('redirect', 'it leads to another host')
    return status, {name: str(value) for name, value in got.items()}, text


def _has_data(answer: object) -> bool:
    """Return whether the answer to a GraphQL query has data beside the errors that it may have."""
    return isinstance(answer, dict) and isinstance(answer.get('data'), dict)


def _parse_seconds(text: str, otherwise: float) -> float:
    """Parse `Retry-After` as seconds; return `otherwise` if it cannot be read."""
    try:
        return max(0.0, float(text))
    except ValueError:
        return otherwise


def _make_client(base: str, token: GitHubToken, timeout: int) -> Github:
    client = Github(
        auth=Auth.Token(token.secret),
        base_url=base.rstrip('/'),
        timeout=timeout,
        user_agent='coevo',
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )
    limit_answer_sizes(client)
    return client


# The rest makes PyGithub read answers within limits of bytes and seconds, compressed or not.


class UnreadableAnswer(requests.RequestException):
    """An answer that is too long, or comes too slowly."""


class _UnpackedStream:
    """The bytes of an answer as they arrive, decompressed only as far as they are read."""

    def __init__(self, raw: urllib3.HTTPResponse) -> None:
        self._raw = raw

    def read(self, size: int, /) -> bytes:
        """Read at most `size` decompressed bytes."""
        return self._raw.read1(size, decode_content=True)


class _BoundedAdapter(HTTPAdapter):
    def send(self, *arguments: Any, **options: Any) -> requests.Response:
        """Send a request, and return the answer, which is read within the limits."""
        response = super().send(*arguments, **options)
        try:
            content = read_stream(_UnpackedStream(response.raw), most=_MOST_BYTES, seconds=_SECONDS)
        except UnreadableContent as error:
            response.raw.close()
            raise UnreadableAnswer(f'the answer {error}') from None
        except urllib3.exceptions.HTTPError as error:
            response.raw.close()
            raise requests.ConnectionError(str(error)) from None
        response.raw = io.BytesIO(content)
        return response


class _BoundedHttpConnection(HTTPRequestsConnectionClass):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.session.mount('http://', _BoundedAdapter())


class _BoundedHttpsConnection(HTTPSRequestsConnectionClass):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.session.mount('https://', _BoundedAdapter())


def limit_answer_sizes(client: Github) -> None:
    """Make a client limit its answers; call this before its first request.

    PyGithub can replace its connections only for all clients at once, and then drops each
    connection after one answer; so a private attribute of this client is set.
    """
    requester: Any = client.requester
    is_plain = requester._Requester__connectionClass is HTTPRequestsConnectionClass
    requester._Requester__connectionClass = (
        _BoundedHttpConnection if is_plain else _BoundedHttpsConnection
    )
