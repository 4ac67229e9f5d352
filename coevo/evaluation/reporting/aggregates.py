"""Adequacy over the tasks of a track: the paper's means (TestEvo-Bench, A.6, Tables 6 to 9) and ours.

The eight fields are A.6's: a `…_success` mean is over the methods that were measured, the other one
folds ⊥ to 0 over all. `OnPass` is over methods that pass on the new code, and sets the developer's
test beside the submitted one on the same methods. Where nothing was measured at all, a mean is None
rather than 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.reporting import bootstrap
from coevo.evaluation.reporting import samples
from coevo.evaluation.reporting import scores
from coevo.evaluation.reporting.bootstrap import Estimate
from coevo.evaluation.reporting.bootstrap import estimate
from coevo.evaluation.reporting.rates import graded
from coevo.evaluation.reporting.samples import Rows
from coevo.evaluation.reporting.samples import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The leaderboard's eight, by the paper's names; shares from 0 to 1."""

    avg_coverage_pred: Estimate
    avg_coverage_pred_success: Estimate
    avg_coverage_gold: Estimate
    avg_coverage_gold_success: Estimate
    avg_mutation_score_pred: Estimate
    avg_mutation_score_pred_success: Estimate
    avg_mutation_score_gold: Estimate
    avg_mutation_score_gold_success: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class OnPass:
    """A row of Tables 6 to 9, whose columns are these: Cov, CovOnPass, CovOnPassHuman, ΔCovOnPass.

    gold   on the methods that passed and were measured
    delta  submitted less gold, over the methods that have both
    """

    wide: Estimate
    pred: Estimate
    gold: Estimate
    delta: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """What the paper does not report; macro over tasks, of the methods that could be measured.

    success_strict      of all methods, those that are known to be more than a Success: they execute
                        the change, reach an assertion, notice a reversal that gold notices, kill
                        a mutant that gold kills, and their patch costs no other test
    vacuous             of all methods, those that pass and are known to tell nothing of the change
    …_unknown           methods that succeed, or pass, and of which it could not be told
    relative_kill       |pred ∩ gold| / |gold|
    oracle_preserved    of the methods where it could be told
    oracle_preservation of the mutants of unchanged lines that the old test killed, those still killed
    mutants, smells_*   how many there are in the mean
    smells              of the submitted tests that pass: how many methods have each, and gold's
    """

    success_strict: Estimate
    success_strict_unknown: int
    vacuous: Estimate
    vacuous_unknown: int
    relative_kill: Estimate
    branch_coverage_pred: Estimate
    branch_coverage_gold: Estimate
    reversals_pred: Estimate
    reversals_gold: Estimate
    oracle_preserved: Estimate
    oracle_preservation: Estimate
    mutants: Estimate
    smells_pred: Estimate
    smells_gold: Estimate
    smells: Mapping[str, SmellCount]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmellCount:
    pred: int
    gold: int


def fields(rows: Rows) -> Fields:
    covered, mutated = _covered(rows), _mutated(rows)
    asked = _looked_at(mutated)
    return Fields(
        avg_coverage_pred=estimate(samples.wide(covered, scores.coverage_pred)),
        avg_coverage_pred_success=estimate(samples.narrow(covered, scores.coverage_pred)),
        avg_coverage_gold=estimate(samples.wide(covered, scores.coverage_gold)),
        avg_coverage_gold_success=estimate(samples.narrow(covered, scores.coverage_gold)),
        avg_mutation_score_pred=estimate(samples.wide(asked, scores.mutation_score_pred)),
        avg_mutation_score_pred_success=estimate(samples.narrow(asked, scores.mutation_score_pred)),
        avg_mutation_score_gold=estimate(samples.wide(mutated, scores.mutation_score_gold)),
        avg_mutation_score_gold_success=estimate(
            samples.narrow(mutated, scores.mutation_score_gold)
        ),
    )


def coverage_on_pass(rows: Rows) -> OnPass:
    """Tables 6 and 8: over the whole range of the task's dependencies (A.4, Eq. 1)."""
    return _on_pass(_covered(rows), scores.coverage_pred, scores.coverage_gold)


def code_coverage_on_pass(rows: Rows) -> OnPass:
    """The same over the lines that have code, which the paper does not report."""
    return _on_pass(_covered(rows), scores.code_coverage_pred, scores.code_coverage_gold)


def mutation_on_pass(rows: Rows) -> OnPass:
    """Tables 7 and 9."""
    return _on_pass(
        _looked_at(_mutated(rows)), scores.mutation_score_pred, scores.mutation_score_gold
    )


def beyond(rows: Rows) -> Beyond:
    of = graded(rows)
    successes = [row for row in of if row.outcome is TaskOutcome.SUCCESS]
    passing = [row for row in of if row.outcome.passes_on_new]

    def mean(score: Score) -> Estimate:
        return estimate(samples.narrow(of, score))

    return Beyond(
        success_strict=_known(of, successes, scores.success_strict),
        success_strict_unknown=sum(row.success_strict is None for row in successes),
        vacuous=_known(of, passing, scores.vacuous),
        vacuous_unknown=sum(row.vacuous is None for row in passing),
        relative_kill=mean(scores.relative_kill),
        branch_coverage_pred=mean(scores.branch_coverage_pred),
        branch_coverage_gold=mean(scores.branch_coverage_gold),
        reversals_pred=mean(scores.reversals_pred),
        reversals_gold=mean(scores.reversals_gold),
        oracle_preserved=mean(scores.oracle_preserved),
        oracle_preservation=mean(scores.oracle_preservation),
        mutants=mean(scores.mutants),
        smells_pred=mean(scores.smells_pred),
        smells_gold=mean(scores.smells_gold),
        smells=_smells(of),
    )


def _on_pass(rows: Rows, pred: Score, gold: Score) -> OnPass:
    pred_beside = scores.where(gold, pred)
    gold_beside = scores.where(pred, gold)
    return OnPass(
        wide=estimate(samples.wide(rows, pred)),
        pred=estimate(samples.narrow(rows, pred)),
        gold=estimate(samples.narrow(rows, gold_beside)),
        delta=bootstrap.difference(
            samples.narrow(rows, gold_beside), samples.narrow(rows, pred_beside)
        ),
    )


def _covered(rows: Rows) -> Rows:
    """The graded rows; none where methods pass and nobody looked what they cover."""
    of = graded(rows)
    passing = [row.adequacy for row in of if row.outcome.passes_on_new]
    seen = any(one and (one.coverage_pred or one.coverage_gold) for one in passing)
    return of if seen or not passing else ()


def _mutated(rows: Rows) -> Rows:
    """The graded rows, but for those of which the mutants were left out at mining; none where nobody
    made mutants, not even for gold."""
    of = [row for row in graded(rows) if not (row.mutation_gold and row.mutation_gold.not_run)]
    seen = any(row.mutation_gold or (row.adequacy and row.adequacy.mutants) for row in of)
    return of if seen else ()


def _looked_at(rows: Rows) -> Rows:
    """The rows; none where methods pass and nobody asked what they are worth."""
    passing = [row for row in rows if row.outcome.passes_on_new]
    return () if passing and all(row.adequacy is None for row in passing) else rows


def _known(rows: Rows, asked: Rows, score: Score) -> Estimate:
    """The share that is known to be so; of nothing where it was told of none that it was asked of."""
    untold = asked and all(score(row) is None for row in asked)
    return estimate(samples.wide(() if untold else rows, score))


def _smells(rows: Rows) -> Mapping[str, SmellCount]:
    found = [row.adequacy for row in rows if row.adequacy and row.outcome.passes_on_new]
    pred = Counter(_flat(one.smells_pred for one in found))
    gold = Counter(_flat(one.smells_gold for one in found))
    return {
        name: SmellCount(pred=pred[name], gold=gold[name])
        for name in sorted(pred.keys() | gold.keys())
    }


def _flat(groups: Iterable[Iterable[str]]) -> Iterable[str]:
    return (name for group in groups for name in group)
