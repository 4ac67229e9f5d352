"""Read all files in which projects state what they and their tests need."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.python.requirements.ini_files import (
    list_requirements_in_commands,
    load_requirement_list,
    parse_setup_cfg,
    parse_tox_ini,
)
from coevo.languages.python.requirements.other_places import PLACES
from coevo.languages.python.requirements.setup_py import find_requirement_list_paths, parse_setup_py
from coevo.languages.python.requirements.stated import (
    FILES,
    Needs,
    StatedRequirements,
    drop_non_test_tools,
    merge_requirements,
)
from coevo.storage.bounded_reading import parse_toml

# The files that configure a build; a folder with one of them is a module.
BUILD_FILES = ('pyproject.toml', 'setup.py', 'setup.cfg')

_TEST_LIST = re.compile(
    r'(requirements/|reqs/|tests?/)?(requirements[-_.]?)?(tests?|testing|dev|develop|ci)[-_.]?'
    r'(requirements)?\.(txt|in|pip)|tests?/requirements\.(txt|in)'
)
_MOST_BYTES = 1 << 20

# The program of setuptools, and the one that hatch runs for dynamic metadata (hatch.pypa.io,
# "Metadata hook plugins").
_BUILD_PROGRAMS = ('setup.py', 'hatch_build.py')
_OF_REQUIREMENTS = re.compile(r'(^|/)[\w-]*req(uirement)?s?[\w.-]*(/|\.\w+$)')


def load_needs(repository: Repository, rev: str, folder: str = '.') -> Needs:
    """Return what the project in a folder and its tests need, merged from all its files.

    No file is run.
    """
    return merge_requirements(_RequirementFiles(repository, rev, folder).load_all())


class _RequirementFiles:
    def __init__(self, repository: Repository, rev: str, folder: str) -> None:
        self._repository, self._tree = repository, repository.tree(rev)
        self._prefix = '' if folder == '.' else f'{folder}/'

    def load_all(self) -> Iterator[StatedRequirements]:
        """Yield the requirements of each file that states some, in order of precedence."""
        says_runtime = False
        for name, reader in (
            ('pyproject.toml', parse_pyproject),
            ('setup.cfg', parse_setup_cfg),
            ('setup.py', parse_setup_py),
            ('tox.ini', parse_tox_ini),
            ('Pipfile', parse_pipfile),
        ):
            source = self._load_file(self._prefix + name)
            if source is not None:
                requirements = self._expand_lists(reader(source))
                says_runtime = says_runtime or bool(requirements.runtime)
                yield requirements
        if not says_runtime:
            named = StatedRequirements(runtime=tuple(self._load_requirements_named_in_programs()))
            says_runtime = bool(named.runtime)
            yield named
        yield from self._load_test_lists(runtime_is_stated=says_runtime)
        for name, read_place in PLACES.items():
            source = self._load_file(self._prefix + name)
            if source is not None:
                yield self._expand_lists(read_place(source))
        yield from self._load_other_lists()
        for path in self._tree if not self._prefix else ():
            if is_workflow(path):
                yield self._expand_lists(parse_workflow(self._load_file(path) or b''))

    def _load_requirements_named_in_programs(self) -> Iterator[str]:
        """Yield the requirements from lists that a build program mentions.

        Used for projects that state their runtime requirements in no other file.
        """
        for program in _BUILD_PROGRAMS:
            source = self._load_file(self._prefix + program)
            for name in find_requirement_list_paths(source) if source is not None else ():
                if not _TEST_LIST.fullmatch(name.rpartition('/')[2]):
                    for path in self._find_list_paths(name):
                        yield from drop_non_test_tools(load_requirement_list(path, self._load_file))

    def _find_list_paths(self, name: str) -> tuple[str, ...]:
        """Return the path of a list that a build program names, or the only one that ends with it.

        The build program may compute the beginning of the path. () if there is none, if several
        paths end with the name, or if it is not the name of a requirement list.
        """
        if self._prefix + name in self._tree and _OF_REQUIREMENTS.search(name):
            return (self._prefix + name,)
        below = [
            path
            for path in self._tree
            if path.startswith(self._prefix)
            and path.endswith(f'/{name}')
            and _OF_REQUIREMENTS.search(path.removeprefix(self._prefix))
        ]
        return tuple(below) if len(below) == 1 else ()

    def _expand_lists(self, stated: StatedRequirements) -> StatedRequirements:
        """Return the requirements with references to lists replaced by the lines of the lists."""
        return replace(
            stated,
            runtime=tuple(self._expand_lines(stated.runtime)),
            groups={
                name: tuple(self._expand_lines(lines)) for name, lines in stated.groups.items()
            },
        )

    def _expand_lines(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if not line.strip().startswith(FILES):
                yield line
                continue
            for name in line.strip().removeprefix(FILES).split(','):
                path = self._prefix + posixpath.normpath(name.strip())
                yield from load_requirement_list(path, self._load_file)

    def _load_test_lists(self, *, runtime_is_stated: bool) -> Iterator[StatedRequirements]:
        """Yield the requirement lists for tests.

        A compiled list (.txt) is skipped if its source (.in) is there.

        told  whether other files state runtime requirements; requirements.txt then counts for
              tests, else as the runtime requirements
        """
        for path in self._tree:
            name = path.removeprefix(self._prefix)
            if not path.startswith(self._prefix) or not _TEST_LIST.fullmatch(name):
                continue
            if path.endswith('.txt') and f'{path[:-4]}.in' in self._tree:
                continue
            kind = 'dev' if 'dev' in name else 'tests'
            yield StatedRequirements(
                groups={kind: tuple(load_requirement_list(path, self._load_file))}
            )
        if (self._prefix + 'requirements.txt') in self._tree:
            lines = tuple(load_requirement_list(self._prefix + 'requirements.txt', self._load_file))
            yield (
                StatedRequirements(groups={'tests': lines})
                if runtime_is_stated
                else StatedRequirements(runtime=drop_non_test_tools(lines))
            )

    def _load_other_lists(self) -> Iterator[StatedRequirements]:
        """Yield each list whose name does not say that tests need it, as a group `list NAME`."""
        for path in self._tree:
            name = path.removeprefix(self._prefix)
            is_list = path.startswith(self._prefix) and _OF_REQUIREMENTS.search(name)
            if is_list and path.endswith(('.txt', '.in')) and not _TEST_LIST.fullmatch(name):
                yield StatedRequirements(
                    groups={f'list {name}': tuple(load_requirement_list(path, self._load_file))}
                )

    def _load_file(self, path: str) -> bytes | None:
        entry = self._tree.get(path)
        if entry is None or entry.mode == LINK:
            return None
        content = self._repository.blob(entry.oid)
        return content if len(content) <= _MOST_BYTES else None


# Packages that continuous integration installs before it runs the tests: `pip install` commands.
#
# Some projects state only there that tests need an extra (`pip install .[arrays,test]`) or a
# package.

_FILE = re.compile(r'\.github/workflows/[^/]+\.ya?ml|\.travis\.ya?ml')
_RUNS_TESTS = re.compile(r'pytest|py\.test|unittest')


def is_workflow(path: str) -> bool:
    """Return whether a path, relative to the repository, configures GitHub Actions or Travis CI."""
    return _FILE.fullmatch(path) is not None


def parse_workflow(source: bytes) -> StatedRequirements:
    """Return the packages that a CI file installs, as test requirements; none if it runs no tests.

    Words with variables or substituted values are left out.
    """
    if not _RUNS_TESTS.search(source.decode(errors='replace')):
        return StatedRequirements()
    lines = tuple(dict.fromkeys(list_requirements_in_commands(source)))
    return StatedRequirements(groups={'tests': lines})


# pyproject.toml: PEP 621, dependency groups (PEP 735), and the tables of poetry, pdm, uv and hatch;
# Pipfile.

_DEPTH = 8  # limit for groups that include others


def parse_pyproject(source: bytes) -> StatedRequirements:
    """Return the requirements that pyproject.toml states; none if it is not valid TOML."""
    try:
        document = parse_toml(source.decode(errors='replace'))
    except ValueError:
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
        or (_convert_poetry_versions(python) if isinstance(python, str) else None),
        runtime=(
            *_list_texts(project.get('dependencies')),
            *_mark_list_files(dynamic.get('dependencies')),
            *_format_poetry_lines(own),
        ),
        groups=groups,
        entry_points=_parse_entry_points(project, poetry),
    )


def parse_pipfile(source: bytes) -> StatedRequirements:
    """Return all packages of a Pipfile as test requirements; none if it is not valid TOML.

    Its version syntax is read as poetry's.
    """
    try:
        document = parse_toml(source.decode(errors='replace'))
    except ValueError:
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
    """Yield the mark `FILES` with the path of each list that a `file` entry of setuptools names."""
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
            yield f'{name}{_convert_poetry_versions(requirement)}'
        elif isinstance(requirement, dict) and isinstance(requirement.get('version'), str):
            extras = ','.join(_list_texts(requirement.get('extras')))
            if not requirement.get('optional'):
                yield f'{name}{f"[{extras}]" if extras else ""}{_convert_poetry_versions(requirement["version"])}'


def _convert_poetry_versions(text: str) -> str:
    """Return poetry's carets and tildes as PEP 440 has them: `>=1.2,<2` for `^1.2`.

    Of alternatives (`||`) the last one counts.
    """
    parts = (part.strip() for part in text.rpartition('||')[2].split(','))
    return ','.join(converted for part in parts if (converted := _convert_poetry_version(part)))


def _convert_poetry_version(part: str) -> str:
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
    scripts = {
        'console_scripts': {**_get_table(project, 'scripts'), **_get_table(poetry, 'scripts')},
        'gui_scripts': _get_table(project, 'gui-scripts'),
    }
    for group, table in scripts.items():
        lines = tuple(
            f'{name} = {value}' for name, value in table.items() if isinstance(value, str)
        )
        if lines:
            entry_points[group] = lines
    return entry_points
