"""`GET /search/repositories`: the qualifiers of `q` that coevo may ask for, and no more than 1,000.

https://docs.github.com/en/search-github/searching-on-github/searching-for-repositories
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable

from tests.github_server.world import Hosted

CAP = 1000

Test = Callable[[Hosted], bool]

# As choosealicense.com keys them, for those whose key is not their SPDX id in small letters.
_KEYS = {'NOASSERTION': 'other'}
_QUALIFIER = re.compile(r'([a-z-]+):(\S+)')
_SORTS = ('stars', 'forks', 'help-wanted-issues', 'updated')


class BadQuery(ValueError):
    """A query that GitHub answers with 422."""


def key_of(license_: str) -> str:
    return _KEYS.get(license_, license_.lower())


def found(repositories: Iterable[Hosted], query: str, sort: str | None, order: str) -> list[Hosted]:
    """All hits of a query in their order; ties by id, as nothing is promised for them."""
    tests = _tests(query)
    hits = [one for one in repositories if one.blocked is None and all(t(one) for t in tests)]
    if sort is not None and sort not in _SORTS:
        raise BadQuery(f'sort {sort}')
    descending = order != 'asc'
    hits.sort(key=lambda one: one.id)
    hits.sort(
        key=lambda one: one.updated_at if sort == 'updated' else str(one.stars).zfill(9),
        reverse=descending,
    )
    return hits


def _tests(query: str) -> list[Test]:
    words = query.split()
    tests: list[Test] = []
    forks = ''
    for word in words:
        match = _QUALIFIER.fullmatch(word)
        if match is None:
            raise BadQuery(word)
        name, value = match.groups()
        if name == 'fork':
            forks = value
        else:
            tests.append(_test(name, value))
    if forks not in ('', 'true', 'only'):
        raise BadQuery(f'fork:{forks}')
    if forks != 'true':
        tests.append(lambda one: one.fork == (forks == 'only'))
    if not words:
        raise BadQuery('no query')
    return tests


def _test(name: str, value: str) -> Test:
    match name:
        case 'language':
            return lambda one: (one.language or '').lower() == value.lower()
        case 'license':
            return lambda one: one.license is not None and key_of(one.license) == value.lower()
        case 'archived':
            return lambda one: one.archived == (value == 'true')
        case 'is':
            return lambda one: value == 'public'
        case 'stars':
            return _range(value, lambda one: str(one.stars).zfill(9), _number)
        case 'created':
            return _range(value, lambda one: one.created_at, _date)
        case 'pushed':
            return _range(value, lambda one: one.pushed_at, _date)
    raise BadQuery(name)


_SIGNS: dict[str, Callable[[str, str], bool]] = {
    '>=': operator.ge,
    '<=': operator.le,
    '>': operator.gt,
    '<': operator.lt,
}


def _range(value: str, of: Callable[[Hosted], str], read: Callable[[str, bool], str]) -> Test:
    """`a..b` with both ends, `*` for none; `>=a`, `>a`, `<=b`, `<b`; or one value."""
    sign = next((sign for sign in _SIGNS if value.startswith(sign)), None)
    if sign is not None:
        edge = read(value.removeprefix(sign), sign in ('>', '<='))
        return lambda one: _SIGNS[sign](of(one), edge)
    low, high = value.split('..') if '..' in value else (value, value)
    first = read(low, False) if low != '*' else ''
    last = read(high, True) if high != '*' else '~'
    return lambda one: first <= of(one) <= last


def _number(text: str, end: bool) -> str:
    if not text.isdecimal():
        raise BadQuery(text)
    return text.zfill(9)


def _date(text: str, end: bool) -> str:
    if re.fullmatch(r'\d{4}-\d\d-\d\d', text):
        return f'{text}T23:59:59Z' if end else f'{text}T00:00:00Z'
    if re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', text):
        return text
    raise BadQuery(text)
