"""Which tests the nearer old states of a window show as changed already.

The old end of a published task is the latest state since which both the test and one of its
dependencies changed; where no dependency is seen to, the latest since which the test and any source
changed: given the tests, such an old end explains 94 % of the published tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from coevo.git import Repository
from coevo.records import Candidate
from coevo.records import Change
from coevo.records import Pair
from coevo.records import TestMethod
from coevo.records import Walk
from miners.changes import diff

CHANGED_TESTS = (Change.CHANGED, Change.INSERTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Tests that changed since a state, with a dependency of theirs or only beside the source."""

    with_dependency: frozenset[TestMethod] = frozenset()
    with_source: frozenset[TestMethod] = frozenset()

    def __or__(self, other: Shown) -> Shown:
        return Shown(
            with_dependency=self.with_dependency | other.with_dependency,
            with_source=self.with_source | other.with_source,
        )


def shown_nearer(repository: Repository, pair: Pair) -> Shown:
    """What the states between a pair's ends show of the tests at new."""
    shown = Shown()
    for rev in pair.between:
        shown |= _shown(repository, pair.repo, rev, pair.new.rev)
    return shown


# A new state is compared with all states of its window, of which there are seldom more than a few.
@lru_cache(maxsize=256)
def _shown(repository: Repository, repo: str, old: str, new: str) -> Shown:
    ends = repository.commit(old), repository.commit(new)
    pair = Pair(repo=repo, walk=Walk.WINDOW, old=ends[0], new=ends[1], old_is_ancestor=True)
    change = diff(repository, pair)
    if not change.source_changed:
        return Shown()
    changed = list(_changed(change.candidates))
    return Shown(
        with_dependency=frozenset(test for test, dependent in changed if dependent),
        with_source=frozenset(test for test, _ in changed),
    )


def _changed(candidates: tuple[Candidate, ...]) -> Iterator[tuple[TestMethod, bool]]:
    for candidate in candidates:
        if candidate.change in CHANGED_TESTS and candidate.new is not None:
            yield candidate.new, bool(candidate.dependencies)
