"""Finds the files of a revision that use declarations of a test file, by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Set as AbstractSet
from dataclasses import dataclass
from functools import cache

from coevo.git.repository import Repository, load_content
from coevo.languages.declarations import DeclaredType, SourceFile
from coevo.languages.reading import RevisionTree

Parse = Callable[[bytes], SourceFile]


def load_other_test_files(
    repository: Repository, files: RevisionTree, path: str, suffix: str
) -> dict[str, bytes]:
    """Return the contents by path of files that end in `suffix`, without `path` and the code.

    Code is left out, since it cannot see the tests.

    files  the tree of the revision
    """
    return {
        other: repository.blob(entry.oid)
        for other, entry in files.entries.items()
        if other.endswith(suffix) and other != path and not files.belongs_to_code(other)
    }


def list_parent_names(type_: DeclaredType) -> set[str]:
    """Return the simple names of the superclass and the interfaces of a type."""
    return {*type_.interfaces, *filter(None, (type_.superclass,))}


def find_derived_types(
    files: Mapping[str, bytes], names: Iterable[str], parse: Parse
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the files that declare types derived from some types, directly or not, sorted by path.

    With each file come the binary names of the derived types in it.

    files  contents by path
    names  simple names of the base types, by which they are recognized
    """
    below: dict[str, set[str]] = {}
    wanted, known = {name for name in names if name}, set[str]()
    while wanted:
        known |= wanted
        types = [
            (path, type_)
            for path, file in parse_files_mentioning(files, wanted, parse).items()
            for type_ in file.types
            if not wanted.isdisjoint(list_parent_names(type_))
        ]
        for path, type_ in types:
            below.setdefault(path, set()).add(type_.name)
        wanted = {type_.simple for _, type_ in types} - known
    for path in sorted(below):
        yield path, frozenset(below[path])


def find_base_type_files(
    files: Mapping[str, bytes], own: Iterable[DeclaredType], parse: Parse
) -> set[str]:
    """Return the paths of the files that declare base types of some types, directly or not.

    Methods of these base types may call methods that the types override. Base types are recognized
    by their simple names.

    own  the types whose base types are looked for
    """
    paths: set[str] = set()
    names = {name for type_ in own for name in list_parent_names(type_)}
    while users := parse_files_mentioning(files, names, parse, paths):
        declared = [(p, t) for p, file in users.items() for t in file.types if t.simple in names]
        paths |= {path for path, _ in declared}
        names = {name for _, type_ in declared for name in list_parent_names(type_)}
    return paths


def parse_files_mentioning(
    files: Mapping[str, bytes],
    names: AbstractSet[str],
    parse: Parse,
    known: Container[str] = (),
) -> dict[str, SourceFile]:
    """Parse the files that contain one of some names as a word, and return them by path.

    Files whose paths are in `known` are left out.
    """
    if not names:
        return {}
    pattern = make_name_pattern(names)
    return {
        path: parse(content)
        for path, content in files.items()
        if path not in known and pattern.search(content)
    }


def make_name_pattern(names: Iterable[str]) -> re.Pattern[bytes]:
    """Return a pattern that matches each of some names where it stands as a whole word."""
    return re.compile(rf'\b(?:{"|".join(map(re.escape, sorted(names)))})\b'.encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionRules:
    """The rules of a language for finding out which files mention a file.

    suffix    the suffix of the language's files
    settings  returns whether a file of another kind may name types to a test framework or a
              compiler of tests, by its path
    word      the pattern of a name in imports and strings
    parse     returns the declarations of a file
    declared  returns the names by which others know a file, given its path and text
    """

    suffix: str
    settings: Callable[[str], bool]
    word: re.Pattern[str]
    parse: Callable[[bytes], SourceFile]
    declared: Callable[[str, bytes], frozenset[str]]


class FileMentionFinder:
    """A finder of the files of one revision that mention another one, by the rules of a language.

    It is a `coevo.languages.surgery.MentionFinder`, and caches its answers.
    """

    def __init__(
        self, repository: Repository, rev: str, tree: RevisionTree, rules: MentionRules
    ) -> None:
        self._repository, self._rev = repository, rev
        self._tree, self._rules = tree, rules
        self.find_mentioning_files = cache(self._find_mentioning_files)
        self._names = cache(lambda path: rules.declared(path, self.read_text(path)))
        self._pattern = cache(self._compile_pattern)

    def read_text(self, path: str) -> bytes:
        """Return the content of a file of the revision."""
        text = load_content(self._repository, self._rev, path)
        assert text is not None, 'a file of the revision'
        return text

    def mentions(self, other: str, text: bytes | None, path: str) -> bool:
        """Return whether the text of a file names declarations of the file `path`.

        In a file of the language, identifiers, imports and strings count and comments do not; in
        any other file, every occurrence as a word counts. None mentions nothing.

        other  the path of the file with the text
        """
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
        """Return the paths of the other files that mention a file.

        Only files of the language and settings are searched. Code does not count: it cannot see
        tests.
        """
        return tuple(
            other
            for other in self._tree.entries
            if other != path
            and (other.endswith(self._rules.suffix) or self._rules.settings(other))
            and not self._tree.belongs_to_code(other)
            and self.mentions(other, self.read_text(other), path)
        )

    def _compile_pattern(self, path: str) -> re.Pattern[bytes]:
        names = '|'.join(map(re.escape, sorted(self._names(path))))
        return re.compile(rf'\b(?:{names})\b'.encode())
