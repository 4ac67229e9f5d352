"""By which names other files know a Python test file."""

from __future__ import annotations

import re

from coevo.git.repository import Repository
from coevo.languages.namers import FileMentionFinder, MentionRules
from coevo.languages.python.reading.places import module_name
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.reading.trees import open_tree

_SETTINGS = ('.ini', '.cfg', '.toml', '.yml', '.yaml', '.json', '.txt')


def make_mention_finder(repository: Repository, rev: str) -> FileMentionFinder:
    return FileMentionFinder(repository, rev, open_tree(repository, rev), _RULES)


def _list_declared_names(path: str, text: bytes) -> frozenset[str]:
    """A module's simple name and those of its classes; of a conftest those of its fixtures, too."""
    types = parse(text).types
    names = {module_name(path).rpartition('.')[2]}
    names |= {type_.simple for type_ in types if len(type_.around) == 1}
    if 'conftest' in names:
        names |= {m.name for type_ in types[:1] for m in type_.members if m.kind == 'method'}
    return frozenset(names)


_RULES = MentionRules(
    suffix='.py',
    settings=lambda path: path.endswith(_SETTINGS),
    word=re.compile(r'\w+'),
    parse=parse,
    declared=_list_declared_names,
)
