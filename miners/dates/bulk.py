"""Whether a commit is a bulk import: it adds so many tests at once that their past must be elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace

from coevo.languages.prints import make_body_prints
from miners.dates.history import CommitChange, ParentDifference
from miners.dates.scanning import BlobTexts, BodyScanner, TreeBlobs

BULK_TESTS = 200  # more test methods that one commit adds are an import

ROOT_TESTS = 20  # the same for a commit without a parent

_SOME = 400  # files


def is_bulk(change: CommitChange, texts: BlobTexts, trees: TreeBlobs) -> bool:
    """Whether a commit adds more tests than people write at once.

    A test that stood in a parent, in whatever file, was moved. One that takes the place of another
    in its file was edited.
    """
    limit = BULK_TESTS if change.parents else ROOT_TESTS
    if min(_count_test_marks(difference, texts) for difference in change.differences) <= limit:
        return False
    first = _take_first_files(change)
    is_long = first.blobs != change.blobs
    return (is_long and _adds_more_tests(first, limit, texts, trees)) or _adds_more_tests(
        change, limit, texts, trees
    )


def _take_first_files(change: CommitChange) -> CommitChange:
    """The change with some of the files that it adds: an import of thousands of files has them all of its
    kind. Such a part never adds more tests than the whole."""
    differences = (
        ParentDifference((*each.files[:_SOME], *((old, None) for old, _ in each.files[_SOME:])))
        for each in change.differences
    )
    return replace(change, differences=tuple(differences))


def _adds_more_tests(change: CommitChange, limit: int, texts: BlobTexts, trees: TreeBlobs) -> bool:
    """Whether more than some tests stand in a change's files and nowhere in a parent."""
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
    """Bodies of tests that none of the files has which the commit replaces, for every parent."""
    fresh = [
        _list_test_hashes(difference.added_blobs, texts)
        - _list_body_hashes(difference.removed_blobs, texts)
        for difference in change.differences
    ]
    return frozenset.intersection(*fresh)


def _count_added_tests(change: CommitChange, texts: BlobTexts, fresh: AbstractSet[str]) -> int:
    """How many of some bodies are tests that a commit adds, whichever parent it is held against."""
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
    """Bodies that stand somewhere in a parent."""
    files = [oid for difference in change.differences for oid in difference.added_blobs]
    prints = {
        body: print_
        for oid in dict.fromkeys(files)
        for test in texts.get_bodies(oid).tests
        for body, print_ in make_body_prints(texts.reading.LEXIS, test)
        if body in fresh
    }
    scanner = BodyScanner(texts, prints)
    blobs = frozenset().union(*(trees.list_blobs(parent) for parent in change.parents))
    return frozenset(body for oid in sorted(blobs) for body in scanner.find_bodies(oid))


def _list_test_hashes(oids: Iterable[str], texts: BlobTexts) -> frozenset[str]:
    return frozenset(test.bare_hash for oid in oids for test in texts.get_bodies(oid).tests)


def _list_body_hashes(oids: Iterable[str], texts: BlobTexts) -> frozenset[str]:
    return frozenset().union(*(texts.get_bodies(oid).all for oid in oids))
