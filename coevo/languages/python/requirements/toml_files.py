"""pyproject.toml: PEP 621, dependency groups (PEP 735), and the tables of poetry, pdm, uv and hatch; Pipfile."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from coevo.languages.python.requirements.stated import FILES
from coevo.languages.python.requirements.stated import Stated

_DEPTH = 8  # of groups that include others


def pyproject(source: bytes) -> Stated:
    """What can be had of it; a file that is no TOML says nothing."""
    try:
        document = tomllib.loads(source.decode(errors='replace'))
    except tomllib.TOMLDecodeError:
        return Stated()
    project, tool = _table(document, 'project'), _table(document, 'tool')
    poetry = _table(tool, 'poetry')
    own = _table(poetry, 'dependencies')
    groups = {
        name: tuple(_lines(lines))
        for name, lines in _table(project, 'optional-dependencies').items()
    }
    dynamic = _table(_table(tool, 'setuptools'), 'dynamic')
    files = {
        name: tuple(_files(one)) for name, one in _table(dynamic, 'optional-dependencies').items()
    }
    for found in (files, _dependency_groups(document), _of_poetry(poetry), _of_tools(tool)):
        for name, lines in found.items():
            groups[name] = (*groups.get(name, ()), *lines)
    python = own.get('python')
    return Stated(
        name=_text(project.get('name') or poetry.get('name')),
        version=_text(project.get('version') or poetry.get('version')),
        python=_text(project.get('requires-python'))
        or (_versions(python) if isinstance(python, str) else None),
        runtime=(
            *_lines(project.get('dependencies')),
            *_files(dynamic.get('dependencies')),
            *_poetry_lines(own),
        ),
        groups=groups,
        entry_points=_entry_points(project, poetry),
    )


def pipfile(source: bytes) -> Stated:
    """The lists of pipenv, which have the words of poetry's."""
    try:
        document = tomllib.loads(source.decode(errors='replace'))
    except tomllib.TOMLDecodeError:
        return Stated()
    lists = [tuple(_poetry_lines(_table(document, name))) for name in ('packages', 'dev-packages')]
    return Stated(groups={'tests': (*lists[0], *lists[1])})


def _table(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = holder.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _lines(value: object) -> Iterator[str]:
    if isinstance(value, list):
        yield from (line for line in value if isinstance(line, str))


def _files(value: object) -> Iterator[str]:
    """What setuptools is told to read lists from: a name, or several."""
    named = value.get('file') if isinstance(value, dict) else None
    for name in [named] if isinstance(named, str) else _lines(named):
        yield f'{FILES} {name}'


def _dependency_groups(document: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    groups = _table(document, 'dependency-groups')
    return {name: tuple(_group(groups, name, _DEPTH)) for name in groups}


def _group(groups: Mapping[str, Any], name: str, depth: int) -> Iterator[str]:
    lines = groups.get(name)
    for line in lines if isinstance(lines, list) else ():
        if isinstance(line, str):
            yield line
        elif isinstance(line, dict) and isinstance(line.get('include-group'), str) and depth:
            yield from _group(groups, line['include-group'], depth - 1)


def _of_poetry(poetry: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    found = {'dev': tuple(_poetry_lines(_table(poetry, 'dev-dependencies')))}
    for name, group in _table(poetry, 'group').items():
        if isinstance(group, dict):
            lines = tuple(_poetry_lines(_table(group, 'dependencies')))
            found[name] = (*found.get(name, ()), *lines)
    return {name: lines for name, lines in found.items() if lines}


def _of_tools(tool: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, lines in _table(_table(tool, 'pdm'), 'dev-dependencies').items():
        found[name] = tuple(_lines(lines))
    found['dev'] = (*found.get('dev', ()), *_lines(_table(tool, 'uv').get('dev-dependencies')))
    for name, environment in _table(_table(tool, 'hatch'), 'envs').items():
        if isinstance(environment, dict):
            both = (environment.get('dependencies'), environment.get('extra-dependencies'))
            lines = tuple(line for one in both for line in _lines(one))
            kind = 'test' if name in ('default', 'test', 'tests', 'hatch-test') else name
            found[kind] = (*found.get(kind, ()), *lines)
    return {name: lines for name, lines in found.items() if lines}


def _poetry_lines(table: Mapping[str, Any]) -> Iterator[str]:
    for name, value in table.items():
        if name.lower() == 'python':
            continue
        one = value[0] if isinstance(value, list) and value else value
        if isinstance(one, str):
            yield f'{name}{_versions(one)}'
        elif isinstance(one, dict) and isinstance(one.get('version'), str):
            extras = ','.join(_lines(one.get('extras')))
            if not one.get('optional'):
                yield f'{name}{f"[{extras}]" if extras else ""}{_versions(one["version"])}'


def _versions(text: str) -> str:
    """Poetry's carets and tildes in the words of PEP 440; alternatives (`||`) are the last one."""
    parts = (part.strip() for part in text.rpartition('||')[2].split(','))
    return ','.join(found for part in parts if (found := _version(part)))


def _version(part: str) -> str:
    numbers = re.match(r'[\^~]?=?\s*(\d+(?:\.\d+)*)', part)
    if part in ('*', '') or numbers is None:
        return '' if part in ('*', '') else part
    release = [int(number) for number in numbers[1].split('.')]
    if part.startswith('^'):
        at = next((i for i, number in enumerate(release) if number), len(release) - 1)
    elif part.startswith('~') and not part.startswith('~='):
        at = min(1, len(release) - 1)
    else:
        return f'=={part}' if part[0].isdigit() else part
    above = '.'.join(map(str, (*release[:at], release[at] + 1)))
    return f'>={numbers[1]},<{above}'


def _entry_points(
    project: Mapping[str, Any], poetry: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    found = {
        group: tuple(f'{name} = {value}' for name, value in points.items())
        for holder in (_table(project, 'entry-points'), _table(poetry, 'plugins'))
        for group, points in holder.items()
        if isinstance(points, dict)
    }
    scripts = {**_table(project, 'scripts'), **_table(poetry, 'scripts')}
    lines = tuple(f'{name} = {value}' for name, value in scripts.items() if isinstance(value, str))
    return {**found, 'console_scripts': lines} if lines else found
