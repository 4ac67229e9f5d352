"""Find the earliest commit of a history that introduces each of some bodies.

A commit introduces a body that is in its tree and in no parent's tree. A root commit, or a commit
at a shallow border, introduces every body of its tree. Commits are visited in the order of their
dates (`miners.dates.history.date_commits`), so the first that introduces a body is the earliest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from coevo.languages.prints import BodyPrint, make_body_prints_by_hash
from coevo.storage.dates import NoDateReason, SeenBody
from miners.dates.history import EPOCH, CommitChange, Graph, ParentDifference, has_unusable_date
from miners.dates.scanning import BlobTexts, BodyScanner, TreeBlobs


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Commits of a clone with their dates, and those that change files of a language.

    graph       all commits, descendants first
    dates       the date of each commit, see `date_commits`
    changes     the commits that may introduce a body
    crawled_at  when the commits were fetched
    """

    graph: Graph
    dates: Mapping[str, datetime]
    changes: Sequence[CommitChange]
    crawled_at: datetime

    def group_by_moment(self) -> list[tuple[datetime | None, list[CommitChange]]]:
        """Return the changes grouped by moment, in order; undated ones come first."""
        places = {rev: position for position, rev in enumerate(self.graph)}

        def get_sort_key(change: CommitChange) -> tuple[bool, float, int]:
            """Return the key of a change: its date, then ancestors before descendants."""
            date = self.dates.get(change.rev)
            return date is not None, date.timestamp() if date else 0.0, -places[change.rev]

        ordered = sorted(self.changes, key=get_sort_key)
        groups = groupby(ordered, key=lambda change: self.dates.get(change.rev))
        return [(moment, list(group)) for moment, group in groups]


class BodySearch:
    """One search of a history for the first commit of some bodies, moment after moment.

    A moment has the commits of one date.
    """

    def __init__(
        self, texts: BlobTexts, trees: TreeBlobs, history: History, prints: Mapping[str, BodyPrint]
    ) -> None:
        self._texts, self._trees, self._history = texts, trees, history
        self._scanner = BodyScanner(texts, prints)
        self._bulk: dict[str, bool] = {}
        self._since = _find_first_hole(history, texts.lacked)
        self._before, self._absent = frozenset[str](), frozenset[str]()

    @property
    def open_bodies(self) -> AbstractSet[str]:
        """The bodies that have not been seen yet."""
        return self._scanner.open.keys()

    def note_absent_bodies(self, revs: frozenset[str], bodies: frozenset[str]) -> None:
        """Tell the search that none of the commits `revs` contains any of `bodies`.

        So their trees need not be searched.
        """
        self._before, self._absent = revs, bodies

    def run(
        self, moments: Sequence[tuple[datetime | None, Sequence[CommitChange]]], first: int = 0
    ) -> Iterator[tuple[int, list[SeenBody]]]:
        """Yield, after each moment, how many are done and the bodies that were introduced then.

        first  the number of moments that an earlier run completed
        """
        blobs = [
            oid for _, changes in moments[first:] for each in changes for oid in each.added_blobs
        ]
        stream = self._texts.stream_blobs(
            oid for oid in dict.fromkeys(blobs) if self._is_available(oid)
        )
        for number, (moment, changes) in enumerate(moments[first:], start=first + 1):
            if not self.open_bodies:
                return
            for oid in (oid for change in changes for oid in change.added_blobs):
                while self._is_available(oid) and oid not in self._scanner.scanned:
                    self._scanner.scan_blob_for_bodies(*next(stream))
            yield number, list(self._find_introduced_bodies(moment, changes))

    def _is_available(self, oid: str) -> bool:
        return oid not in self._texts.lacked

    def _find_introduced_bodies(
        self, moment: datetime | None, changes: Sequence[CommitChange]
    ) -> Iterator[SeenBody]:
        brought: dict[str, list[CommitChange]] = {}
        for change in changes:
            for body in self._find_added_bodies(change):
                brought.setdefault(body, []).append(change)
        for body, deciding in sorted(brought.items()):
            self._scanner.stop_searching_for_body(body)
            whys = [why for change in deciding if (why := self._explain_no_date(change, moment))]
            yield SeenBody(
                body=body,
                rev=deciding[0].rev,
                moment=moment,
                no_date=whys[0] if whys else None,
            )

    def _find_added_bodies(self, change: CommitChange) -> frozenset[str]:
        """Return the open bodies of a commit that no parent has."""
        fresh = frozenset[str]().union(*map(self._scanner.find_bodies, change.added_blobs))
        parents = change.parents or ('',)
        for parent, difference in zip(parents, change.differences, strict=True):
            absent = self._absent if parent in self._before else frozenset[str]()
            for oid in difference.removed_blobs:
                if fresh <= absent:
                    break
                fresh -= self._scanner.find_bodies(oid) - absent
        for parent in change.parents:
            absent = self._absent if parent in self._before else frozenset[str]()
            if not fresh <= absent:
                fresh -= self._find_in_tree(parent, fresh - absent)
        return fresh

    def _find_in_tree(self, rev: str, bodies: Iterable[str]) -> frozenset[str]:
        blobs = self._trees.list_blobs(rev)
        for oid in sorted(blobs - self._scanner.scanned):
            self._scanner.find_bodies(oid)
        holders = self._scanner.holders
        return frozenset(body for body in bodies if not blobs.isdisjoint(holders[body]))

    def _explain_no_date(
        self, change: CommitChange, moment: datetime | None
    ) -> NoDateReason | None:
        if has_unusable_date(self._history.graph[change.rev], self._history.crawled_at):
            return NoDateReason.UNDATED
        if self._since is not None and (moment is None or moment >= self._since):
            return NoDateReason.LACKING
        if change.rev not in self._bulk:
            self._bulk[change.rev] = is_bulk_addition(change, self._texts, self._trees)
        return NoDateReason.BULK if self._bulk[change.rev] else None


def _find_first_hole(history: History, lacked: AbstractSet[str]) -> datetime | None:
    """Return the earliest moment at which a body may have been in a file that the clone lacks.

    None if the clone lacks none of the files of these commits.
    """
    if not lacked:
        return None
    holes = (
        history.dates.get(change.rev, EPOCH)
        for change in history.changes
        if not change.differing_blobs.isdisjoint(lacked)
    )
    return min(holes, default=None)


# The rest detects bulk imports: commits that add so many tests at once that their history must be
# elsewhere.

BULK_TESTS = 200  # a commit that adds more test methods is an import

ROOT_TESTS = 20  # the same limit for a commit without a parent

_SOME = 400  # files


def is_bulk_addition(change: CommitChange, texts: BlobTexts, trees: TreeBlobs) -> bool:
    """Return whether a commit adds more tests than people write at once.

    A test that was in any file of a parent counts as moved. A test that replaces another in its
    file counts as edited.
    """
    limit = BULK_TESTS if change.parents else ROOT_TESTS
    if min(_count_test_marks(difference, texts) for difference in change.differences) <= limit:
        return False
    first = _limit_added_files(change)
    is_long = first.differing_blobs != change.differing_blobs
    return (is_long and _adds_more_tests(first, limit, texts, trees)) or _adds_more_tests(
        change, limit, texts, trees
    )


def _limit_added_files(change: CommitChange) -> CommitChange:
    """Return the change with only some of the files that it adds.

    An import of thousands of files is recognised by a part of them. Such a part never adds more
    tests than the whole.
    """
    differences = (
        ParentDifference((*each.files[:_SOME], *((old, None) for old, _ in each.files[_SOME:])))
        for each in change.differences
    )
    return replace(change, differences=tuple(differences))


def _adds_more_tests(change: CommitChange, limit: int, texts: BlobTexts, trees: TreeBlobs) -> bool:
    """Return whether more than `limit` tests are in a change's files and nowhere in a parent."""
    fresh = _find_new_tests(change, texts)
    if _count_added_tests(change, texts, fresh) <= limit:
        return False
    return (
        _count_added_tests(change, texts, fresh - _find_moved(change, fresh, texts, trees)) > limit
    )


def _count_test_marks(difference: ParentDifference, texts: BlobTexts) -> int:
    mark = texts.reading.LEXIS.test_mark
    return sum(len(mark.findall(texts.read(oid))) for oid in difference.added_blobs)


def _find_new_tests(change: CommitChange, texts: BlobTexts) -> frozenset[str]:
    """Return the bodies of tests that none of the replaced files has, relative to every parent."""
    fresh = [
        _list_test_hashes(difference.added_blobs, texts)
        - _list_body_hashes(difference.removed_blobs, texts)
        for difference in change.differences
    ]
    return frozenset.intersection(*fresh)


def _count_added_tests(change: CommitChange, texts: BlobTexts, fresh: AbstractSet[str]) -> int:
    """Return how many tests with a body in `fresh` a commit adds.

    Against several parents it is the smallest number. A test that replaces another in its file does
    not count.
    """
    return min(
        sum(_count_added_in_file(old, new, texts, fresh) for old, new in difference.files)
        for difference in change.differences
    )


def _count_added_in_file(
    old: str | None, new: str | None, texts: BlobTexts, fresh: AbstractSet[str]
) -> int:
    after, before = (
        [test.bare_hash for test in texts.get_bodies(oid).tests] if oid is not None else []
        for oid in (new, old)
    )
    removed_count = (Counter(before) - Counter(after)).total()
    return max(0, sum(body in fresh for body in after) - removed_count)


def _find_moved(
    change: CommitChange, fresh: AbstractSet[str], texts: BlobTexts, trees: TreeBlobs
) -> frozenset[str]:
    """Return the bodies of `fresh` that are somewhere in a parent."""
    files = [oid for difference in change.differences for oid in difference.added_blobs]
    prints = {
        body: print_
        for oid in dict.fromkeys(files)
        for test in texts.get_bodies(oid).tests
        for body, print_ in make_body_prints_by_hash(texts.reading.LEXIS, test)
        if body in fresh
    }
    scanner = BodyScanner(texts, prints)
    blobs = frozenset().union(*(trees.list_blobs(parent) for parent in change.parents))
    return frozenset(body for oid in sorted(blobs) for body in scanner.find_bodies(oid))


def _list_test_hashes(oids: Iterable[str], texts: BlobTexts) -> frozenset[str]:
    return frozenset(test.bare_hash for oid in oids for test in texts.get_bodies(oid).tests)


def _list_body_hashes(oids: Iterable[str], texts: BlobTexts) -> frozenset[str]:
    return frozenset().union(*(texts.get_bodies(oid).all for oid in oids))
