"""Decide, filter by filter in the order of the tables below, which tests of a pair are run.

| the pair changes | what is run | dropped |
| --- | --- | --- |
| source and tests | changed, inserted, deleted and context_changed tests, and a few unchanged ones \
with a changed dependency, which the diff draws | the others are counted: `tests_undrawn` |
| source, and tests are at most deleted | nothing | the pair: `no_test_change` |
| tests only | changed tests, for repair | all others: `no_source_change` |
| neither | nothing | the pair, with its reason |

Without a gate (the profile's `gate_share`) unchanged tests are run up to the profile's limits, also
in pairs that change only source, and the rest is `not_sampled`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from coevo.model.profiles import Profile
from coevo.model.records import Candidate, Drop, Pair, TestMethod, compute_candidate_id
from coevo.model.words import Stage
from filters import (
    content,
    doubt,
    gap,
    generated,
    isolation,
    nearer,
    refactoring,
    repair,
    repair_only,
    sample,
    suite,
)
from filters.base import (
    ChangeFilter,
    FilterableChange,
    FilterCase,
    MethodFilter,
    PairFilter,
    TrackCase,
    TrackFilter,
)

PAIR_FILTERS: Mapping[str, PairFilter] = {'gap': gap}
CHANGE_FILTERS: Mapping[str, ChangeFilter] = {'content': content}
METHOD_FILTERS: Mapping[str, MethodFilter] = {
    'generated': generated,
    'nearer': nearer,
    'repair_only': repair_only,
    'sample': sample,
}
TRACK_FILTERS: Mapping[str, TrackFilter] = {
    'doubt': doubt,
    'isolation': isolation,
    'refactoring': refactoring,
    'repair': repair,
    'suite': suite,
}
_Filter = PairFilter | ChangeFilter | MethodFilter | TrackFilter
FILTERS: Mapping[str, _Filter] = {
    **PAIR_FILTERS,
    **CHANGE_FILTERS,
    **METHOD_FILTERS,
    **TRACK_FILTERS,
}
"""All filters, in the order in which they are applied."""

FILTERS_BY_STAGE: Mapping[Stage, tuple[_Filter, ...]] = {
    Stage.PAIR: (*PAIR_FILTERS.values(), *CHANGE_FILTERS.values()),
    Stage.FILTER: tuple(METHOD_FILTERS.values()),
    Stage.TRACK: tuple(TRACK_FILTERS.values()),
}
"""The filters by the stage of the funnel at which their drops are counted."""


def filter_pair(pair: Pair, profile: Profile) -> Drop | None:
    """Return the reason why a pair is dropped before it is diffed, or None to keep it."""
    for filter_ in PAIR_FILTERS.values():
        if (reason := filter_.find_drop_reason(pair, profile)) is not None:
            return Drop.make_drop_at_stage(Stage.PAIR, pair, pair.pair_id, reason)
    return None


def filter_candidates(
    change: FilterableChange,
    profile: Profile,
    tests_changed_in_between: frozenset[TestMethod] | None = None,
) -> tuple[tuple[Candidate, ...], tuple[Drop, ...]]:
    """Return the candidates of a pair to run, and the drops.

    If a filter drops the whole pair, there is no candidate and one drop; else there is one drop for
    each candidate that is not run.

    nearer  tests that a state between the ends of a window shows as changed; None if there is no
            such state
    """
    if (drop := _filter_change(change, profile)) is not None:
        return (), (drop,)
    case = FilterCase(change=change, profile=profile, nearer=tests_changed_in_between)
    kept_candidates, drops = [], []
    for candidate in change.candidates:
        reason = _filter_candidate(case, candidate)
        if reason is None:
            kept_candidates.append(candidate)
        else:
            key = compute_candidate_id(change.pair, candidate)
            drop = Drop.make_drop_at_stage(Stage.FILTER, change.pair, key, reason)
            drops.append(drop.with_method(candidate.method, candidate.change))
    return tuple(kept_candidates), tuple(drops)


def _filter_change(change: FilterableChange, profile: Profile) -> Drop | None:
    if (drop := filter_pair(change.pair, profile)) is not None:
        return drop
    case = FilterCase(change=change, profile=profile)
    for filter_ in CHANGE_FILTERS.values():
        if (reason := filter_.find_drop_reason(case)) is not None:
            return Drop.make_drop_at_stage(Stage.PAIR, change.pair, change.pair.pair_id, reason)
    return None


def _filter_candidate(case: FilterCase, candidate: Candidate) -> StrEnum | None:
    for filter_ in METHOD_FILTERS.values():
        if (reason := filter_.find_drop_reason(case, candidate)) is not None:
            return reason
    return None


def find_track_loss_reason(case: TrackCase) -> StrEnum | None:
    """Return the reason why a labelled method keeps its label but loses its track, or None."""
    for filter_ in TRACK_FILTERS.values():
        if (reason := filter_.find_track_loss_reason(case)) is not None:
            return reason
    return None
