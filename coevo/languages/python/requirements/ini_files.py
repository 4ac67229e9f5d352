"""Read setup.cfg, tox.ini, plain lists of requirements, and commands that install packages."""

from __future__ import annotations

import configparser
import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping

from coevo.languages.python.requirements.stated import FILES, StatedRequirements

Read = Callable[[str], bytes | None]
"""Returns the content of a file of the revision by its path; None if there is none."""

_INCLUDED = re.compile(r'\s*(?:-r|--requirement)[ =]*(\S+)')
_DEPTH = 8  # limit for lists that include others


def parse_sections(source: bytes) -> Mapping[str, Mapping[str, str]]:
    """Return the options of each section of an INI file, by name; {} if it cannot be read.

    An option without a value has ''.
    """
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(source.decode(errors='replace'))
    except configparser.Error:
        return {}
    return {
        name: {key: value or '' for key, value in parser.items(name)} for name in parser.sections()
    }


def parse_setup_cfg(source: bytes) -> StatedRequirements:
    """Return the project's name, version, requirements and entry points that setup.cfg states."""
    sections = parse_sections(source)
    options = sections.get('options', {})
    extras = sections.get('options.extras_require', {})
    groups = {name: tuple(lines.splitlines()) for name, lines in extras.items()}
    if options.get('tests_require'):
        groups['tests'] = (*groups.get('tests', ()), *options['tests_require'].splitlines())
    return StatedRequirements(
        name=sections.get('metadata', {}).get('name'),
        version=_drop_dynamic_version(sections.get('metadata', {}).get('version')),
        python=options.get('python_requires'),
        runtime=tuple(options.get('install_requires', '').splitlines()),
        groups=groups,
        entry_points={
            name: tuple(line for line in lines.splitlines() if line.strip())
            for name, lines in sections.get('options.entry_points', {}).items()
        },
    )


def _drop_dynamic_version(version: str | None) -> str | None:
    return None if version is None or ':' in version else version


def parse_tox_ini(source: bytes) -> StatedRequirements:
    """Return the dependencies of [testenv], and the extras and groups of the project that it names.

    Lines with factors or substitutions are left out.
    """
    environment = parse_sections(source).get('testenv', {})
    named = (environment.get('extras', ''), environment.get('dependency_groups', ''))
    lists = [name for text in named for line in _list_plain_lines(text) for name in line.split(',')]
    own = [f'.[{name.strip()}]' for name in lists if name.strip()]
    dependencies = environment.get('deps', '').replace('{toxinidir}/', '')
    return StatedRequirements(
        groups={'tests': (*map(_mark_list_file, _list_plain_lines(dependencies)), *own)}
    )


def _mark_list_file(line: str) -> str:
    match = _INCLUDED.fullmatch(line)
    return line if match is None else f'{FILES}{match[1]}'


def _list_plain_lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if '{' not in line and not re.match(r'[\w.,!-]+:\s', line)]


def load_requirement_list(path: str, read: Read) -> Iterator[str]:
    """Yield the lines of a requirement list, with the lines of each list that it includes in place.

    A missing file has no lines.
    """
    yield from _load_list(path, read, _DEPTH)


def _load_list(path: str, read: Read, depth: int) -> Iterator[str]:
    source = read(path)
    for line in (source or b'').decode(errors='replace').replace('\\\n', ' ').splitlines():
        included = _INCLUDED.match(line)
        if included is None:
            yield line
        elif depth:
            beside = posixpath.join(posixpath.dirname(path), included[1])
            yield from _load_list(posixpath.normpath(beside), read, depth - 1)


_FILLED_IN = re.compile(r'\$\{\{.*?\}\}')
_INSTALL = re.compile(r'\bpip3?(?:\.exe)?[ ]+install[ ]+([^\n&|;#]+)')
_UV_RUN = re.compile(r'\b(?:uvx|uv[ ]+run|uv[ ]+tool[ ]+run)[ ]+([^\n&|;#]+)')

# Options followed by a value that is not an installed package.
_WITH_A_WORD = frozenset(
    {'-c', '--constraint', '-f', '--find-links', '-i', '--index-url', '--extra-index-url', '-t'}
)
_INSTALLERS = frozenset({'pip', 'setuptools', 'wheel'})
_LISTS = ('-r', '--requirement')
_WITH = ('--with', '--with-requirements')


def list_requirements_in_commands(source: bytes) -> Iterator[str]:
    """Yield the requirements that `pip install` and `uv run --with` in a text name.

    Those with variables are left out. A list is yielded as the mark `FILES` and its path.
    """
    text = _FILLED_IN.sub('$', source.decode(errors='replace').replace('\\\n', ' '))
    for arguments in _INSTALL.findall(text):
        yield from list_pip_install_requirements(_split_words(arguments))
    for arguments in _UV_RUN.findall(text):
        yield from _list_uv_run_requirements(_split_words(arguments))


def list_pip_install_requirements(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the requirements among the words that follow `pip install`.

    A list (`-r PATH`) is yielded as the mark `FILES` and its path. Options, words with variables,
    and pip itself are left out.
    """
    words = iter(arguments)
    for word in words:
        if '$' in word or '{' in word:
            continue
        if word in _WITH_A_WORD:
            next(words, None)
        elif word in _LISTS:
            yield FILES + next(words, '')
        elif word.startswith('-r'):
            yield FILES + word.removeprefix('-r')
        elif not word.startswith('-') and word not in _INSTALLERS:
            yield word


def _list_uv_run_requirements(arguments: Iterable[str]) -> Iterator[str]:
    """Yield what `--with` and `--with-requirements` of `uv run` add to the environment."""
    words = iter(arguments)
    for word in words:
        option, _, value = word.partition('=')
        if option in _WITH:
            named = value or next(words, '')
            if '$' not in named:
                names = named.split(',') if option == '--with' else [FILES + named]
                yield from names


def _split_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # the command has an unbalanced quote that belongs to the YAML file
        return text.replace('"', ' ').replace("'", ' ').split()
