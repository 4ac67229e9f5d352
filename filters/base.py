"""The protocols of filters: a module with an enum `Reason` and a function that finds a reason.

The function returns a member of `Reason` to drop its subject, or None to keep it.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    """The diff of a pair, as far as filters need it."""

    @property
    def pair(self) -> Pair:
        """The two revisions that were compared."""

    @property
    def source_changed(self) -> bool:
        """True if the pair changes production code."""

    @property
    def tests_changed(self) -> bool:
        """True if the pair changes test code."""

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The tests that may get a label: those that the diff of the pair found."""

    @property
    def reason(self) -> DiffReason | None:
        """The reason why the diff rules out the whole pair, or None."""


@dataclass(frozen=True, kw_only=True)
class FilterCase:
    """The change of a pair and the profile by which filters judge it.

    nearer  tests that a state between the ends shows as changed; None if there is no such state
    """

    change: FilterableChange
    profile: Profile
    nearer: frozenset[TestMethod] | None = None

    @cached_property
    def drawn_order(self) -> Mapping[MethodChange, tuple[str, ...]]:
        """The ids of all candidates by change, in an order that is random for each pair.

        The pair's id is the seed, so the order of one pair is always the same.
        """
        pair = self.change.pair
        ids: dict[MethodChange, list[str]] = {change: [] for change in MethodChange}
        for candidate in self.change.candidates:
            ids[candidate.change].append(compute_candidate_id(pair, candidate))
        return {
            change: tuple(sorted(some, key=lambda id_: compute_short_hash(pair.pair_id, id_)))
            for change, some in ids.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackCase:
    """The evidence about a labelled method that is eligible for a track.

    doubt               why a pass that decides the label is not trusted, see
                        `coevo.engine.further_runs`
    *_only_refactored   None if unknown
    suite_old, _new     `pass`, or the broken outcome of the whole suite; None if the suites were
                        not run
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
    """A filter of labelled methods: it decides which of them keep their track."""

    @property
    def Reason(self) -> type[StrEnum]:
        """Every reason that `find_track_loss_reason` may return, with its sentence."""

    def find_track_loss_reason(self, case: TrackCase) -> StrEnum | None:
        """Return why the method keeps its label but loses its track, or None to keep the track."""


class PairFilter(Protocol):
    """A filter of pairs that is applied before the revisions are compared."""

    @property
    def Reason(self) -> type[StrEnum]:
        """Every reason that `find_drop_reason` may return, also those that never occur."""

    def find_drop_reason(self, pair: Pair, profile: Profile) -> StrEnum | None:
        """Return why this pair is dropped, or None to keep it."""


class ChangeFilter(Protocol):
    """A filter of pairs that is applied after the revisions were compared."""

    @property
    def Reason(self) -> type[StrEnum]:
        """Every reason that `find_drop_reason` may return, with its sentence."""

    def find_drop_reason(self, case: FilterCase) -> StrEnum | None:
        """Return why the pair is dropped because of its change, or None to keep it."""


class MethodFilter(Protocol):
    """A filter of candidates: it decides which tests of a pair are run."""

    @property
    def Reason(self) -> type[StrEnum]:
        """Every reason that `find_drop_reason` may return, with its sentence."""

    def find_drop_reason(self, case: FilterCase, candidate: Candidate) -> StrEnum | None:
        """Return why this candidate is dropped, or None to keep it."""
