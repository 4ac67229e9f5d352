"""What the leaderboard counts again under a reader's cutoff: a row for each method of an evaluation."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow.parquet as pq

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting import scores
from coevo.model.schema import build_table
from coevo.model.words import Track

NAME = 'scores.parquet'


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodScore:
    """A method as results have it; no output of a process, and nothing that a person wrote.

    evaluation                         the place of its report in `reports.json`, from 0 on
    coverage, code_coverage, mutation  of the submitted test, 0 to 1; None where not measured
    """

    evaluation: int
    track: Track
    task_id: str
    test_method: str
    repo: str
    new_date: datetime | None
    contamination_date: datetime | None
    outcome: TaskOutcome
    success_strict: bool | None
    vacuous: bool | None
    coverage: float | None
    code_coverage: float | None
    mutation: float | None


def encode_scores(evaluations: Sequence[Sequence[MethodResult]]) -> bytes:
    """The file's bytes, in the order of the evaluations and of their rows' keys."""
    sink = io.BytesIO()
    pq.write_table(
        build_table(MethodScore, list(list_scores(evaluations))), sink, compression='zstd'
    )
    return sink.getvalue()


def list_scores(evaluations: Sequence[Sequence[MethodResult]]) -> Iterator[MethodScore]:
    for number, rows in enumerate(evaluations):
        for row in sorted(rows, key=lambda row: row.key):
            yield _make_score(number, row)


def _make_score(number: int, row: MethodResult) -> MethodScore:
    left_out = row.mutation_gold is not None and row.mutation_gold.not_run
    return MethodScore(
        evaluation=number,
        track=row.track,
        task_id=row.task_id,
        test_method=row.test_method,
        repo=row.repo,
        new_date=row.new_date,
        contamination_date=row.contamination_date,
        outcome=row.outcome,
        success_strict=row.success_strict,
        vacuous=row.vacuous,
        coverage=scores.score_coverage_pred(row),
        code_coverage=scores.score_code_coverage_pred(row),
        mutation=None if left_out else scores.score_mutation_pred(row),
    )
