"""Answers held against GitHub's own OpenAPI description (npm package `@octokit/openapi`).

`npm ci --prefix tests/github_server` installs it, as `make test` does. What the description does
not list is an answer that its manual describes (301, 401, 403, 429, 451, 5xx): a `basic-error`.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from openapi_schema_validator import OAS30Validator, oas30_format_checker
from referencing import Registry
from referencing.jsonschema import DRAFT4

from tests.github_server.answers import Answer

_FILE = Path(__file__).parent / 'node_modules/@octokit/openapi/generated/api.github.com.json'
_UNLISTED = frozenset({301, 401, 403, 404, 429, 451, 500, 502, 503, 504})
_ROOT = 'urn:github'
# One of several; the validator tells apart by a discriminator, which a list has not.
_FOLDER = '#/components/schemas/content-directory'


class Violation(AssertionError):
    """The server said what GitHub would not say."""


class Contract:
    """Equal contents are checked once, so that a thousand pages of the same hits stay cheap."""

    def __init__(self) -> None:
        _description()  # to fail where a test begins, not where an answer is due
        self._good: set[tuple[str, bytes]] = set()

    def check(self, route: str, answer: Answer) -> None:
        """Violation unless the answer is one that the description gives for `GET route`."""
        schema = _schema(route, answer.status)
        if isinstance(answer.data, list) and route.endswith('/contents/{path}'):
            schema = _FOLDER
        if schema is None or answer.text is not None:
            return
        if answer.empty:
            raise Violation(f'{route} {answer.status} lacks a body')
        if route == '/search/repositories' and answer.status == 200:
            self._check_hits(answer.data)
            return
        self._check(schema, answer.data)

    def _check_hits(self, data: dict[str, Any]) -> None:
        for item in data['items']:
            self._check('#/components/schemas/repo-search-result-item', item)
        self._check(_schema('/search/repositories', 200) or '', {**data, 'items': []})

    def _check(self, schema: str, data: Any) -> None:
        content = json.dumps(data, sort_keys=True).encode()
        if (schema, content) in self._good:
            return
        errors = list(_validator(schema).iter_errors(data))
        if errors:
            raise Violation('; '.join(f'{one.json_path}: {one.message}' for one in errors[:5]))
        self._good.add((schema, content))


def _schema(route: str, status: int) -> str | None:
    """Where the schema of an answer stands; None where it has no body."""
    if route == '/graphql':  # its failures alone: what it answers is of GitHub's schema
        return '#/components/schemas/basic-error'
    listed = _description()['paths'][route]['get']['responses']
    pointer = f'#/paths/{route.replace("~", "~0").replace("/", "~1")}/get/responses/{status}'
    found = listed.get(str(status))
    if found is None:
        if status not in _UNLISTED:
            raise Violation(f'GitHub does not answer {route} with {status}')
        return '#/components/schemas/basic-error'
    if '$ref' in found:
        pointer = found['$ref']
        found = _description()['components']['responses'][pointer.rsplit('/', 1)[1]]
    if 'content' not in found:
        return None
    media = 'application/json'
    return f'{pointer}/content/{media.replace("/", "~1")}/schema'


@cache
def _description() -> dict[str, Any]:
    if not _FILE.is_file():
        raise FileNotFoundError(f'{_FILE} is missing: run `npm ci --prefix {_FILE.parents[4]}`')
    found: dict[str, Any] = json.loads(_FILE.read_bytes())
    return found


@cache
def _validator(pointer: str) -> Any:
    registry: Registry[Any] = Registry().with_resource(
        _ROOT, DRAFT4.create_resource(_description())
    )
    return OAS30Validator(
        {'$ref': f'{_ROOT}{pointer}'}, registry=registry, format_checker=oas30_format_checker
    )


def route_of(path: str) -> str:
    """The description's name of a path; by number it is the same as by name."""
    path = re.sub(r'^/repositories/\d+', '/repos/{owner}/{repo}', path)
    path = re.sub(r'^/repos/[^/{]+/[^/]+', '/repos/{owner}/{repo}', path)
    return re.sub(r'/contents(/.*)?$', '/contents/{path}', path)
