"""By which names other files know a Java test file."""

from __future__ import annotations

import re

from coevo.git.repository import Repository
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.trees import open_tree
from coevo.languages.namers import FileMentionFinder, MentionRules

_SETTINGS = (
    *('.xml', '.properties', '.yml', '.yaml', '.json', '.toml', '.gradle', '.kts'),
    *('.groovy', '.kt', '.scala'),
)


def make_mention_finder(repository: Repository, rev: str) -> FileMentionFinder:
    return FileMentionFinder(repository, rev, open_tree(repository, rev), _RULES)


def _is_settings_file(path: str) -> bool:
    return path.endswith(_SETTINGS) or '/META-INF/' in f'/{path}'


def _find_top_level_types(_: str, text: bytes) -> frozenset[str]:
    return frozenset(type_.simple for type_ in parse(text).types if '$' not in type_.name)


_RULES = MentionRules(
    suffix='.java',
    settings=_is_settings_file,
    word=re.compile(r'[\w$]+'),
    parse=parse,
    declared=_find_top_level_types,
)
