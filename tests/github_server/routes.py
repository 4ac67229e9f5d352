"""What each path answers, before budgets, faults and ETags."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from tests.github_server import payloads
from tests.github_server.answers import Answer, message
from tests.github_server.search import CAP, BadQuery, found
from tests.github_server.world import Hosted, World

_BY_NAME = re.compile(r'/repos/([^/]+/[^/]+)(/.*)?')
_BY_ID = re.compile(r'/repositories/(\d+)(/.*)?')
_NO_FILE = 'https://docs.github.com/rest/repos/contents#get-repository-content'
_PUBLIC = 'https://docs.github.com/rest/repos/repos#get-a-repository'


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`base` is the URL of the API, without a slash at its end."""

    path: str
    parameters: Mapping[str, str]
    base: str

    @property
    def per_page(self) -> int:
        return min(int(self.parameters.get('per_page', '30')), 100)

    @property
    def page(self) -> int:
        return int(self.parameters.get('page', '1'))

    def linked(self, answer: Answer, total: int) -> Answer:
        """The answer with links to the other pages."""
        last = max(1, -(-total // self.per_page))
        pages = {'prev': self.page - 1, 'next': self.page + 1, 'last': last, 'first': 1}
        if self.page == 1:
            del pages['prev'], pages['first']
        if self.page >= last:
            del pages['next'], pages['last']
        links = [f'<{self._url(page)}>; rel="{name}"' for name, page in pages.items()]
        if links:
            answer.headers['Link'] = ', '.join(links)
        return answer

    def _url(self, page: int) -> str:
        return f'{self.base}{self.path}?{urlencode({**self.parameters, "page": page})}'


def respond(world: World, request: Request) -> Answer:
    """The answer of a server in good health."""
    if request.path == '/search/repositories':
        return _search(world, request)
    by_id, by_name = _BY_ID.fullmatch(request.path), _BY_NAME.fullmatch(request.path)
    if by_id is not None:
        one = world.repositories.get(int(by_id[1]))
        return _about(one, by_id[2] or '', request)
    if by_name is not None:
        moved = world.moved_from(by_name[1])
        one = world.named(by_name[1])
        if one is None and moved is not None:
            answer = message(301, 'Moved Permanently')
            answer.data['url'] = f'{request.base}/repositories/{moved.id}{by_name[2] or ""}'
            answer.headers['Location'] = answer.data['url']
            return answer
        return _about(one, by_name[2] or '', request)
    return message(404, 'Not Found')


def _search(world: World, request: Request) -> Answer:
    try:
        hits = found(
            world,
            request.parameters.get('q', ''),
            request.parameters.get('sort'),
            request.parameters.get('order', 'desc'),
        )
    except BadQuery as error:
        answer = message(422, 'Validation Failed')
        answer.data['errors'] = [
            {'message': str(error), 'resource': 'Search', 'field': 'q', 'code': 'invalid'}
        ]
        return answer
    first = (request.page - 1) * request.per_page
    if first >= CAP:
        return message(422, 'Only the first 1000 search results are available')
    page = hits[:CAP][first : first + request.per_page]
    data = {
        'total_count': len(hits),
        'incomplete_results': False,
        'items': [payloads.search_item(one, request.base) for one in page],
    }
    return request.linked(Answer(data=data), min(len(hits), CAP))


def _about(one: Hosted | None, part: str, request: Request) -> Answer:
    if one is None:
        return message(404, 'Not Found', _PUBLIC)
    if one.blocked is not None:
        return message(one.blocked, 'Repository access blocked')
    match part.split('/')[1:]:
        case []:
            return Answer(data=payloads.full(one, request.base))
        case ['license'] if one.license is not None and one.files:
            file = payloads.content_file(one, 'LICENSE', b'text', request.base)
            return Answer(data={**file, 'license': payloads.license_of(one, request.base)})
        case ['contributors']:
            return _contributors(one, request)
        case ['contents', *rest]:
            return _contents(one, '/'.join(rest), request)
    return message(404, 'Not Found')


def _contributors(one: Hosted, request: Request) -> Answer:
    if not one.files:
        return Answer(status=204, empty=True)
    if one.contributors is None:
        return message(
            403,
            'The history or contributor list is too large to list contributors for this '
            'repository via the API.',
        )
    first = (request.page - 1) * request.per_page
    numbers = range(one.contributors)[first : first + request.per_page]
    people = [payloads.contributor(number, request.base) for number in numbers]
    return request.linked(Answer(data=people), one.contributors)


def _contents(one: Hosted, path: str, request: Request) -> Answer:
    if not one.files:
        return message(404, 'This repository is empty.', _NO_FILE)
    if not path:
        return Answer(data=payloads.listing(one, request.base))
    if path not in one.files:
        return message(404, 'Not Found', _NO_FILE)
    return Answer(data=payloads.content_file(one, path, f'{one.id} {path}'.encode(), request.base))
