"""Whether a commit is a bulk import: it adds so many tests at once that their past must be elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace

from coevo.languages.prints import body_prints
from miners.dates.history import Change
from miners.dates.history import Difference
from miners.dates.scanning import BlobTexts
from miners.dates.scanning import Scanner
from miners.dates.scanning import TreeBlobs

BULK_TESTS = 200  # more test methods that one commit adds are an import

ROOT_TESTS = 20  # the same for a commit without a parent

_SOME = 400  # files


def is_bulk(change: Change, texts: BlobTexts, trees: TreeBlobs) -> bool:
    """Whether a commit adds more tests than people write at once.

    A test that stood in a parent, in whatever file, was moved. One that takes the place of another
    in its file was edited.
    """
    limit = BULK_TESTS if change.parents else ROOT_TESTS
    if min(_most_tests(difference, texts) for difference in change.differences) <= limit:
        return False
    first = _first_files(change)
    is_long = first.blobs != change.blobs
    return (is_long and _adds_more(first, limit, texts, trees)) or _adds_more(
        change, limit, texts, trees
    )


def _first_files(change: Change) -> Change:
    """The change with some of the files that it adds: an import of thousands of files has them all of its
    kind. Such a part never adds more tests than the whole."""
    differences = (
        Difference((*each.files[:_SOME], *((old, None) for old, _ in each.files[_SOME:])))
        for each in change.differences
    )
    return replace(change, differences=tuple(differences))


def _adds_more(change: Change, limit: int, texts: BlobTexts, trees: TreeBlobs) -> bool:
    """Whether more than some tests stand in a change's files and nowhere in a parent."""
    fresh = _new_to_files(change, texts)
    if _count(change, texts, fresh) <= limit:
        return False
    return _count(change, texts, fresh - _moved(change, fresh, texts, trees)) > limit


def _most_tests(difference: Difference, texts: BlobTexts) -> int:
    mark = texts.reading.LEXIS.test_mark
    return sum(len(mark.findall(texts.read(oid))) for oid in difference.added)


def _new_to_files(change: Change, texts: BlobTexts) -> frozenset[str]:
    """Bodies of tests that none of the files has which the commit replaces, for every parent."""
    fresh = [
        _tests(difference.added, texts) - _bodies(difference.removed, texts)
        for difference in change.differences
    ]
    return frozenset.intersection(*fresh)


def _count(change: Change, texts: BlobTexts, fresh: AbstractSet[str]) -> int:
    """How many of some bodies are tests that a commit adds, whichever parent it is held against."""
    return min(
        sum(_count_in_file(old, new, texts, fresh) for old, new in difference.files)
        for difference in change.differences
    )


def _count_in_file(
    old: str | None, new: str | None, texts: BlobTexts, fresh: AbstractSet[str]
) -> int:
    after, before = (
        [test.bare_hash for test in texts.bodies(oid).tests] if oid is not None else []
        for oid in (new, old)
    )
    gone = (Counter(before) - Counter(after)).total()
    return max(0, sum(body in fresh for body in after) - gone)


def _moved(
    change: Change, fresh: AbstractSet[str], texts: BlobTexts, trees: TreeBlobs
) -> frozenset[str]:
    """Bodies that stand somewhere in a parent."""
    files = [oid for difference in change.differences for oid in difference.added]
    prints = {
        body: print_
        for oid in dict.fromkeys(files)
        for test in texts.bodies(oid).tests
        for body, print_ in body_prints(texts.reading.LEXIS, test)
        if body in fresh
    }
    scanner = Scanner(texts, prints)
    blobs = frozenset().union(*(trees.of(parent) for parent in change.parents))
    return frozenset(body for oid in sorted(blobs) for body in scanner.held(oid))


def _tests(oids: Iterable[str], texts: BlobTexts) -> frozenset[str]:
    return frozenset(test.bare_hash for oid in oids for test in texts.bodies(oid).tests)


def _bodies(oids: Iterable[str], texts: BlobTexts) -> frozenset[str]:
    return frozenset().union(*(texts.bodies(oid).all for oid in oids))
