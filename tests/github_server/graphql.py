"""`POST /graphql`: queries that GitHub's own schema allows, answered for repositories by name.

The schema is that of the npm package `@octokit/graphql-schema`; what it does not allow gets the
errors that GitHub would send.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from graphql import (
    GraphQLError,
    GraphQLResolveInfo,
    GraphQLSchema,
    build_schema,
    graphql_sync,
)

from tests.github_server.answers import Answer
from tests.github_server.world import Hosted, World

_FILE = Path(__file__).parent / 'node_modules/@octokit/graphql-schema/schema.graphql'


class _Root:
    """What a query begins with."""

    def __init__(self, world: World, failing: int | None) -> None:
        self._world, self._failing = world, failing

    def repository(
        self, info: GraphQLResolveInfo[Any], owner: str, name: str, followRenames: bool = True
    ) -> _Repository:
        full_name = f'{owner}/{name}'
        one = self._world.named(full_name)
        if one is None and followRenames:
            one = self._world.moved_from(full_name)
        if one is None or one.blocked is not None:
            raise GraphQLError(
                f"Could not resolve to a Repository with the name '{full_name}'.",
                extensions={'type': 'NOT_FOUND'},
            )
        if one.id == self._failing:
            raise GraphQLError('Something went wrong while executing your query.')
        return _Repository(one)


class _Repository:
    def __init__(self, one: Hosted) -> None:
        self.databaseId = one.id
        self.isEmpty = not one.files
        self._files = one.files

    def object(self, info: GraphQLResolveInfo[Any], expression: str) -> dict[str, str] | None:
        revision, _, path = expression.partition(':')
        assert revision == 'HEAD'
        return {'__typename': 'Blob'} if path in self._files else None


def answer(world: World, body: bytes, failing: int | None = None) -> Answer:
    """The answer to a query; errors stand beside the data, as GitHub sends them.

    failing  the id of a repository at which the query fails
    """
    asked = json.loads(body)
    result = graphql_sync(
        _schema(), asked['query'], _Root(world, failing), variable_values=asked['variables']
    )
    data: dict[str, Any] = {}
    if result.data is not None:
        data['data'] = result.data
    if result.errors:
        data['errors'] = [
            {**error.formatted, **(error.extensions or {})} for error in result.errors
        ]
    return Answer(data=data)


@cache
def _schema() -> GraphQLSchema:
    if not _FILE.is_file():
        raise FileNotFoundError(f'{_FILE} is missing: run `npm ci --prefix {_FILE.parents[3]}`')
    return build_schema(_FILE.read_text(encoding='utf-8'), assume_valid=True)
