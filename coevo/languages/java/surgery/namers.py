"""By which names other files know a Java test file."""

from __future__ import annotations

import re

from coevo.git.repository import Repository
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.trees import tree
from coevo.languages.namers import FileNamers
from coevo.languages.namers import NamerRules

_SETTINGS = (
    *('.xml', '.properties', '.yml', '.yaml', '.json', '.toml', '.gradle', '.kts'),
    *('.groovy', '.kt', '.scala'),
)


def namers(repository: Repository, rev: str) -> FileNamers:
    return FileNamers(repository, rev, tree(repository, rev), _RULES)


def _is_setting(path: str) -> bool:
    return path.endswith(_SETTINGS) or '/META-INF/' in f'/{path}'


def _top_level_types(_: str, text: bytes) -> frozenset[str]:
    return frozenset(type_.simple for type_ in parse(text).types if '$' not in type_.name)


_RULES = NamerRules(
    suffix='.java',
    settings=_is_setting,
    word=re.compile(r'[\w$]+'),
    parse=parse,
    declared=_top_level_types,
)
