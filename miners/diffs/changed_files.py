"""Sort the files that differ between the ends of a pair: tests, sources, resources and links."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from coevo.git.objects import LINK
from coevo.git.repository import FileChange
from coevo.languages.reading import ProductionKind, RevisionTree, Side
from coevo.model.reasons import DiffReason
from miners.diffs.contexts import TestTree
from miners.diffs.resources import is_resource
from miners.diffs.sources import SourceChange, find_source_changes

# Test files that a build sees through symbolic links.
#
# The diff reads a tree as Git stores it, where a link is a file with the path of its target. A test
# whose file is a link at one end alone did not come or go, and a change of a target is a change of
# the tests that the link shows.


def list_test_links(tree: RevisionTree) -> Mapping[str, str]:
    """Return the symbolic links of a revision among its tests, with their targets.

    Targets are paths of the tree; links out of the tree are left out.
    """
    links: dict[str, str] = {}
    for path, entry in tree.entries.items():
        if entry.mode == LINK and tree.belongs_to_tests(path):
            text = tree.read_content(path).decode('utf-8', 'surrogateescape')
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
            if not posixpath.isabs(target) and not target.startswith('..'):
                links[path] = target
    return links


def is_at_or_below(path: str, places: Mapping[str, str] | tuple[str, ...]) -> bool:
    """Return whether a path is one of some files, or lies below one of some folders."""
    return any(
        path == file_or_folder or path.startswith(f'{file_or_folder}/') for file_or_folder in places
    )


@dataclass(frozen=True, kw_only=True)
class ChangedFiles:
    """The files that differ between two revisions, and what follows from them alone.

    Each part is computed on demand, and no other file is parsed for it.
    """

    old: TestTree
    new: TestTree
    files: tuple[FileChange, ...]

    def _list_paths(self, side: Side) -> tuple[list[str], list[str]]:
        """Return the files of one side (tests or sources) that differ, at old and at new.

        A file that embeds others differs where one of these does.
        """
        old = dict.fromkeys(
            [*(f.path for f in self.files if f.old_oid), *self._paths_embedding_differing_files]
        )
        new = dict.fromkeys(
            [*(f.path for f in self.files if f.new_oid), *self._paths_embedding_differing_files]
        )
        return (
            [path for path in old if self.old.tree.find_side(path) is side],
            [path for path in new if self.new.tree.find_side(path) is side],
        )

    @cached_property
    def _paths_embedding_differing_files(self) -> list[str]:
        """The files of either end that embed a file that differs."""
        trees = (self.old.tree, self.new.tree)
        return sorted({p for t in trees for f in self.files for p in t.find_embedders(f.path)})

    @cached_property
    def test_paths(self) -> tuple[list[str], list[str]]:
        """The test files that differ, at old and at new."""
        return self._list_paths(Side.TEST)

    @cached_property
    def source_paths(self) -> tuple[list[str], list[str]]:
        """The source files that differ, at old and at new."""
        return self._list_paths(Side.SOURCE)

    @cached_property
    def resources(self) -> list[str]:
        """The paths of the resources of the tests that differ."""
        return [
            file.path
            for file in self.files
            if is_resource(self.new.reading, file.path, Side.TEST) or self._is_test_data(file.path)
        ]

    def _is_test_data(self, path: str) -> bool:
        """Return whether a path is, at an end, a file of the tests that is no code."""
        return any(
            tree.find_side(path) is None and path in tree.entries and tree.belongs_to_tests(path)
            for tree in (self.old.tree, self.new.tree)
        )

    @cached_property
    def source_changed(self) -> bool:
        """True if the sources differ in more than comments and formatting.

        Also if any other file that the project ships differs.
        """
        return bool(self.kinds)

    @cached_property
    def kinds(self) -> tuple[ProductionKind, ...]:
        """The kinds of files that the project ships and that differ, in their order."""
        differing_kinds = {ProductionKind.CODE} if self._files_differ(*self.source_paths) else set()
        for file in self.files:
            for end, oid in ((self.old, file.old_oid), (self.new, file.new_oid)):
                kind = end.tree.find_production_kind(file.path) if oid else None
                differing_kinds |= {kind} if kind not in (None, ProductionKind.CODE) else set()
        return tuple(kind for kind in ProductionKind if kind in differing_kinds)

    @cached_property
    def tests_changed(self) -> bool:
        """True if the tests differ in more than comments and formatting.

        Also if a test resource differs.
        """
        shown = self._files_differ(*self.paths_linked_as_tests)
        return bool(self.resources) or shown or self._files_differ(*self.test_paths)

    def _files_differ(self, old: list[str], new: list[str]) -> bool:
        return _count_hashes(self.old.tree, old) != _count_hashes(self.new.tree, new)

    @cached_property
    def _is_unreadable(self) -> bool:
        """True if a source that differs cannot be read at either end.

        Also if only test files differ and none of them can be read. One unreadable test file among
        others does not count: nothing is mined from it, and it does not affect other tests.
        """
        return any(self._list_unreadable_flags(self.source_paths)) or (
            any(self._list_unreadable_flags(self.test_paths))
            and not any(self.source_paths)
            and all(self._list_unreadable_flags(self.test_paths))
        )

    def _list_unreadable_flags(self, paths: tuple[list[str], list[str]]) -> Iterator[bool]:
        for side, own in zip((self.old, self.new), paths, strict=True):
            yield from (side.tree.parse_file(path).unreadable for path in own)

    @property
    def reason(self) -> DiffReason | None:
        """The reason why the whole pair is of no use, or None."""
        if self._is_unreadable:
            return DiffReason.UNREADABLE_SOURCE
        if self.source_changed or self.tests_changed:
            return None
        if any((*self.test_paths, *self.source_paths)):
            return DiffReason.COMMENTS_OR_FORMATTING_ONLY
        return DiffReason.NO_SOURCE_OR_TEST_CHANGE

    @cached_property
    def sources(self) -> tuple[SourceChange, ...]:
        """The changed declarations of the sources."""
        if not self.source_changed:
            return ()
        return find_source_changes(self.old.tree, self.new.tree, *self.source_paths)

    @cached_property
    def links(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The symbolic links among the tests with their targets, at old and at new."""
        return list_test_links(self.old.tree), list_test_links(self.new.tree)

    @cached_property
    def paths_linked_as_tests(self) -> tuple[list[str], list[str]]:
        """The files that differ, at old and at new, and that only a link makes tests."""
        old, new = (
            [
                path
                for path in paths
                if is_at_or_below(path, tuple(links.values()))
                and path.endswith(side.reading.SUFFIXES)
                and side.tree.find_side(path) is None
            ]
            for side, links, paths in zip(
                (self.old, self.new),
                self.links,
                (
                    [f.path for f in self.files if f.old_oid],
                    [f.path for f in self.files if f.new_oid],
                ),
                strict=True,
            )
        )
        return old, new


def _count_hashes(tree_: RevisionTree, paths: list[str]) -> Counter[str]:
    return Counter(tree_.parse_file(path).hash for path in paths)
