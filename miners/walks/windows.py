"""Find which changed tests of a window's pair belong to a nearer old state.

The old end of a published task is the latest state since which both the test and a method that it
calls changed. If no such method is seen, it is the latest state since which the test and any source
changed. The published tasks show what counts:
- A test that is new since the old end is treated separately from a test that changed since then.
- Constructors, the rest of types and what tests cannot call are never among the dependencies.
- A state whose own tests do not compile is no end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from coevo.git.repository import Repository
from coevo.model.records import Pair, TestMethod, compute_candidate_id
from coevo.model.words import MethodChange
from miners.diffs.changes import PairChange, diff_pair
from miners.diffs.coupling import Reference

CHANGED_TESTS = (MethodChange.CHANGED, MethodChange.INSERTED)

Edit = tuple[MethodChange, TestMethod]

Holds = Callable[[str, str], bool]
"""Returns whether the own tests of a revision's module compile."""


def find_tests_changed_in_between(
    repository: Repository, change: PairChange, holds: Holds
) -> frozenset[TestMethod]:
    """Return the tests, at new, whose change a state between the ends already shows.

    holds  returns whether the own tests of a revision's module compile; it is slow, so it is called
           for few states only
    """
    own = _list_edits(change)
    shown_tests: set[TestMethod] = set()
    end = replace(change.pair, old=change.pair.new, old_is_ancestor=True, between=())
    for rev in change.pair.between:
        shown = _list_edits_since_state(repository, end, rev)
        for edit, calls_changed in own.items():
            test = edit[1]
            is_shown = edit in shown and (shown[edit] or not calls_changed)
            if is_shown and test not in shown_tests and holds(rev, test.module):
                shown_tests.add(test)
    return frozenset(shown_tests)


# A new state is compared with all states of its window, of which there are seldom more than a few.
@lru_cache(maxsize=256)
def _list_edits_since_state(repository: Repository, end: Pair, old: str) -> Mapping[Edit, bool]:
    """Return the changed tests between an older state and an end of the walk.

    end  the end, given as a pair with itself
    """
    return _list_edits(diff_pair(repository, replace(end, old=repository.get_commit(old))))


def _list_edits(change: PairChange) -> dict[Edit, bool]:
    """Return the changed tests, each with whether a method that it calls changed.

    Empty if the pair changes no source.
    """
    if not change.source_changed:
        return {}
    return {
        (item.change, item.new): _calls_changed_method(
            change.references[compute_candidate_id(change.pair, item)]
        )
        for item in change.candidates
        if item.change in CHANGED_TESTS and item.new is not None
    }


def _calls_changed_method(references: Sequence[Reference]) -> bool:
    members = [reference.change.member for reference in references]
    return any(m and m.kind == 'method' and 'private' not in m.modifiers for m in members)
