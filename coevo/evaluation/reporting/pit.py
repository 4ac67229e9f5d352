"""PIT's word on the submitted tests beside gold's, where it was asked: advisory, it grades nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting import samples, scores
from coevo.evaluation.reporting.bootstrap import MeanEstimate, estimate_mean
from coevo.evaluation.reporting.rates import filter_graded
from coevo.evaluation.reporting.samples import Rows
from coevo.evaluation.worth import PitKills


@dataclass(frozen=True, slots=True, kw_only=True)
class PitSummary:
    """Mutation scores of byte code in the changed methods, as PIT says; means over methods.

    pred, gold  on the same methods: those that have mutants of which both are known
    troubles    how many methods have which reason not to be known
    """

    pred: MeanEstimate
    gold: MeanEstimate
    troubles: Mapping[str, int]


def summarise_pit(rows: Rows) -> PitSummary | None:
    """None where nobody asked."""
    pit_kills = [kills for row in filter_graded(rows) if (kills := _get_pit_kills(row)) is not None]
    if not pit_kills:
        return None
    troubles = Counter(
        str(t) for kills in pit_kills if (t := kills.trouble_pred or kills.trouble_gold)
    )
    return PitSummary(
        pred=estimate_mean(
            samples.sample_methods(rows, scores.restrict_score(_get_gold_share, _get_pred_share))
        ),
        gold=estimate_mean(
            samples.sample_methods(rows, scores.restrict_score(_get_pred_share, _get_gold_share))
        ),
        troubles=dict(sorted(troubles.items())),
    )


def _get_pred_share(row: MethodResult) -> float | None:
    kills = _get_pit_kills(row)
    return _divide(kills.pred, kills.count) if kills else None


def _get_gold_share(row: MethodResult) -> float | None:
    kills = _get_pit_kills(row)
    return _divide(kills.gold, kills.count) if kills else None


def _get_pit_kills(row: MethodResult) -> PitKills | None:
    known = row.adequacy if row.outcome.passes_on_new else None
    return known.pit if known else None


def _divide(killed: int | None, count: int | None) -> float | None:
    return killed / count if killed is not None and count else None
