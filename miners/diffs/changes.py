"""Compare the two ends of a pair method by method, and list the candidates for the filters.

Methods are compared by their tokens, so comments and formatting never matter. Only files that
differ, or that may use code that differs, are parsed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from coevo.git.repository import FileChange, Repository
from coevo.languages.layout import ProductionKind, Side
from coevo.languages.reading import RevisionTree
from coevo.languages.table import get_reading
from coevo.model.reasons import DiffReason
from coevo.model.records import Candidate, FileOrigin, Pair, compute_candidate_id
from coevo.model.words import MethodChange
from miners.diffs.contexts import Test, TestTree, load_test_tree
from miners.diffs.coupling import Reference, find_focal_method, make_dependencies, rank_references
from miners.diffs.dependencies import RevisionDependencies
from miners.diffs.links import is_at_or_below, list_links
from miners.diffs.matching import match_tests, pair_with_keys
from miners.diffs.resources import is_resource
from miners.diffs.sources import SourceChange, find_source_changes

__all__ = ['PairChange', 'diff_pair', 'compute_candidate_id']


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChange:
    """The changes of a pair; `reason` is set if the whole pair is of no use.

    source_changed and tests_changed ignore comments, formatting and the order of imports. A changed
    test resource counts as a change of the tests, and any other file that the project ships as one
    of the sources.

    kinds       the kinds of files that the project ships and that differ

    sources     the changed declarations of the sources
    references  how the text of each candidate refers to these, by method id
    files       all files that differ
    compared    the number of test methods, of both ends, that were compared; a method that is at
                both ends counts once
    alike       the number of them that are no candidates, since nothing about them differs
    apart       the number of test methods in files that neither differ nor use anything that does
    """

    pair: Pair
    build_changed: bool
    source_changed: bool
    tests_changed: bool
    candidates: tuple[Candidate, ...]
    reason: DiffReason | None
    sources: tuple[SourceChange, ...] = ()
    references: Mapping[str, tuple[Reference, ...]] = field(default_factory=dict)
    files: tuple[FileChange, ...] = ()
    compared: int | None = None
    alike: int | None = None
    apart: int | None = None
    kinds: tuple[ProductionKind, ...] = ()


def diff_pair(repository: Repository, pair: Pair) -> PairChange:
    """Compare the two ends of a pair; return its changes and the tests that may get a label."""
    files = repository.list_changes(pair.old.rev, pair.new.rev)
    difference = _PairDifference(
        old=load_test_tree(repository, pair.old.rev, pair.language),
        new=load_test_tree(repository, pair.new.rev, pair.language),
        files=files,
    )
    compared = difference.compare_tests()
    candidates = sorted(compared.referring, key=lambda item: _get_sort_key(item[0]))
    reason = difference.reason or compared.reason
    counted = reason is None
    return PairChange(
        pair=pair,
        build_changed=any(get_reading(pair.language).is_build_file(f.path) for f in files),
        source_changed=difference.source_changed,
        tests_changed=difference.tests_changed,
        candidates=tuple(candidate for candidate, _ in candidates),
        reason=reason,
        sources=difference.sources if candidates else (),
        references={
            compute_candidate_id(pair, candidate): references
            for candidate, references in candidates
        },
        files=files,
        compared=compared.total if counted else None,
        alike=compared.alike if counted else None,
        apart=compared.apart if counted else None,
        kinds=difference.kinds,
    )


def _get_sort_key(candidate: Candidate) -> tuple[object, ...]:
    method = candidate.method
    return (
        method.test_file,
        method.test_class,
        method.test_method,
        method.parameters,
        candidate.change,
    )


# A candidate, and how its text refers to the changes of the sources.
_Referring = tuple[Candidate, tuple[Reference, ...]]


@dataclass(slots=True, kw_only=True)
class _ComparedTests:
    """The candidates of a pair with their references, and the number of tests that are none."""

    referring: list[_Referring] = field(default_factory=list)
    total: int = 0
    alike: int = 0
    apart: int = 0

    @property
    def reason(self) -> DiffReason | None:
        """The reason why the pair is of no use: neither end has a test method."""
        return None if self.total or self.apart else DiffReason.NO_TEST_FOUND


@dataclass(frozen=True, kw_only=True)
class _PairDifference:
    """The comparison of the test trees and sources of two revisions.

    Each part is computed on demand.
    """

    old: TestTree
    new: TestTree
    files: tuple[FileChange, ...]

    def _list_paths(self, side: Side) -> tuple[list[str], list[str]]:
        """Return the files of one side (tests or sources) that differ, at old and at new.

        A file that embeds others differs where one of these does.
        """
        old = dict.fromkeys([*(f.path for f in self.files if f.old_oid), *self._embedders])
        new = dict.fromkeys([*(f.path for f in self.files if f.new_oid), *self._embedders])
        return (
            [path for path in old if self.old.tree.find_side(path) is side],
            [path for path in new if self.new.tree.find_side(path) is side],
        )

    @cached_property
    def _embedders(self) -> list[str]:
        """The files of either end that embed a file that differs."""
        trees = (self.old.tree, self.new.tree)
        return sorted({p for t in trees for f in self.files for p in t.find_embedders(f.path)})

    @cached_property
    def _test_paths(self) -> tuple[list[str], list[str]]:
        return self._list_paths(Side.TEST)

    @cached_property
    def _source_paths(self) -> tuple[list[str], list[str]]:
        return self._list_paths(Side.SOURCE)

    @cached_property
    def _resources(self) -> list[str]:
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
        found = {ProductionKind.CODE} if self._files_differ(*self._source_paths) else set()
        for file in self.files:
            for end, oid in ((self.old, file.old_oid), (self.new, file.new_oid)):
                kind = end.tree.find_production_kind(file.path) if oid else None
                found |= {kind} if kind not in (None, ProductionKind.CODE) else set()
        return tuple(kind for kind in ProductionKind if kind in found)

    @cached_property
    def tests_changed(self) -> bool:
        """True if the tests differ in more than comments and formatting.

        Also if a test resource differs.
        """
        shown = self._files_differ(*self._shown_paths)
        return bool(self._resources) or shown or self._files_differ(*self._test_paths)

    def _files_differ(self, old: list[str], new: list[str]) -> bool:
        return _count_hashes(self.old.tree, old) != _count_hashes(self.new.tree, new)

    @cached_property
    def _is_unreadable(self) -> bool:
        """True if a source that differs cannot be read at either end.

        Also if only test files differ and none of them can be read. One unreadable test file among
        others does not count: nothing is mined from it, and it does not affect other tests.
        """
        return any(self._list_unreadable_flags(self._source_paths)) or (
            any(self._list_unreadable_flags(self._test_paths))
            and not any(self._source_paths)
            and all(self._list_unreadable_flags(self._test_paths))
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
        if any((*self._test_paths, *self._source_paths)):
            return DiffReason.COMMENTS_OR_FORMATTING_ONLY
        return DiffReason.NO_SOURCE_OR_TEST_CHANGE

    @cached_property
    def sources(self) -> tuple[SourceChange, ...]:
        """The changed declarations of the sources."""
        if not self.source_changed:
            return ()
        return find_source_changes(self.old.tree, self.new.tree, *self._source_paths)

    @cached_property
    def _ends(self) -> tuple[RevisionDependencies, RevisionDependencies]:
        return (
            RevisionDependencies(self.old, self.sources, is_new=False),
            RevisionDependencies(self.new, self.sources, is_new=True),
        )

    def compare_tests(self) -> _ComparedTests:
        """Compare all tests that may be affected, and return the candidates and how many are none.

        The candidates are in no fixed order. There are none if the pair is of no use.
        """
        compared = _ComparedTests()
        if self.reason is not None:
            return compared
        for old, new in self._match_tests():
            compared.total += 1
            referring = self._compare_ends(old, new)
            if referring is None:
                compared.alike += 1
            else:
                compared.referring.append(referring)
        linked = self._list_tests_elsewhere(self._shown_paths, FileOrigin.LINKED)
        for referring in (*self._list_tests_among_sources(), *linked):
            compared.total += 1
            compared.referring.append(referring)
        others = set(self.new.tree.list_paths(Side.TEST)) - self._affected_files
        compared.apart = sum(len(self.new.list_tests(path)) for path in others)
        return compared

    def _match_tests(self) -> Iterator[tuple[Test | None, Test | None]]:
        """Yield each test of the affected files once, as it is at old and at new."""
        old = dict(pair_with_keys(self._list_tests(0)))
        new = dict(pair_with_keys(self._list_tests(1)))
        for key in old.keys() & new.keys():
            yield old.pop(key), new.pop(key)
        matches = match_tests(
            tuple(old.values()), tuple(new.values()), self._list_removed_classes(old.values())
        )
        yield from matches
        matched = {test for pair in matches for test in pair}
        yield from ((test, None) for test in old.values() if test not in matched)
        yield from ((None, test) for test in new.values() if test not in matched)

    def _list_tests_among_sources(self) -> Iterator[_Referring]:
        """Yield changed tests in files of the sources, as a module has that publishes tests.

        Only in languages that have such tests.
        """
        if self.new.reading.TESTS_AMONG_SOURCES:
            yield from self._list_tests_elsewhere(self._source_paths, FileOrigin.SOURCES)

    @cached_property
    def _links(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return list_links(self.old.tree), list_links(self.new.tree)

    @cached_property
    def _shown_paths(self) -> tuple[list[str], list[str]]:
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
                self._links,
                (
                    [f.path for f in self.files if f.old_oid],
                    [f.path for f in self.files if f.new_oid],
                ),
                strict=True,
            )
        )
        return old, new

    def _list_tests_elsewhere(
        self, places: tuple[list[str], list[str]], origin: FileOrigin
    ) -> Iterator[_Referring]:
        """Yield changed tests in files, of both ends, that are no test files."""
        old, new = (
            dict(pair_with_keys(test for path in paths for test in side.list_tests(path)))
            for side, paths in zip((self.old, self.new), places, strict=True)
        )
        for key in old.keys() | new.keys():
            before, after = old.get(key), new.get(key)
            if before is None or after is None:
                change = MethodChange.INSERTED if before is None else MethodChange.DELETED
            elif _has_changed(before, after):
                change = MethodChange.CHANGED
            else:
                continue
            candidate, references = self._make_candidate(change, before, after)
            yield replace(candidate, origin=origin), references

    def _list_removed_classes(self, tests: Iterable[Test]) -> set[str]:
        """Return the classes of old tests that are no longer in the test tree at new."""
        types = {test.unit.type.name: test.unit.type.simple for test in tests}
        known = self.new.tree.test_types
        return {
            name
            for name, simple in types.items()
            if all(located.type.name != name for located in known.get(simple, ()))
        }

    def _list_tests(self, at_new: int) -> Iterator[Test]:
        """Yield the tests of one end in files that differ or may use code that differs."""
        side = (self.old, self.new)[at_new]
        present = set(side.tree.list_paths(Side.TEST))
        for path in sorted(self._affected_files & present):
            yield from side.list_tests(path)

    @cached_property
    def _affected_files(self) -> set[str]:
        """The test files, of both ends, whose methods may be candidates."""
        test_files: set[str] = set()
        for side, paths, end in zip(
            (self.old, self.new), self._test_paths, self._ends, strict=True
        ):
            if self._resources:
                test_files |= set(side.tree.list_paths(Side.TEST))
            else:
                test_files |= side.find_affected_files(set(paths), end.list_mentioned_names())
        return test_files

    def _compare_ends(self, old: Test | None, new: Test | None) -> _Referring | None:
        """Return the candidate of a test; None if neither it nor its context changed.

        An unchanged test is a candidate if it refers to a changed declaration.
        """
        if old is None or new is None:
            change = MethodChange.DELETED if new is None else MethodChange.INSERTED
            return self._make_candidate(change, old, new)
        if _has_changed(old, new):
            return self._make_candidate(MethodChange.CHANGED, old, new)
        if self.tests_changed and self._has_context_changed(old, new):
            return self._make_candidate(MethodChange.CONTEXT_CHANGED, old, new)
        if self.source_changed:
            candidate, references = self._make_candidate(MethodChange.UNCHANGED, old, new)
            if references:
                return candidate, references
        return None

    def _has_context_changed(self, old: Test, new: Test) -> bool:
        if self.old.hash_context(old) != self.new.hash_context(new):
            return True
        return bool(
            self._resources
            and (
                self.old.find_named_resources(old, self._resources)
                or self.new.find_named_resources(new, self._resources)
            )
        )

    def _make_candidate(
        self, change: MethodChange, old: Test | None, new: Test | None
    ) -> _Referring:
        references: list[Reference] = []
        for end, test in zip(self._ends, (old, new), strict=True):
            references += end.find_references(test) if test is not None else ()
        best = rank_references(references)
        candidate_dependencies = make_dependencies(best)
        candidate = Candidate(
            change=change,
            old=old.method if old else None,
            new=new.method if new else None,
            old_source=old.member.source if old else None,
            new_source=new.member.source if new else None,
            dependencies=candidate_dependencies,
            focal_method=find_focal_method(candidate_dependencies),
            origin=self._find_origin(old, new),
            surroundings_differ=self.tests_changed,
        )
        return candidate, best

    def _find_origin(self, old: Test | None, new: Test | None) -> FileOrigin:
        """Return the origin of the test's file at new, or at old if the test was deleted.

        A test that came or went has another origin if its file is a link at the other end.
        """
        test, links = (new, self._links[0]) if old is None else (old, self._links[1])
        if None in (old, new) and test and is_at_or_below(test.method.test_file, links):
            return FileOrigin.LINKED
        if new is not None:
            return self.new.tree.find_origin(new.method.test_file)
        assert old is not None, 'a candidate exists at one end at least'
        return self.old.tree.find_origin(old.method.test_file)


def _has_changed(old: Test, new: Test) -> bool:
    """Return whether a test's own body changed.

    A moved test is compared without its own name and its class's name.
    """
    if old.method == new.method:
        return old.member.hash != new.member.hash
    return old.member.bare_hash != new.member.bare_hash


def _count_hashes(tree_: RevisionTree, paths: list[str]) -> Counter[str]:
    return Counter(tree_.parse_file(path).hash for path in paths)
