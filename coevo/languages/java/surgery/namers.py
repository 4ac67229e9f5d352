"""Which files of a tree name a test file's types: suites, other tests, helpers, settings."""

from __future__ import annotations

import re
from functools import cache

from coevo.git.contents import content
from coevo.git.repository import Repository
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.trees import tree

_WORD = re.compile(r'[\w$]+')
# What may tell a test framework, or another compiler of tests, of a class.
_SETTINGS = (
    *('.xml', '.properties', '.yml', '.yaml', '.json', '.toml', '.gradle', '.kts'),
    *('.groovy', '.kt', '.scala'),
)


class JavaNamers:
    """The files of one revision; main sources cannot see tests, so they do not count."""

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository, self._rev = repository, rev
        self.of = cache(self._of)
        self._types = cache(self._top_level_types)
        self._pattern = cache(self._compiled)

    def text(self, path: str) -> bytes:
        found = content(self._repository, self._rev, path)
        assert found is not None, 'a file of the revision'
        return found

    def _of(self, path: str) -> tuple[str, ...]:
        """The other files that name a type of a Java file."""
        files = tree(self._repository, self._rev)
        return tuple(
            other
            for other in files.entries
            if other != path
            and (other.endswith(('.java', *_SETTINGS)) or '/META-INF/' in f'/{other}')
            and not files.is_source(other)
            and self.names(other, self.text(other), path)
        )

    def names(self, other: str, text: bytes | None, path: str) -> bool:
        """Whether a text of a file names a type of another one; comments of Java do not."""
        if text is None or not self._pattern(path).search(text):
            return False
        if not other.endswith('.java'):
            return True
        file = parse(text)
        texts = [item.text for item in file.imports]
        for type_ in file.types:
            texts += type_.strings
            for member in type_.members:
                texts += member.strings
        words = {word for one in texts for word in _WORD.findall(one)}
        return not self._types(path).isdisjoint(file.names | words)

    def _compiled(self, path: str) -> re.Pattern[bytes]:
        names = '|'.join(map(re.escape, sorted(self._types(path))))
        return re.compile(rf'\b(?:{names})\b'.encode())

    def _top_level_types(self, path: str) -> frozenset[str]:
        return frozenset(
            type_.simple for type_ in parse(self.text(path)).types if '$' not in type_.name
        )
