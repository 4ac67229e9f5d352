"""PIT's word on the submitted tests beside gold's, where it was asked: advisory, it grades nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting import samples
from coevo.evaluation.reporting import scores
from coevo.evaluation.reporting.bootstrap import Estimate
from coevo.evaluation.reporting.bootstrap import estimate
from coevo.evaluation.reporting.rates import graded
from coevo.evaluation.reporting.samples import Rows
from coevo.evaluation.worth import PitKills


@dataclass(frozen=True, slots=True, kw_only=True)
class PitSummary:
    """Mutation scores of byte code in the changed methods, as PIT says; means over methods.

    pred, gold  on the same methods: those that have mutants of which both are known
    troubles    how many methods have which reason not to be known
    """

    pred: Estimate
    gold: Estimate
    troubles: Mapping[str, int]


def pit(rows: Rows) -> PitSummary | None:
    """None where nobody asked."""
    asked = [one for row in graded(rows) if (one := _told(row)) is not None]
    if not asked:
        return None
    troubles = Counter(str(t) for one in asked if (t := one.trouble_pred or one.trouble_gold))
    return PitSummary(
        pred=estimate(samples.micro(rows, scores.where(_gold, _pred))),
        gold=estimate(samples.micro(rows, scores.where(_pred, _gold))),
        troubles=dict(sorted(troubles.items())),
    )


def _pred(row: MethodResult) -> float | None:
    found = _told(row)
    return _share(found.pred, found.count) if found else None


def _gold(row: MethodResult) -> float | None:
    found = _told(row)
    return _share(found.gold, found.count) if found else None


def _told(row: MethodResult) -> PitKills | None:
    known = row.adequacy if row.outcome.passes_on_new else None
    return known.pit if known else None


def _share(killed: int | None, count: int | None) -> float | None:
    return killed / count if killed is not None and count else None
