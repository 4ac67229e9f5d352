"""What the gold test of a task is worth: the means over its methods (TestEvo-Bench, A.6).

A method without a measurement counts as 0 in the wide mean and is passed over in the narrow one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coevo.quality import Coverage
from coevo.tables import MethodRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """Shares from 0 to 1; None where nothing was measured, the narrow ones also where none came out."""

    coverage: float | None
    coverage_success: float | None
    mutation_score: float | None
    mutation_score_success: float | None


def gold(rows: Sequence[MethodRow]) -> Gold:
    """The means over all methods of a task."""
    covered = [_share(row.coverage) for row in rows]
    scores = [row.mutation.score if row.mutation else None for row in rows]
    was_covered = any(row.coverage for row in rows)
    was_mutated = any(row.mutation for row in rows)
    return Gold(
        coverage=_wide(covered) if was_covered else None,
        coverage_success=_narrow(covered),
        mutation_score=_wide(scores) if was_mutated else None,
        mutation_score_success=_narrow(scores),
    )


def _share(coverage: Coverage | None) -> float | None:
    return coverage.covered_lines / coverage.lines if coverage and coverage.lines else None


def _wide(scores: Sequence[float | None]) -> float:
    return sum(score or 0.0 for score in scores) / len(scores)


def _narrow(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None
