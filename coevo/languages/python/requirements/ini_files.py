"""setup.cfg, tox.ini, and plain lists of requirements."""

from __future__ import annotations

import configparser
import posixpath
import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping

from coevo.languages.python.requirements.stated import FILES
from coevo.languages.python.requirements.stated import Stated

Read = Callable[[str], bytes | None]
"""The content of a file of the revision by its path; None where there is none."""

_INCLUDED = re.compile(r'\s*(?:-r|--requirement)[ =]*(\S+)')
_DEPTH = 8  # of lists that include others


def parsed(source: bytes) -> Mapping[str, Mapping[str, str]]:
    """The sections of a file; none of one that cannot be read."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(source.decode(errors='replace'))
    except configparser.Error:
        return {}
    return {
        name: {key: value or '' for key, value in parser.items(name)} for name in parser.sections()
    }


def setup_cfg(source: bytes) -> Stated:
    sections = parsed(source)
    options = sections.get('options', {})
    extras = sections.get('options.extras_require', {})
    groups = {name: tuple(lines.splitlines()) for name, lines in extras.items()}
    if options.get('tests_require'):
        groups['tests'] = (*groups.get('tests', ()), *options['tests_require'].splitlines())
    return Stated(
        name=sections.get('metadata', {}).get('name'),
        version=_literal(sections.get('metadata', {}).get('version')),
        python=options.get('python_requires'),
        runtime=tuple(options.get('install_requires', '').splitlines()),
        groups=groups,
        entry_points={
            name: tuple(line for line in lines.splitlines() if line.strip())
            for name, lines in sections.get('options.entry_points', {}).items()
        },
    )


def _literal(version: str | None) -> str | None:
    return None if version is None or ':' in version else version


def tox_ini(source: bytes) -> Stated:
    """Dependencies of [testenv], and the project's own lists that it names; lines with factors or substitutions
    are left out.
    """
    environment = parsed(source).get('testenv', {})
    named = (environment.get('extras', ''), environment.get('dependency_groups', ''))
    lists = [name for text in named for line in _plain_lines(text) for name in line.split(',')]
    own = [f'.[{name.strip()}]' for name in lists if name.strip()]
    said = environment.get('deps', '').replace('{toxinidir}/', '')
    return Stated(groups={'tests': (*map(_named_list, _plain_lines(said)), *own)})


def _named_list(line: str) -> str:
    found = _INCLUDED.fullmatch(line)
    return line if found is None else f'{FILES}{found[1]}'


def _plain_lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if '{' not in line and not re.match(r'[\w.,!-]+:\s', line)]


def requirement_list(path: str, read: Read) -> Iterator[str]:
    """The lines of a list and of those that it includes."""
    yield from _list(path, read, _DEPTH)


def _list(path: str, read: Read, depth: int) -> Iterator[str]:
    source = read(path)
    for line in (source or b'').decode(errors='replace').replace('\\\n', ' ').splitlines():
        included = _INCLUDED.match(line)
        if included is None:
            yield line
        elif depth:
            beside = posixpath.join(posixpath.dirname(path), included[1])
            yield from _list(posixpath.normpath(beside), read, depth - 1)
