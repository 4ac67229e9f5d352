"""Compare stored pairs with the tests that this version of coevo selects, without running anything.

A pair that another version mined may keep its labels if both select the same tests. If not, a label
may be wrong or missing: a rule for comments, for example, decides whether a test changed at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from coevo.git.repository import CorruptObject, Repository
from coevo.model.listener import SILENT, Listener
from coevo.model.profiles import Profile
from coevo.model.reasons import Reason
from coevo.model.records import Pair, compute_candidate_id
from coevo.model.segment import Segment
from coevo.model.words import MethodChange, Stage, Walk
from filters import filter_candidates
from miners.diffs.changes import diff_pair

# The tests of their pairs depend on more than the two ends.
_INCOMPARABLE_WALKS = frozenset({Walk.WINDOW, Walk.SINGLE_REVISION})

# Drops of whole pairs that say what was missing then, and nothing about the tests.
_LACKS = frozenset({Reason.OBJECT_MISSING, Reason.UNREADABLE_OBJECT, Reason.RUNTIME_MISSING})


def find_pairs_with_other_tests(
    profile: Profile,
    repository: Repository,
    mined: Sequence[tuple[Pair, Segment]],
    listener: Listener = SILENT,
) -> frozenset[str]:
    """Return the ids of pairs of which this version would run other tests than their segments have.

    A test that counts as changed in another way is another one. Unchanged tests, which are drawn as
    a sample, do not count. A pair whose tests cannot be compared so is not among them: one of a
    window or a single revision, or of which the clone lacks an object.
    """
    other = set[str]()
    for number, (pair, segment) in enumerate(mined):
        listener.step('compared', number, len(mined))
        if _is_comparable(segment) and _has_other_tests(profile, repository, pair, segment):
            other.add(pair.pair_id)
    listener.step('compared', len(mined), len(mined))
    return frozenset(other)


def _is_comparable(segment: Segment) -> bool:
    return segment.pair.walk not in _INCOMPARABLE_WALKS and not any(
        drop.stage is Stage.PAIR and drop.reason in _LACKS for drop in segment.drops
    )


def _has_other_tests(
    profile: Profile, repository: Repository, pair: Pair, segment: Segment
) -> bool:
    try:
        return _select_tests(profile, repository, pair) != _list_stored_tests(segment)
    except CorruptObject:
        return False


def _select_tests(
    profile: Profile, repository: Repository, pair: Pair
) -> Mapping[str, MethodChange]:
    """Return how each selected test of a pair changed, by its id."""
    candidates, _ = filter_candidates(diff_pair(repository, pair, profile.gate), profile)
    return _leave_out_unchanged(
        (compute_candidate_id(pair, candidate), candidate.change) for candidate in candidates
    )


def _list_stored_tests(segment: Segment) -> Mapping[str, MethodChange]:
    """Return how each test that was run, or was to be run, changed, by its id."""
    labelled = ((row.method_id, row.change) for row in segment.methods)
    dropped = (
        (drop.key, drop.change)
        for drop in segment.drops
        if drop.stage is Stage.LABEL and drop.change is not None
    )
    return _leave_out_unchanged((*labelled, *dropped))


def _leave_out_unchanged(tests: Iterable[tuple[str, MethodChange]]) -> dict[str, MethodChange]:
    return {id_: change for id_, change in tests if change is not MethodChange.UNCHANGED}
