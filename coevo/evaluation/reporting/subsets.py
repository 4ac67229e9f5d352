"""Success over parts of a track: half-years (TestEvo-Bench, Figure 4) and causes.

A part with fewer than 20 methods is left out of the half-years, as the paper does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.rates import Average, OutcomeRates, estimate_rates, filter_graded
from coevo.evaluation.reporting.samples import Rows
from coevo.model.words import Track

LEAST_METHODS = 20
# Figure 2 puts all that is older into one bar.
FIRST_YEAR = 2015
OLDER = 'Older'
UNKNOWN = 'Unknown'


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackSubset:
    """`tasks` and `methods` are those that count, without trouble of ours."""

    name: str
    tasks: int
    methods: int
    macro: OutcomeRates
    micro: OutcomeRates


def name_half_year(date: datetime | None) -> str:
    """`2016 H2`, in UTC, by the names that `figure_2` of a snapshot's statistics has."""
    if date is None:
        return UNKNOWN
    day = date.astimezone(UTC)
    return OLDER if day.year < FIRST_YEAR else f'{day.year} H{1 if day.month <= 6 else 2}'


def make_half_year_subsets(rows: Rows, track: Track) -> Sequence[TrackSubset]:
    """In the order of time; Unknown is no time, and last."""
    subsets = _make_subsets(rows, track, lambda row: name_half_year(row.new_date))
    shown = [subset for subset in subsets if subset.methods >= LEAST_METHODS]
    return sorted(shown, key=lambda one: (one.name == UNKNOWN, one.name != OLDER, one.name))


def make_cause_subsets(rows: Rows, track: Track) -> Sequence[TrackSubset]:
    """By what broke the old test, or breaks the new one on old code; small ones included."""
    return _make_subsets(rows, track, lambda row: row.cause or UNKNOWN.lower())


def _make_subsets(
    rows: Rows, track: Track, name: Callable[[MethodResult], str]
) -> Sequence[TrackSubset]:
    groups: dict[str, list[MethodResult]] = {}
    for row in filter_graded(rows):
        groups.setdefault(str(name(row)), []).append(row)
    return [_make_subset(name, groups, track) for name in sorted(groups)]


def _make_subset(name: str, groups: Mapping[str, Rows], track: Track) -> TrackSubset:
    of = groups[name]
    return TrackSubset(
        name=name,
        tasks=len({row.task_id for row in of}),
        methods=len(of),
        macro=estimate_rates(of, track, Average.MACRO),
        micro=estimate_rates(of, track, Average.MICRO),
    )
