"""Which files of a revision name what a test file declares: suites, other tests, helpers, settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from coevo.git.repository import Repository, load_content
from coevo.languages.declarations import SourceFile
from coevo.languages.reading import RevisionTree


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionRules:
    """What a language says of that.

    suffix    of its own files
    settings  whether another file may tell a test framework, or a compiler of tests, of a type
    word      what a name is in imports and strings
    declared  the names by which others know a file: of its path and text
    """

    suffix: str
    settings: Callable[[str], bool]
    word: re.Pattern[str]
    parse: Callable[[bytes], SourceFile]
    declared: Callable[[str, bytes], frozenset[str]]


class FileMentionFinder:
    """Fulfils `coevo.languages.surgery.MentionFinder` for one revision."""

    def __init__(
        self, repository: Repository, rev: str, tree: RevisionTree, rules: MentionRules
    ) -> None:
        self._repository, self._rev = repository, rev
        self._tree, self._rules = tree, rules
        self.find_mentioning_files = cache(self._find_mentioning_files)
        self._names = cache(lambda path: rules.declared(path, self.read_text(path)))
        self._pattern = cache(self._compile_pattern)

    def read_text(self, path: str) -> bytes:
        text = load_content(self._repository, self._rev, path)
        assert text is not None, 'a file of the revision'
        return text

    def mentions(self, other: str, text: bytes | None, path: str) -> bool:
        """Whether a text of a file names what another one declares; comments of code do not."""
        if text is None or not self._pattern(path).search(text):
            return False
        if not other.endswith(self._rules.suffix):
            return True
        file = self._rules.parse(text)
        texts = [item.text for item in file.imports]
        for type_ in file.types:
            texts += [*type_.strings, *(string for m in type_.members for string in m.strings)]
        words = {word for string in texts for word in self._rules.word.findall(string)}
        return not self._names(path).isdisjoint(file.names | words)

    def _find_mentioning_files(self, path: str) -> tuple[str, ...]:
        """Main sources cannot see tests, so they do not count."""
        return tuple(
            other
            for other in self._tree.entries
            if other != path
            and (other.endswith(self._rules.suffix) or self._rules.settings(other))
            and not self._tree.is_source(other)
            and self.mentions(other, self.read_text(other), path)
        )

    def _compile_pattern(self, path: str) -> re.Pattern[bytes]:
        names = '|'.join(map(re.escape, sorted(self._names(path))))
        return re.compile(rf'\b(?:{names})\b'.encode())
