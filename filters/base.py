"""What a filter is: a module with `Reason`, a closed choice, and check(), which returns one of it or None."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from coevo.model.profiles import Profile
from coevo.model.quality import IsolatedCells, RepairGuard
from coevo.model.reasons import DiffReason
from coevo.model.records import (
    Candidate,
    Pair,
    TestMethod,
    compute_candidate_id,
    compute_short_hash,
)
from coevo.model.words import MethodChange, Track


class FilterableChange(Protocol):
    """What the diff of a pair tells."""

    @property
    def pair(self) -> Pair: ...
    @property
    def source_changed(self) -> bool: ...
    @property
    def tests_changed(self) -> bool: ...
    @property
    def candidates(self) -> tuple[Candidate, ...]: ...
    @property
    def reason(self) -> DiffReason | None: ...


@dataclass(frozen=True, kw_only=True)
class FilterCase:
    """A pair's change under a profile: what filters of either kind judge by.

    nearer  tests that a state between the ends shows as changed; None where there is no such state
    """

    change: FilterableChange
    profile: Profile
    nearer: frozenset[TestMethod] | None = None

    @cached_property
    def unchanged_in_drawn_order(self) -> tuple[str, ...]:
        """The method ids of unchanged candidates, in an order drawn with the pair as seed."""
        pair = self.change.pair
        ids = [
            compute_candidate_id(pair, candidate)
            for candidate in self.change.candidates
            if candidate.change is MethodChange.UNCHANGED
        ]
        return tuple(sorted(ids, key=lambda id_: compute_short_hash(pair.pair_id, id_)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackCase:
    """What is known of a labelled method that would have a track.

    doubt               why a deciding pass is not believed, see `coevo.engine.observed_passes`
    *_only_refactored   None where it is unknown
    suite_old, _new     `pass`, or what of the whole suite was broken; None if not asked
    """

    profile: Profile
    track: Track
    doubt: str | None
    isolated: IsolatedCells | None
    guard: RepairGuard | None
    test_only_refactored: bool | None
    source_only_refactored: bool | None
    suite_old: str | None
    suite_new: str | None


class TrackFilter(Protocol):
    # every reason `check` may return, each with its sentence
    @property
    def Reason(self) -> type[StrEnum]: ...
    # why the method keeps its label but loses its track, or None to keep it
    def check(self, case: TrackCase) -> StrEnum | None: ...


class PairFilter(Protocol):
    # every reason `check` may return, each with its sentence: the funnel lists them even at zero
    @property
    def Reason(self) -> type[StrEnum]: ...
    # why this pair is dropped, or None to keep it
    def check(self, pair: Pair, profile: Profile) -> StrEnum | None: ...


class ChangeFilter(Protocol):
    # every reason `check` may return, each with its sentence
    @property
    def Reason(self) -> type[StrEnum]: ...
    # why a pair that changes this is dropped, or None to keep it
    def check(self, case: FilterCase) -> StrEnum | None: ...


class MethodFilter(Protocol):
    # every reason `check` may return, each with its sentence
    @property
    def Reason(self) -> type[StrEnum]: ...
    # why this candidate is dropped, or None to keep it
    def check(self, case: FilterCase, candidate: Candidate) -> StrEnum | None: ...
