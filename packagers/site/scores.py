"""Write the scores that the leaderboard counts again for a reader's cutoff.

There is a row for each method.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow.parquet as pq

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.figures import open_results
from coevo.model.schema import build_arrow_schema
from coevo.model.words import Track

NAME = 'scores.parquet'

_SCORES = """
SELECT evaluation, track, task_id, test_method, repo, new_date, contamination_date, outcome,
    coalesce(strict_askable, false) AS strict_askable, success_strict, vacuous,
    coverage_pred AS coverage, range_coverage_pred AS range_coverage,
    CASE WHEN NOT left_out THEN mutation_pred END AS mutation
FROM scored
ORDER BY evaluation, task_id, attempt, test_method, method_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodScore:
    """A method of an evaluation's results, without outputs of processes or text that people wrote.

    evaluation                          the index of its report in `reports.json`, from 0
    strict_askable                      whether gold is a strict success, so that others are asked
    coverage, range_coverage, mutation  scores of the submitted test, 0 to 1; None if not measured
    """

    evaluation: int
    track: Track
    task_id: str
    test_method: str
    repo: str
    new_date: datetime | None
    contamination_date: datetime | None
    outcome: TaskOutcome
    strict_askable: bool
    success_strict: bool | None
    vacuous: bool | None
    coverage: float | None
    range_coverage: float | None
    mutation: float | None


def encode_scores(evaluations: Sequence[Sequence[MethodResult]]) -> bytes:
    """Return the bytes of `scores.parquet`: a row for each method of the evaluations.

    Rows are in the order of the evaluations, then of their keys.
    """
    with open_results(['methods'], evaluations) as connection:
        scores = connection.sql(_SCORES).to_arrow_table().cast(build_arrow_schema(MethodScore))
    sink = io.BytesIO()
    pq.write_table(scores, sink, compression='zstd')
    return sink.getvalue()
