"""Compare the two ends of a pair method by method, and list the candidates for the filters.

Methods are compared by their tokens, so comments and formatting never matter. Only files that
differ, or that may use code that differs, are parsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from coevo.git.repository import CorruptObject, FileChange, Repository
from coevo.languages.reading import ProductionKind, Side
from coevo.languages.table import get_reading
from coevo.model.profiles import Gate
from coevo.model.reasons import DiffReason
from coevo.model.records import (
    Candidate,
    FileOrigin,
    Pair,
    compute_candidate_id,
    compute_method_id,
    compute_short_hash,
)
from coevo.model.words import MethodChange
from miners.diffs.changed_files import ChangedFiles, is_at_or_below
from miners.diffs.contexts import Test, TestTree, load_test_tree
from miners.diffs.coupling import (
    Reference,
    choose_best_reference_per_change,
    find_focal_method,
    make_dependencies,
)
from miners.diffs.dependencies import RevisionDependencies
from miners.diffs.matching import match_tests, pair_with_keys
from miners.diffs.sources import SourceChange
from miners.diffs.surroundings import Readers, find_affected_units, has_own_data_changed

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
    undrawn     the number of unchanged ones of which is not known whether they use a change of the
                sources, since they were not drawn for the sample
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
    undrawn: int | None = None
    apart: int | None = None
    kinds: tuple[ProductionKind, ...] = ()


def diff_pair(repository: Repository, pair: Pair, gate: Gate | None = None) -> PairChange:
    """Compare the two ends of a pair; return its changes and the tests that may get a label.

    gate  decides whether the pair is of use, and how many unchanged tests are candidates; with
          None all are that use a change of the sources
    """
    files = repository.list_changes(pair.old.rev, pair.new.rev)
    old = load_test_tree(repository, pair.old.rev, pair.language)
    new = load_test_tree(repository, pair.new.rev, pair.language)
    changed = ChangedFiles(old=old, new=new, files=files)
    difference = _PairDifference(old=old, new=new, changed=changed, pair=pair, gate=gate)
    compared = difference.compare_tests()
    candidates = sorted(compared.referring, key=lambda item: _get_sort_key(item[0]))
    reason = changed.reason or compared.reason
    counted = reason is None
    return PairChange(
        pair=pair,
        build_changed=any(get_reading(pair.language).is_build_file(f.path) for f in files),
        source_changed=changed.source_changed,
        tests_changed=changed.tests_changed,
        candidates=tuple(candidate for candidate, _ in candidates),
        reason=reason,
        sources=changed.sources if candidates else (),
        references={
            compute_candidate_id(pair, candidate): references
            for candidate, references in candidates
        },
        files=files,
        compared=compared.total if counted else None,
        alike=compared.alike if counted else None,
        undrawn=compared.undrawn if counted else None,
        apart=compared.apart if counted else None,
        kinds=changed.kinds,
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


# A test as it is at old and at new; None where it is not.
_Ends = tuple[Test | None, Test | None]


@dataclass(slots=True, kw_only=True)
class _ComparedTests:
    """The candidates of a pair with their references, and the number of tests that are none.

    reason  the reason why the pair is of no use, or None
    """

    referring: list[_Referring] = field(default_factory=list)
    total: int = 0
    alike: int = 0
    undrawn: int = 0
    apart: int = 0
    reason: DiffReason | None = None


@dataclass(frozen=True, kw_only=True)
class _PairDifference:
    """The comparison of the test trees and sources of two revisions.

    Each part is computed on demand.
    """

    old: TestTree
    new: TestTree
    changed: ChangedFiles
    pair: Pair
    gate: Gate | None

    @cached_property
    def _ends(self) -> tuple[RevisionDependencies, RevisionDependencies]:
        return (
            RevisionDependencies(self.old, self.changed.sources, is_new=False),
            RevisionDependencies(self.new, self.changed.sources, is_new=True),
        )

    def compare_tests(self) -> _ComparedTests:
        """Compare all tests that may be affected, and return the candidates and how many are none.

        The candidates are in no fixed order. There are none if the pair is of no use.
        """
        compared = _ComparedTests()
        if self.changed.reason is not None:
            return compared
        if self.gate is not None and not self.changed.tests_changed:
            compared.reason = self._explain_no_test_change()
            return compared
        unchanged: list[_Ends] = []
        changed: list[tuple[MethodChange, _Ends]] = []
        for ends in self._match_tests():
            change = self._classify_change(*ends)
            if change is None:
                unchanged.append(ends)
            else:
                changed.append((change, ends))
        elsewhere = [
            *self._list_changed_tests_among_sources(),
            *self._list_changed_tests_elsewhere(
                self.changed.paths_linked_as_tests, FileOrigin.LINKED
            ),
        ]
        compared.total = len(unchanged) + len(changed) + len(elsewhere)
        changes = {change for change, _ in changed} | {item.change for item, _ in elsewhere}
        # Without a source change a deleted test is a candidate, so that it is a drop of its own.
        useless = {MethodChange.DELETED} if self.changed.source_changed else set()
        if self.gate is not None and changes <= useless:
            compared.reason = self._explain_no_test_change(compared.total)
            return compared
        compared.referring = [self._make_candidate(change, *ends) for change, ends in changed]
        compared.referring += elsewhere
        self._add_unchanged_tests(compared, unchanged)
        others = set(self.new.tree.list_paths(Side.TEST)) - self._affected_test_files
        compared.apart = sum(len(self.new.list_tests(path)) for path in others)
        if not compared.total and not compared.apart:
            compared.reason = DiffReason.NO_TEST_FOUND
        return compared

    def _explain_no_test_change(self, compared: int = 0) -> DiffReason:
        """Return the reason of a pair without a change of tests: whether it has a test at all.

        A file that the clone lacks may have one.

        compared  the number of its tests that are known
        """
        try:
            has_tests = compared or any(
                end.list_tests(path)
                for end in (self.new, self.old)
                for path in end.tree.list_paths(Side.TEST)
            )
        except CorruptObject:
            has_tests = True
        return DiffReason.NO_TEST_CHANGE if has_tests else DiffReason.NO_TEST_FOUND

    def _add_unchanged_tests(self, compared: _ComparedTests, unchanged: Sequence[_Ends]) -> None:
        """Add the unchanged tests that refer to a changed declaration, and count the others.

        With a gate, as many are added as it allows beside the candidates so far, in an order that
        is drawn for the pair, and those after the last of them are not looked at.
        """
        if not self.changed.source_changed:
            compared.alike += len(unchanged)
            return
        most = len(unchanged)
        if self.gate is not None:
            unchanged = sorted(unchanged, key=self._compute_draw_position)
            changes = [
                item.change for item, _ in compared.referring if item.origin is FileOrigin.WRITTEN
            ]
            context = changes.count(MethodChange.CONTEXT_CHANGED)
            most = self.gate.compute_unchanged_allowance(len(changes) - context, context)
        added = 0
        for looked_at, ends in enumerate(unchanged):
            if added >= most:
                compared.undrawn = len(unchanged) - looked_at
                break
            candidate, references = self._make_candidate(MethodChange.UNCHANGED, *ends)
            if references:
                compared.referring.append((candidate, references))
                added += candidate.origin is FileOrigin.WRITTEN
            else:
                compared.alike += 1

    def _compute_draw_position(self, ends: _Ends) -> str:
        """Return the place of an unchanged test in the order that is drawn for the pair."""
        assert ends[1] is not None, 'an unchanged test is at both ends'
        pair_id = self.pair.pair_id
        method_id = compute_method_id(pair_id, MethodChange.UNCHANGED, ends[1].method)
        return compute_short_hash(pair_id, method_id)

    def _match_tests(self) -> Iterator[_Ends]:
        """Yield each test of the affected files once, as it is at old and at new."""
        old = dict(pair_with_keys(self._list_affected_tests(0)))
        new = dict(pair_with_keys(self._list_affected_tests(1)))
        for key in old.keys() & new.keys():
            yield old.pop(key), new.pop(key)
        matches = match_tests(
            tuple(old.values()), tuple(new.values()), self._list_removed_classes(old.values())
        )
        yield from matches
        matched = {test for pair in matches for test in pair}
        yield from ((test, None) for test in old.values() if test not in matched)
        yield from ((None, test) for test in new.values() if test not in matched)

    def _list_changed_tests_among_sources(self) -> Iterator[_Referring]:
        """Yield changed tests in files of the sources, as a module has that publishes tests.

        Only in languages that have such tests.
        """
        if self.new.reading.TESTS_AMONG_SOURCES:
            yield from self._list_changed_tests_elsewhere(
                self.changed.source_paths, FileOrigin.SOURCES
            )

    def _list_changed_tests_elsewhere(
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

    def _list_affected_tests(self, at_new: int) -> Iterator[Test]:
        """Yield the tests of one end in files that differ or may use code that differs."""
        side = (self.old, self.new)[at_new]
        present = set(side.tree.list_paths(Side.TEST))
        for path in sorted(self._affected_test_files & present):
            yield from side.list_tests(path)

    @cached_property
    def _affected_test_files(self) -> set[str]:
        """The test files, of both ends, whose methods may be candidates."""
        test_files: set[str] = set()
        for side, paths, end in zip(
            (self.old, self.new), self.changed.test_paths, self._ends, strict=True
        ):
            if self.changed.resources:
                test_files |= set(side.tree.list_paths(Side.TEST))
            else:
                test_files |= side.mentions.find_affected_test_files(
                    set(paths), end.list_names_of_changes()
                )
        return test_files

    def _classify_change(self, old: Test | None, new: Test | None) -> MethodChange | None:
        """Return what happened to a test; None if neither it nor its context changed."""
        if old is None or new is None:
            return MethodChange.DELETED if new is None else MethodChange.INSERTED
        if _has_changed(old, new):
            return MethodChange.CHANGED
        if self.changed.tests_changed and self._has_context_changed(old, new):
            if has_own_data_changed((self.old, self.new), old, new):
                return MethodChange.CHANGED
            return MethodChange.CONTEXT_CHANGED
        return None

    @cached_property
    def _affected_units(self) -> tuple[Readers, Readers]:
        return find_affected_units(
            self.old, self.new, self.changed.test_paths, self.changed.resources
        )

    def _has_context_changed(self, old: Test, new: Test) -> bool:
        if not any(
            end.may_use_change(test)
            for end, test in zip(self._affected_units, (old, new), strict=True)
        ):
            return False
        if self.old.hash_context(old) != self.new.hash_context(new):
            return True
        return bool(
            self.changed.resources
            and (
                self.old.find_named_resources(old, self.changed.resources)
                or self.new.find_named_resources(new, self.changed.resources)
            )
        )

    def _make_candidate(
        self, change: MethodChange, old: Test | None, new: Test | None
    ) -> _Referring:
        references: list[Reference] = []
        for end, test in zip(self._ends, (old, new), strict=True):
            references += end.find_references(test) if test is not None else ()
        best = choose_best_reference_per_change(references)
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
            surroundings_differ=self.changed.tests_changed,
        )
        return candidate, best

    def _find_origin(self, old: Test | None, new: Test | None) -> FileOrigin:
        """Return the origin of the test's file at new, or at old if the test was deleted.

        A test that came or went has another origin if its file is a link at the other end.
        """
        test, links = (new, self.changed.links[0]) if old is None else (old, self.changed.links[1])
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
