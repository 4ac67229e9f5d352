"""What pytest takes for a test by name, as a revision's own settings have it.

https://docs.pytest.org/en/stable/reference/customize.html says which file counts,
https://docs.pytest.org/en/stable/example/pythoncollection.html what it may say.
"""

from __future__ import annotations

import configparser
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from coevo.languages.declarations import SourceFile

# In pytest's order, with the section that makes it pytest's; pytest.ini counts without one.
SETTINGS: Mapping[str, tuple[str, ...]] = {
    'pytest.ini': ('pytest',),
    '.pytest.ini': ('pytest',),
    'pyproject.toml': (),
    'tox.ini': ('pytest',),
    'setup.cfg': ('tool:pytest', 'pytest'),
}
_ALWAYS = ('pytest.ini', '.pytest.ini')


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionRules:
    """Patterns; of a class or function also the beginning of its name counts."""

    files: tuple[str, ...] = ('test_*.py', '*_test.py')
    classes: tuple[str, ...] = ('Test',)
    functions: tuple[str, ...] = ('test',)

    def is_class(self, name: str) -> bool:
        return _begins_or_matches(name, self.classes)

    def is_function(self, name: str) -> bool:
        return _begins_or_matches(name, self.functions)

    def is_file(self, path: str) -> bool:
        """Whether pytest collects a file that it was not given by name."""
        name = path.rpartition('/')[2]
        return any(
            fnmatchcase(path, f'*{pattern}') if '/' in pattern else fnmatchcase(name, pattern)
            for pattern in self.files
        )


DEFAULT = CollectionRules()


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFile(SourceFile):
    """A file in its tree.

    collected  whether tests are looked for in it: pytest finds it, or it is named for its tests
    extended   simple names of its classes from which others of the test tree derive
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
    """What a file of settings says; None if it is none of pytest's."""
    text = content.decode(errors='replace')
    settings = _parse_toml(text) if name.endswith('.toml') else _parse_ini(text, SETTINGS[name])
    if settings is None:
        return DEFAULT if name in _ALWAYS else None
    return CollectionRules(
        files=tuple(settings.get('python_files', ())) or DEFAULT.files,
        classes=tuple(settings.get('python_classes', ())) or DEFAULT.classes,
        functions=tuple(settings.get('python_functions', ())) or DEFAULT.functions,
    )


def _parse_toml(text: str) -> Mapping[str, list[str]] | None:
    try:
        pytest = tomllib.loads(text).get('tool', {}).get('pytest')
        table = pytest.get('ini_options', pytest)
        return {key: list(_split_words(value)) for key, value in table.items()}
    except (tomllib.TOMLDecodeError, AttributeError):
        return None  # pytest would not read it either


def _split_words(value: object) -> Iterator[str]:
    if isinstance(value, str):
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
