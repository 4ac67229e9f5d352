"""The server itself: one thread a connection, budgets, faults, ETags, and Git under /git/."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from tests.git_server import GitBackend
from tests.github_server import graphql
from tests.github_server.answers import Answer, etag, message
from tests.github_server.budgets import Budgets
from tests.github_server.contract import Contract, Violation, route_of
from tests.github_server.faults import Fault
from tests.github_server.routes import Request, respond
from tests.github_server.world import World


@dataclass(slots=True, kw_only=True)
class Server:
    """What tests see and change while it runs.

    repositories    folder with OWNER/NAME.git, to which `clone_url` leads
    git             what serves them, below /git; it can be told to fail, too
    most_repositories  a GraphQL query for more than these takes too long, and gets a 502
    etag_per_token  whether another token gets another ETag for the same content
    asked           every request: token, path, status
    violations      answers that GitHub's description does not allow
    before_each     called before each request to the API
    after_fault     called when a request is made to fail
    """

    world: World
    budgets: Budgets = field(default_factory=Budgets)
    repositories: Path | None = None
    git: GitBackend = field(init=False)
    most_repositories: int = 1000
    etag_per_token: bool = True
    faults: list[Fault] = field(default_factory=list)
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    api: str = ''
    before_each: Callable[[], None] = lambda: None
    after_fault: Callable[[], None] = lambda: None
    contract: Contract = field(default_factory=Contract)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.git = GitBackend(self.repositories or Path('/nonexistent'), prefix='/git')

    @property
    def statuses(self) -> Counter[int]:
        return Counter(status for _, _, status in self.asked)

    def refresh(self) -> None:
        """Called before each request; a world of files reads them again (see `live`)."""


@contextmanager
def serving(server: Server, port: int = 0) -> Iterator[Server]:
    """The server at `server.api`, for as long as it is entered; port 0 takes a free one."""
    http = _Http(('127.0.0.1', port), _Handler)
    http.state = server
    server.api = f'http://127.0.0.1:{http.server_address[1]}'
    thread = threading.Thread(target=http.serve_forever, kwargs={'poll_interval': 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.git.close()
        http.shutdown()
        http.server_close()
        thread.join()
    assert not server.violations, server.violations


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    state: Server


class _Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server: _Http
    timeout = 30
    disable_nagle_algorithm = True

    def log_message(self, format: str, *arguments: object) -> None:
        """Requests are kept in `asked`, not printed."""

    def do_POST(self) -> None:
        self._heard(self._get)

    def do_GET(self) -> None:
        self._heard(self._get)

    def _heard(self, otherwise: Callable[[], None]) -> None:
        try:
            if not self.server.state.git.answer(self):
                otherwise()
        except (BrokenPipeError, ConnectionResetError):  # the client was killed, or went
            self.close_connection = True

    def _get(self) -> None:
        state = self.server.state
        self._body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        with state.lock:
            answer, headers, fault = self._answer(state)
            state.asked.append((self._token(), self.path, answer.status))
        self._send(answer, headers, fault)

    def _answer(self, state: Server) -> tuple[Answer, dict[str, str], Fault | None]:
        state.refresh()
        state.before_each()
        split = urlsplit(self.path)
        request = Request(path=split.path, parameters=dict(parse_qsl(split.query)), base=state.api)
        token = self._token()
        if not state.budgets.known(token):
            return message(401, 'Bad credentials'), {}, None
        if request.path == '/rate_limit':
            overview = state.budgets.overview(token)
            answer = Answer(data={'resources': overview, 'rate': overview['core']})
            return self._checked(state, request.path, answer), {}, None
        return self._granted(state, request, token)

    def _granted(
        self, state: Server, request: Request, token: str
    ) -> tuple[Answer, dict[str, str], Fault | None]:
        is_graphql = request.path == '/graphql' and self.command == 'POST'
        resource = 'search' if request.path.startswith('/search/') else 'core'
        resource = 'graphql' if is_graphql else resource
        fault = next((one for one in state.faults if one.strikes(self.path)), None)
        if fault is not None:
            state.after_fault()
        instead = fault.instead() if fault is not None else None
        if instead is not None:
            headers = state.budgets.headers(token, resource)
            if fault is not None and fault.kind == 'primary':
                headers['X-RateLimit-Remaining'] = '0'
                headers['X-RateLimit-Reset'] = str(int(time.time() + fault.seconds) + 1)
            return self._checked(state, request.path, instead), headers, fault
        if not state.budgets.spend(token, resource):
            answer = message(403, 'API rate limit exceeded for user ID 1.')
            return answer, state.budgets.headers(token, resource), None
        if is_graphql and self._body.count(b'repository(') > state.most_repositories:
            answer = Answer(status=502, text='<html><body>Unicorn!</body></html>')
        elif is_graphql:
            failing = fault.id if fault is not None and fault.kind == 'partial' else None
            answer = graphql.answer(state.world, self._body, failing)
        else:
            answer = self._checked(state, request.path, respond(state.world, request))
        if fault is not None and fault.kind == 'incomplete':
            answer.data['incomplete_results'] = True
            answer.data['items'] = answer.data['items'][::2]
        if answer.status == 200 and resource == 'core':
            answer = self._conditional(state, answer, token)
        return answer, state.budgets.headers(token, resource), fault

    def _conditional(self, state: Server, answer: Answer, token: str) -> Answer:
        plain = Answer(text=answer.body.decode().replace(state.api, ''))
        tag = etag(plain, token if state.etag_per_token else '')
        if self.headers.get('If-None-Match') == tag:
            state.budgets.give_back(token, 'core')
            answer = Answer(status=304, empty=True)
        answer.headers['ETag'] = tag
        return answer

    def _checked(self, state: Server, path: str, answer: Answer) -> Answer:
        try:
            state.contract.check(route_of(path), answer)
        except Violation as error:
            state.violations.append(f'{path}: {error}')
        return answer

    def _token(self) -> str:
        return self.headers.get('Authorization', '').removeprefix('token ').removeprefix('Bearer ')

    def _send(self, answer: Answer, headers: dict[str, str], fault: Fault | None = None) -> None:
        kind = fault.kind if fault is not None else None
        body = answer.body
        if kind == 'hang':
            self.server.state.stopping.wait(fault.seconds if fault else 0)
            self.close_connection = True
            return
        if kind == 'reset':
            self.close_connection = True
            return
        if kind == 'garbage':
            body = b'{"total_count": 12, "items": [nothing'
        self.send_response_only(answer.status)
        self.send_header('Date', formatdate(usegmt=True))
        self.send_header('Content-Type', answer.content_type)
        for name, value in {**headers, **answer.headers}.items():
            self.send_header(name, value)
        if answer.status not in (204, 304):
            self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if kind == 'half':
            body = body[: len(body) // 2]
            self.close_connection = True
        self.wfile.write(body)
