"""Adequacy over the tasks of a track: the paper's means (TestEvo-Bench, A.6, Tables 6 to 9) and ours.

The eight fields are A.6's: a `…_success` mean is over the methods that were measured, the other one
folds ⊥ to 0 over all. `OnPassMeans` is over methods that pass on the new code, and sets the developer's
test beside the submitted one on the same methods. Where nothing was measured at all, a mean is None
rather than 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.reporting import bootstrap, samples, scores
from coevo.evaluation.reporting.bootstrap import MeanEstimate, estimate_mean
from coevo.evaluation.reporting.rates import filter_graded
from coevo.evaluation.reporting.samples import Rows, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardFields:
    """The leaderboard's eight, by the paper's names; shares from 0 to 1."""

    avg_coverage_pred: MeanEstimate
    avg_coverage_pred_success: MeanEstimate
    avg_coverage_gold: MeanEstimate
    avg_coverage_gold_success: MeanEstimate
    avg_mutation_score_pred: MeanEstimate
    avg_mutation_score_pred_success: MeanEstimate
    avg_mutation_score_gold: MeanEstimate
    avg_mutation_score_gold_success: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class OnPassMeans:
    """A row of Tables 6 to 9, whose columns are these: Cov, CovOnPass, CovOnPassHuman, ΔCovOnPass.

    gold   on the methods that passed and were measured
    delta  submitted less gold, over the methods that have both
    """

    wide: MeanEstimate
    pred: MeanEstimate
    gold: MeanEstimate
    delta: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraMeasures:
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

    success_strict: MeanEstimate
    success_strict_unknown: int
    vacuous: MeanEstimate
    vacuous_unknown: int
    relative_kill: MeanEstimate
    branch_coverage_pred: MeanEstimate
    branch_coverage_gold: MeanEstimate
    reversals_pred: MeanEstimate
    reversals_gold: MeanEstimate
    oracle_preserved: MeanEstimate
    oracle_preservation: MeanEstimate
    mutants: MeanEstimate
    smells_pred: MeanEstimate
    smells_gold: MeanEstimate
    smells: Mapping[str, SmellCount]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmellCount:
    pred: int
    gold: int


def compute_leaderboard_fields(rows: Rows) -> LeaderboardFields:
    covered, mutated = _select_rows_with_coverage(rows), _select_rows_with_mutants(rows)
    measured_rows = _select_measured(mutated)
    return LeaderboardFields(
        avg_coverage_pred=estimate_mean(
            samples.sample_all_tasks(covered, scores.score_coverage_pred)
        ),
        avg_coverage_pred_success=estimate_mean(
            samples.sample_measured_tasks(covered, scores.score_coverage_pred)
        ),
        avg_coverage_gold=estimate_mean(
            samples.sample_all_tasks(covered, scores.score_coverage_gold)
        ),
        avg_coverage_gold_success=estimate_mean(
            samples.sample_measured_tasks(covered, scores.score_coverage_gold)
        ),
        avg_mutation_score_pred=estimate_mean(
            samples.sample_all_tasks(measured_rows, scores.score_mutation_pred)
        ),
        avg_mutation_score_pred_success=estimate_mean(
            samples.sample_measured_tasks(measured_rows, scores.score_mutation_pred)
        ),
        avg_mutation_score_gold=estimate_mean(
            samples.sample_all_tasks(mutated, scores.score_mutation_gold)
        ),
        avg_mutation_score_gold_success=estimate_mean(
            samples.sample_measured_tasks(mutated, scores.score_mutation_gold)
        ),
    )


def compute_coverage_on_pass(rows: Rows) -> OnPassMeans:
    """Tables 6 and 8: over the whole range of the task's dependencies (A.4, Eq. 1)."""
    return _compare_on_pass(
        _select_rows_with_coverage(rows), scores.score_coverage_pred, scores.score_coverage_gold
    )


def compute_code_coverage_on_pass(rows: Rows) -> OnPassMeans:
    """The same over the lines that have code, which the paper does not report."""
    return _compare_on_pass(
        _select_rows_with_coverage(rows),
        scores.score_code_coverage_pred,
        scores.score_code_coverage_gold,
    )


def compute_mutation_on_pass(rows: Rows) -> OnPassMeans:
    """Tables 7 and 9."""
    return _compare_on_pass(
        _select_measured(_select_rows_with_mutants(rows)),
        scores.score_mutation_pred,
        scores.score_mutation_gold,
    )


def compute_extra_measures(rows: Rows) -> ExtraMeasures:
    of = filter_graded(rows)
    successes = [row for row in of if row.outcome is TaskOutcome.SUCCESS]
    passing = [row for row in of if row.outcome.passes_on_new]

    def estimate_task_mean(score: Score) -> MeanEstimate:
        return estimate_mean(samples.sample_measured_tasks(of, score))

    return ExtraMeasures(
        success_strict=_estimate_known_share(of, successes, scores.score_strict_success),
        success_strict_unknown=sum(row.success_strict is None for row in successes),
        vacuous=_estimate_known_share(of, passing, scores.score_vacuous),
        vacuous_unknown=sum(row.vacuous is None for row in passing),
        relative_kill=estimate_task_mean(scores.score_relative_kill),
        branch_coverage_pred=estimate_task_mean(scores.score_branch_coverage_pred),
        branch_coverage_gold=estimate_task_mean(scores.score_branch_coverage_gold),
        reversals_pred=estimate_task_mean(scores.score_undos_pred),
        reversals_gold=estimate_task_mean(scores.score_undos_gold),
        oracle_preserved=estimate_task_mean(scores.score_oracle_preserved),
        oracle_preservation=estimate_task_mean(scores.score_oracle_preservation),
        mutants=estimate_task_mean(scores.count_mutants),
        smells_pred=estimate_task_mean(scores.count_smells_pred),
        smells_gold=estimate_task_mean(scores.count_smells_gold),
        smells=_count_smells(of),
    )


def _compare_on_pass(rows: Rows, pred: Score, gold: Score) -> OnPassMeans:
    pred_beside = scores.restrict_score(gold, pred)
    gold_beside = scores.restrict_score(pred, gold)
    return OnPassMeans(
        wide=estimate_mean(samples.sample_all_tasks(rows, pred)),
        pred=estimate_mean(samples.sample_measured_tasks(rows, pred)),
        gold=estimate_mean(samples.sample_measured_tasks(rows, gold_beside)),
        delta=bootstrap.estimate_difference(
            samples.sample_measured_tasks(rows, gold_beside),
            samples.sample_measured_tasks(rows, pred_beside),
        ),
    )


def _select_rows_with_coverage(rows: Rows) -> Rows:
    """The graded rows; none where methods pass and nobody looked what they cover."""
    of = filter_graded(rows)
    passing = [row.adequacy for row in of if row.outcome.passes_on_new]
    seen = any(
        adequacy and (adequacy.coverage_pred or adequacy.coverage_gold) for adequacy in passing
    )
    return of if seen or not passing else ()


def _select_rows_with_mutants(rows: Rows) -> Rows:
    """The graded rows, but for those of which the mutants were left out at mining; none where nobody
    made mutants, not even for gold."""
    of = [
        row for row in filter_graded(rows) if not (row.mutation_gold and row.mutation_gold.not_run)
    ]
    seen = any(row.mutation_gold or (row.adequacy and row.adequacy.mutants) for row in of)
    return of if seen else ()


def _select_measured(rows: Rows) -> Rows:
    """The rows; none where methods pass and nobody asked what they are worth."""
    passing = [row for row in rows if row.outcome.passes_on_new]
    return () if passing and all(row.adequacy is None for row in passing) else rows


def _estimate_known_share(rows: Rows, asked: Rows, score: Score) -> MeanEstimate:
    """The share that is known to be so; of nothing where it was told of none that it was asked of."""
    untold = asked and all(score(row) is None for row in asked)
    return estimate_mean(samples.sample_all_tasks(() if untold else rows, score))


def _count_smells(rows: Rows) -> Mapping[str, SmellCount]:
    adequacies = [row.adequacy for row in rows if row.adequacy and row.outcome.passes_on_new]
    pred = Counter(_flatten(adequacy.smells_pred for adequacy in adequacies))
    gold = Counter(_flatten(adequacy.smells_gold for adequacy in adequacies))
    return {
        name: SmellCount(pred=pred[name], gold=gold[name])
        for name in sorted(pred.keys() | gold.keys())
    }


def _flatten(groups: Iterable[Iterable[str]]) -> Iterable[str]:
    return (name for group in groups for name in group)
