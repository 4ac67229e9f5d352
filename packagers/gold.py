"""What the gold test of a task is worth: the means over its methods (TestEvo-Bench, A.4 to A.6).

Line coverage is over the whole range of the task's dependencies (Eq. 1), code coverage over those of the
lines that have code.

A method without a measurement counts as 0 in the wide mean and is passed over in the narrow one. One
whose mutants were left out, since a pair has so many runs, is in neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coevo.model.method_rows import MethodRow
from coevo.model.quality import Coverage


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldMeasures:
    """Shares from 0 to 1; None where nothing was measured, the narrow ones also where none came out."""

    coverage: float | None
    coverage_success: float | None
    code_coverage: float | None
    code_coverage_success: float | None
    mutation_score: float | None
    mutation_score_success: float | None


def compute_gold_measures(
    rows: Sequence[MethodRow], covered: Mapping[str, Coverage]
) -> GoldMeasures:
    """The means over all methods of a task.

    covered  what they cover of the task's dependencies, by method id
    """
    known = [covered.get(row.method_id) for row in rows]
    lines = [coverage.line_coverage if coverage else None for coverage in known]
    code = [coverage.code_coverage if coverage else None for coverage in known]
    mutations = [row.mutation for row in rows if not (row.mutation and row.mutation.not_run)]
    scores = [mutation.score if mutation else None for mutation in mutations]
    was_mutated = any(mutations)
    return GoldMeasures(
        coverage=_compute_wide_mean(lines) if covered else None,
        coverage_success=_compute_narrow_mean(lines),
        code_coverage=_compute_wide_mean(code) if covered else None,
        code_coverage_success=_compute_narrow_mean(code),
        mutation_score=_compute_wide_mean(scores) if was_mutated else None,
        mutation_score_success=_compute_narrow_mean(scores),
    )


def _compute_wide_mean(scores: Sequence[float | None]) -> float:
    return sum(score or 0.0 for score in scores) / len(scores)


def _compute_narrow_mean(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None
