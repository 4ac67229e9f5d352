"""The names that pytest collects as tests, under the settings of a revision.

https://docs.pytest.org/en/stable/reference/customize.html defines which settings file applies,
https://docs.pytest.org/en/stable/example/pythoncollection.html what it can set.
"""

from __future__ import annotations

import configparser
import posixpath
import shlex
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath

from coevo.languages.declarations import SourceFile
from coevo.storage.bounded_reading import parse_toml

# The settings files in the order in which pytest looks for them (`locate_config` of pytest 9, which
# alone reads the first two), each with the sections that make it apply to pytest. Those of
# `ALWAYS_SETTINGS` apply even without a section.
SETTINGS: Mapping[str, tuple[str, ...]] = {
    'pytest.toml': ('pytest',),
    '.pytest.toml': ('pytest',),
    'pytest.ini': ('pytest',),
    '.pytest.ini': ('pytest',),
    'pyproject.toml': (),
    'tox.ini': ('pytest',),
    'setup.cfg': ('tool:pytest', 'pytest'),
}
ALWAYS_SETTINGS = ('pytest.toml', '.pytest.toml', 'pytest.ini', '.pytest.ini')


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionRules:
    """The patterns of the names that pytest collects, and related settings of a project.

    A class or function matches by a glob or by a prefix of its name; a file matches by a glob only.

    plugins  the modules that the settings load by `-p`
    folders  `testpaths`; () if it is not set
    """

    files: tuple[str, ...] = ('test_*.py', '*_test.py')
    classes: tuple[str, ...] = ('Test',)
    functions: tuple[str, ...] = ('test',)
    plugins: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def collects_class(self, name: str) -> bool:
        """Return whether pytest collects a class of this name."""
        return _begins_or_matches(name, self.classes)

    def collects_function(self, name: str) -> bool:
        """Return whether pytest collects a function of this name."""
        return _begins_or_matches(name, self.functions)

    def collects_file(self, path: str) -> bool:
        """Return whether pytest, searching a folder, collects a file with this path.

        A pattern without a slash is compared with the name of the file alone.
        """
        name = path.rpartition('/')[2]
        return any(
            fnmatchcase(path, f'*{pattern}') if '/' in pattern else fnmatchcase(name, pattern)
            for pattern in self.files
        )


DEFAULT = CollectionRules()


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFile(SourceFile):
    """A parsed Python file, with what its revision says about it.

    rules      the names that pytest collects in it
    collected  whether to look for tests in it: pytest collects it, or it is named for its tests
    extended   simple names of its classes that collected classes of the test tree extend
    """

    rules: CollectionRules = DEFAULT
    collected: bool = True
    extended: frozenset[str] = frozenset()


def _begins_or_matches(name: str, patterns: Sequence[str]) -> bool:
    return any(
        name.startswith(pattern) or (set('*?[') & set(pattern) and fnmatchcase(name, pattern))
        for pattern in patterns
    )


@lru_cache(maxsize=256)
def parse_rules(name: str, content: bytes) -> CollectionRules | None:
    """Return the rules that a settings file states, with pytest's defaults for the others.

    None if the file does not apply to pytest.
    """
    settings = parse_settings(name, content)
    if settings is None:
        return None
    return CollectionRules(
        files=tuple(settings.get('python_files', ())) or DEFAULT.files,
        classes=tuple(settings.get('python_classes', ())) or DEFAULT.classes,
        functions=tuple(settings.get('python_functions', ())) or DEFAULT.functions,
        plugins=tuple(_find_plugins(settings.get('addopts', ()))),
        folders=tuple(settings.get('testpaths', ())),
    )


@lru_cache(maxsize=256)
def parse_settings(name: str, content: bytes) -> Mapping[str, Sequence[str]] | None:
    """Return the values of each pytest setting in a file, split into words.

    None if the file does not apply to pytest, as a setup.cfg without a section for it.

    name  of the file, a key of `SETTINGS`
    """
    text = content.decode(errors='replace')
    settings = (
        _parse_toml(text, name) if name.endswith('.toml') else _parse_ini(text, SETTINGS[name])
    )
    return {} if settings is None and name in ALWAYS_SETTINGS else settings


def list_folders_upwards(folder: str) -> tuple[str, ...]:
    """Return the folder and all folders above it, the nearest first and the root '.' last."""
    return (folder, *map(str, PurePosixPath(folder).parents))


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is below a folder; all other paths are below the root '.'."""
    return path != folder and (folder == '.' or path.startswith(f'{folder}/'))


def find_pytest_settings(
    folders: Iterable[str], paths: Container[str], read: Callable[[str], bytes]
) -> str | None:
    """Return the path of the first file that applies to pytest; None if none does.

    folders  where to look, in this order; '.' is the root
    paths    of all files of a revision
    read     returns the content of one of the paths
    """
    for folder in folders:
        for name in SETTINGS:
            path = posixpath.normpath(posixpath.join(folder, name))
            if path in paths and parse_settings(name, read(path)) is not None:
                return path
    return None


def find_collection_rules(
    folders: Iterable[str], paths: Container[str], read: Callable[[str], bytes]
) -> CollectionRules | None:
    """Return the rules that the file of `find_pytest_settings` states; None if there is none."""
    path = find_pytest_settings(folders, paths, read)
    return None if path is None else parse_rules(posixpath.basename(path), read(path))


def _find_plugins(options: Sequence[str]) -> Iterator[str]:
    words = iter(options)
    for word in words:
        plugin = next(words, '') if word == '-p' else word[2:] if word.startswith('-p') else ''
        if plugin and not plugin.startswith('no:'):
            yield plugin


def _parse_toml(text: str, name: str) -> Mapping[str, list[str]] | None:
    try:
        document = parse_toml(text)
        table = document['pytest'] if SETTINGS[name] else document['tool']['pytest']
        if not SETTINGS[name]:
            table = table.get('ini_options', table)
        return {key: list(_split_words(value)) for key, value in table.items()}
    except (ValueError, AttributeError, KeyError, TypeError):
        return None  # pytest would not read it either


def _split_words(value: object) -> Iterator[str]:
    if isinstance(value, str):
        try:
            yield from shlex.split(value, comments=True)
        except ValueError:
            yield from value.split()
    elif isinstance(value, list):
        yield from (word for word in value if isinstance(word, str))


def _parse_ini(text: str, sections: Sequence[str]) -> Mapping[str, list[str]] | None:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    for section in sections:
        if parser.has_section(section):
            return {key: list(_split_words(value)) for key, value in parser.items(section)}
    return None
