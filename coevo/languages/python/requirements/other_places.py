"""Read the places beside the build files in which developers say what their tests need.

nox (noxfile.py), tox (tox.toml, `tool.tox`), hatch (hatch.toml), pixi, rye, flit's old table, conda
(environment.yml), Makefiles. Each list is a group, named after its session, environment or file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from coevo.languages.python.requirements.ini_files import (
    list_pip_install_requirements,
    list_requirements_in_commands,
    parse_tox_ini,
)
from coevo.languages.python.requirements.setup_py import parse_module
from coevo.languages.python.requirements.stated import FILES, StatedRequirements
from coevo.storage.bounded_reading import parse_toml

# The names of sessions and environments that run tests.
_RUNS_TESTS = re.compile(
    r'(?i)(py(thon)?\d*[-_.]?)?(unit[-_]?)?(py)?tests?([-_].*)?|testing|py3?\d*'
)
_CONDA_ITEM = re.compile(
    r'(\s*)-\s+["\']?([A-Za-z0-9][\w.-]*)\s*([=<>!~][^#"\']*)?["\']?\s*(#.*)?$'
)
_PIP = re.compile(r'(\s*)-\s+pip\s*:\s*$')
_INCLUDED = re.compile(r'-r\s*(\S+)')


def parse_noxfile(source: bytes) -> StatedRequirements:
    """Return the requirements that the sessions of a noxfile install, as groups by session.

    The file is not run: computed requirements are left out.
    """
    module = parse_module(source)
    try:
        return StatedRequirements(
            groups=_group_session_requirements(module) if module is not None else {}
        )
    except RecursionError:  # a sum of thousands of texts
        return StatedRequirements()


def _group_session_requirements(module: ast.Module) -> dict[str, tuple[str, ...]]:
    constants = {
        target.id: tuple(_list_literals(node.value, {}))
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    groups: dict[str, tuple[str, ...]] = {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            lines = tuple(_list_session_lines(node, constants))
            if lines:
                name = _name_group(node.name)
                groups[name] = (*groups.get(name, ()), *lines)
    return groups


def _list_session_lines(
    session: ast.FunctionDef, constants: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    for node in ast.walk(session):
        if isinstance(node, ast.Call) and _get_attribute_name(node.func) in (
            'install',
            'conda_install',
        ):
            words = [word for argument in node.args for word in _list_literals(argument, constants)]
            yield from list_pip_install_requirements(words)


def _get_attribute_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else ''


def _list_literals(node: ast.expr, constants: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the texts of a literal, of a list or sum of such, or of a constant that is one.

    Anything else yields nothing.
    """
    match node:
        case ast.Constant(value=str() as text):
            yield text
        case ast.List() | ast.Tuple() | ast.Set():
            for item in node.elts:
                yield from _list_literals(item, constants)
        case ast.Starred():
            yield from _list_literals(node.value, constants)
        case ast.Name():
            yield from constants.get(node.id, ())
        case ast.BinOp(op=ast.Add()):
            yield from _list_literals(node.left, constants)
            yield from _list_literals(node.right, constants)


def _name_group(name: str) -> str:
    """Return `tests` for a session or environment that runs tests, else its own name."""
    return 'tests' if _RUNS_TESTS.fullmatch(name) else name


def parse_toml_tool_requirements(name: str, source: bytes) -> StatedRequirements:
    """Return the requirements that a TOML file states for tox, pixi, hatch, rye or flit.

    name  the name of the file, which determines the tables that are read
    """
    try:
        document = parse_toml(source.decode(errors='replace'))
    except ValueError:
        return StatedRequirements()
    tool = _get_table(document, 'tool')
    groups: dict[str, tuple[str, ...]] = {}
    for reader, table in (
        (_parse_tox, document if name == 'tox.toml' else _get_table(tool, 'tox')),
        (_parse_pixi, document if name == 'pixi.toml' else _get_table(tool, 'pixi')),
        (_parse_hatch, document if name == 'hatch.toml' else {}),
        (_parse_rye, _get_table(tool, 'rye')),
        (_parse_flit, _get_table(_get_table(tool, 'flit'), 'metadata')),
    ):
        for group, lines in reader(table):
            groups[group] = (*groups.get(group, ()), *lines)
    metadata = _get_table(_get_table(tool, 'flit'), 'metadata')
    return StatedRequirements(
        runtime=tuple(_list_texts(metadata.get('requires'))),
        groups={group: lines for group, lines in groups.items() if lines},
    )


_Groups = Iterator[tuple[str, tuple[str, ...]]]


def _parse_tox(table: Mapping[str, Any]) -> _Groups:
    old = table.get('legacy_tox_ini')
    if isinstance(old, str):
        yield from parse_tox_ini(old.encode()).groups.items()
    base = _get_table(table, 'env_run_base')
    yield 'tests', tuple(_list_tox_lines(base))
    for name, environment in _get_table(table, 'env').items():
        if isinstance(environment, dict):
            yield _name_group(name), tuple(_list_tox_lines(environment))


def _list_tox_lines(environment: Mapping[str, Any]) -> Iterator[str]:
    for line in _list_texts(environment.get('deps')):
        included = _INCLUDED.fullmatch(line.strip())
        yield f'{FILES}{included[1]}' if included else line
    for key in ('extras', 'dependency_groups'):
        yield from (f'.[{name}]' for name in _list_texts(environment.get(key)))


def _parse_pixi(table: Mapping[str, Any]) -> _Groups:
    features = {'pixi': table, **_get_table(table, 'feature')}
    for name, feature in features.items():
        if isinstance(feature, dict):
            for key in ('dependencies', 'pypi-dependencies'):
                names = (n for n in _get_table(feature, key) if n not in ('python', 'pip'))
                yield _name_group(name), tuple(names)


def _parse_hatch(table: Mapping[str, Any]) -> _Groups:
    for name, environment in _get_table(table, 'envs').items():
        if isinstance(environment, dict):
            both = (environment.get('dependencies'), environment.get('extra-dependencies'))
            lines = [line for requirements in both for line in _list_texts(requirements)]
            lines += [f'.[{extra}]' for extra in _list_texts(environment.get('features'))]
            yield 'tests' if name in ('default', 'hatch-test') else _name_group(name), tuple(lines)


def _parse_rye(table: Mapping[str, Any]) -> _Groups:
    yield 'dev', tuple(_list_texts(table.get('dev-dependencies')))


def _parse_flit(table: Mapping[str, Any]) -> _Groups:
    for name, lines in _get_table(table, 'requires-extra').items():
        yield name, tuple(_list_texts(lines))


def parse_conda_environment(source: bytes) -> StatedRequirements:
    """Return the packages of a conda environment and of its pip list, as the group `conda`."""
    lines: list[str] = []
    for line in source.decode(errors='replace').splitlines():
        item = None if _PIP.match(line) else _CONDA_ITEM.match(line)
        if item is not None and item[2] not in ('python', 'pip', 'conda-forge', 'defaults'):
            lines.append(f'{item[2]}{_convert_conda_version(item[3] or "")}')
    return StatedRequirements(groups={'conda': tuple(lines)})


def _convert_conda_version(text: str) -> str:
    """Return a version condition of conda as PEP 440 has it: `==1.2.*` for `=1.2=build`."""
    exact = re.fullmatch(r'=\s*(\d[\w.]*)(=\S+)?\s*', text)
    return f'=={exact[1]}.*' if exact and not exact[1].endswith('.*') else text.strip()


def parse_makefile(source: bytes) -> StatedRequirements:
    """Return the packages that the commands of a Makefile install, as the group `make`."""
    return StatedRequirements(groups={'make': tuple(list_requirements_in_commands(source))})


def _get_table(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = holder.get(name)
    return table if isinstance(table, dict) else {}


def _list_texts(value: object) -> Iterator[str]:
    if isinstance(value, list):
        yield from (line for line in value if isinstance(line, str))


PLACES: Mapping[str, Callable[[bytes], StatedRequirements]] = {
    'noxfile.py': parse_noxfile,
    'tox.toml': lambda source: parse_toml_tool_requirements('tox.toml', source),
    'hatch.toml': lambda source: parse_toml_tool_requirements('hatch.toml', source),
    'pixi.toml': lambda source: parse_toml_tool_requirements('pixi.toml', source),
    'pyproject.toml': lambda source: parse_toml_tool_requirements('pyproject.toml', source),
    'environment.yml': parse_conda_environment,
    'environment.yaml': parse_conda_environment,
    'Makefile': parse_makefile,
    'GNUmakefile': parse_makefile,
    'makefile': parse_makefile,
    'justfile': parse_makefile,
}
"""The files in a project's folder, each with its reader, in order of precedence."""
