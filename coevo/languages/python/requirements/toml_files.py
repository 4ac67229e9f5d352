"""pyproject.toml: PEP 621, dependency groups (PEP 735), and the tables of poetry, pdm, uv and hatch; Pipfile."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from coevo.languages.python.requirements.stated import FILES, StatedRequirements

_DEPTH = 8  # of groups that include others


def parse_pyproject(source: bytes) -> StatedRequirements:
    """What can be had of it; a file that is no TOML says nothing."""
    try:
        document = tomllib.loads(source.decode(errors='replace'))
    except tomllib.TOMLDecodeError:
        return StatedRequirements()
    project, tool = _get_table(document, 'project'), _get_table(document, 'tool')
    poetry = _get_table(tool, 'poetry')
    own = _get_table(poetry, 'dependencies')
    groups = {
        name: tuple(_list_texts(lines))
        for name, lines in _get_table(project, 'optional-dependencies').items()
    }
    dynamic = _get_table(_get_table(tool, 'setuptools'), 'dynamic')
    files = {
        name: tuple(_mark_list_files(value))
        for name, value in _get_table(dynamic, 'optional-dependencies').items()
    }
    for more_groups in (
        files,
        _parse_dependency_groups(document),
        _parse_poetry_groups(poetry),
        _parse_tool_groups(tool),
    ):
        for name, lines in more_groups.items():
            groups[name] = (*groups.get(name, ()), *lines)
    python = own.get('python')
    return StatedRequirements(
        name=_as_text(project.get('name') or poetry.get('name')),
        version=_as_text(project.get('version') or poetry.get('version')),
        python=_as_text(project.get('requires-python'))
        or (_convert_versions(python) if isinstance(python, str) else None),
        runtime=(
            *_list_texts(project.get('dependencies')),
            *_mark_list_files(dynamic.get('dependencies')),
            *_format_poetry_lines(own),
        ),
        groups=groups,
        entry_points=_parse_entry_points(project, poetry),
    )


def parse_pipfile(source: bytes) -> StatedRequirements:
    """The lists of pipenv, which have the words of poetry's."""
    try:
        document = tomllib.loads(source.decode(errors='replace'))
    except tomllib.TOMLDecodeError:
        return StatedRequirements()
    lists = [
        tuple(_format_poetry_lines(_get_table(document, name)))
        for name in ('packages', 'dev-packages')
    ]
    return StatedRequirements(groups={'tests': (*lists[0], *lists[1])})


def _get_table(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = holder.get(name)
    return table if isinstance(table, dict) else {}


def _as_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _list_texts(value: object) -> Iterator[str]:
    if isinstance(value, list):
        yield from (line for line in value if isinstance(line, str))


def _mark_list_files(value: object) -> Iterator[str]:
    """What setuptools is told to read lists from: a name, or several."""
    named = value.get('file') if isinstance(value, dict) else None
    for name in [named] if isinstance(named, str) else _list_texts(named):
        yield f'{FILES} {name}'


def _parse_dependency_groups(document: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    groups = _get_table(document, 'dependency-groups')
    return {name: tuple(_expand_group(groups, name, _DEPTH)) for name in groups}


def _expand_group(groups: Mapping[str, Any], name: str, depth: int) -> Iterator[str]:
    lines = groups.get(name)
    for line in lines if isinstance(lines, list) else ():
        if isinstance(line, str):
            yield line
        elif isinstance(line, dict) and isinstance(line.get('include-group'), str) and depth:
            yield from _expand_group(groups, line['include-group'], depth - 1)


def _parse_poetry_groups(poetry: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    groups = {'dev': tuple(_format_poetry_lines(_get_table(poetry, 'dev-dependencies')))}
    for name, group in _get_table(poetry, 'group').items():
        if isinstance(group, dict):
            lines = tuple(_format_poetry_lines(_get_table(group, 'dependencies')))
            groups[name] = (*groups.get(name, ()), *lines)
    return {name: lines for name, lines in groups.items() if lines}


def _parse_tool_groups(tool: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for name, lines in _get_table(_get_table(tool, 'pdm'), 'dev-dependencies').items():
        groups[name] = tuple(_list_texts(lines))
    groups['dev'] = (
        *groups.get('dev', ()),
        *_list_texts(_get_table(tool, 'uv').get('dev-dependencies')),
    )
    for name, environment in _get_table(_get_table(tool, 'hatch'), 'envs').items():
        if isinstance(environment, dict):
            both = (environment.get('dependencies'), environment.get('extra-dependencies'))
            lines = tuple(line for requirements in both for line in _list_texts(requirements))
            kind = 'test' if name in ('default', 'test', 'tests', 'hatch-test') else name
            groups[kind] = (*groups.get(kind, ()), *lines)
    return {name: lines for name, lines in groups.items() if lines}


def _format_poetry_lines(table: Mapping[str, Any]) -> Iterator[str]:
    for name, value in table.items():
        if name.lower() == 'python':
            continue
        requirement = value[0] if isinstance(value, list) and value else value
        if isinstance(requirement, str):
            yield f'{name}{_convert_versions(requirement)}'
        elif isinstance(requirement, dict) and isinstance(requirement.get('version'), str):
            extras = ','.join(_list_texts(requirement.get('extras')))
            if not requirement.get('optional'):
                yield f'{name}{f"[{extras}]" if extras else ""}{_convert_versions(requirement["version"])}'


def _convert_versions(text: str) -> str:
    """Poetry's carets and tildes in the words of PEP 440; alternatives (`||`) are the last one."""
    parts = (part.strip() for part in text.rpartition('||')[2].split(','))
    return ','.join(converted for part in parts if (converted := _convert_version(part)))


def _convert_version(part: str) -> str:
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


def _parse_entry_points(
    project: Mapping[str, Any], poetry: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    entry_points = {
        group: tuple(f'{name} = {value}' for name, value in points.items())
        for holder in (_get_table(project, 'entry-points'), _get_table(poetry, 'plugins'))
        for group, points in holder.items()
        if isinstance(points, dict)
    }
    scripts = {**_get_table(project, 'scripts'), **_get_table(poetry, 'scripts')}
    lines = tuple(f'{name} = {value}' for name, value in scripts.items() if isinstance(value, str))
    return {**entry_points, 'console_scripts': lines} if lines else entry_points
