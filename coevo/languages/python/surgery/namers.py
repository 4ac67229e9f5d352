"""Which files of a tree name a test file: other tests, helpers, settings."""

from __future__ import annotations

import re
from functools import cache

from coevo.git.contents import content
from coevo.git.repository import Repository
from coevo.languages.python.reading.places import module_name
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.reading.trees import tree

_WORD = re.compile(r'\w+')
_SETTINGS = ('.ini', '.cfg', '.toml', '.yml', '.yaml', '.json', '.txt')


class PythonNamers:
    """The files of one revision; main sources cannot see tests, so they do not count."""

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository, self._rev = repository, rev
        self.of = cache(self._of)
        self._names = cache(self._declared)
        self._pattern = cache(self._compiled)

    def text(self, path: str) -> bytes:
        found = content(self._repository, self._rev, path)
        assert found is not None, 'a file of the revision'
        return found

    def _of(self, path: str) -> tuple[str, ...]:
        """The other files that name a module, or a class of it."""
        files = tree(self._repository, self._rev)
        return tuple(
            other
            for other in files.entries
            if other != path
            and other.endswith(('.py', *_SETTINGS))
            and not files.is_source(other)
            and self.names(other, self.text(other), path)
        )

    def names(self, other: str, text: bytes | None, path: str) -> bool:
        """Whether a text of a file names a module or a class of another one; comments do not."""
        if text is None or not self._pattern(path).search(text):
            return False
        if not other.endswith('.py'):
            return True
        file = parse(text)
        texts = [item.text for item in file.imports]
        for type_ in file.types:
            texts += [*type_.strings, *(one for m in type_.members for one in m.strings)]
        words = {word for one in texts for word in _WORD.findall(one)}
        return not self._names(path).isdisjoint(file.names | words)

    def _compiled(self, path: str) -> re.Pattern[bytes]:
        names = '|'.join(map(re.escape, sorted(self._names(path))))
        return re.compile(rf'\b(?:{names})\b'.encode())

    def _declared(self, path: str) -> frozenset[str]:
        """A module's simple name and those of its classes; of a conftest those of its fixtures, too."""
        types = parse(self.text(path)).types
        names = {module_name(path).rpartition('.')[2]}
        names |= {type_.simple for type_ in types if len(type_.around) == 1}
        if 'conftest' in names:
            names |= {m.name for type_ in types[:1] for m in type_.members if m.kind == 'method'}
        return frozenset(names)
