"""Find the test files that may use a name, by the names that files mention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from coevo.languages.reading import RevisionTree, Side


class MentionIndex:
    """The test files of a revision by the names that they mention; built when it is first asked."""

    def __init__(self, tree: RevisionTree) -> None:
        self._tree = tree

    def find_affected_test_files(self, changed: set[str], names: frozenset[str]) -> set[str]:
        """Return the test files that may use a changed file or a name, directly or indirectly.

        The changed files are among them.
        """
        test_files = set(changed)
        wanted = names.union(*map(self._list_type_names, changed))
        seen: set[str] = set()
        while wanted:
            seen |= wanted
            new = {
                path for name in wanted for path in self._files_by_mention.get(name, ())
            } - test_files
            test_files |= new
            wanted = frozenset().union(*map(self._list_type_names, new)) - seen
        return test_files

    def _list_type_names(self, path: str) -> frozenset[str]:
        """Return the simple names of the types of a test file; nothing for another file."""
        if path not in self._mentions_by_file:
            return frozenset()
        return frozenset(type_.simple for type_ in self._tree.parse_file(path).types)

    @cached_property
    def _files_by_mention(self) -> Mapping[str, Sequence[str]]:
        """The test files by what they mention, see `_mentions_by_file`."""
        files: dict[str, list[str]] = defaultdict(list)
        for path, mentions in self._mentions_by_file.items():
            for name in mentions:
                files[name].append(path)
        return files

    @cached_property
    def _mentions_by_file(self) -> dict[str, frozenset[str]]:
        """For each test file, its identifiers, the parts of its static imports, and its supertypes.

        A supertype may be one that its text does not name, such as a file with shared fixtures.
        """
        mentions = {}
        for path in self._tree.list_paths(Side.TEST):
            file = self._tree.parse_file(path)
            statics = {part for i in file.imports if i.static for part in i.text.split('.')}
            above = {name for type_ in file.types for name in type_.interfaces}
            beside = {
                located.type.simple for located in self._tree.find_types_sharing_fixtures(path)
            }
            mentions[path] = file.names | statics | above | beside
        return mentions
