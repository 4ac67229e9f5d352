"""Rows of results, as tests of what reads them need them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.results import RESULTS_VERSION
from coevo.evaluation.worth import Adequacy, Detections
from coevo.model.quality import Coverage
from coevo.model.words import Outcome, Track

COVERAGE = Coverage(
    lines=5,
    covered_lines=3,
    known_lines=4,
    branches=2,
    covered_branches=1,
    methods=1,
    covered_methods=1,
)
ADEQUACY = Adequacy(
    executes_delta=True,
    coverage_pred=COVERAGE,
    coverage_gold=COVERAGE,
    mutants=Detections(count=4, pred=2, gold=3, both=2),
    smells_pred=('Empty Test',),
)


def row(
    task_id: str = 'task1',
    test_method: str = 'a.ATest#tests',
    outcome: TaskOutcome = TaskOutcome.SUCCESS,
    **others: Any,
) -> MethodResult:
    """A row of a method that passes on the new code, but for what is said otherwise."""
    fields: dict[str, Any] = {
        'method_id': f'{task_id}:{test_method}',
        'repo': 'owner/name',
        'track': Track.UPDATE,
        'new_date': datetime(2020, 1, 2, tzinfo=UTC),
        'cause': None,
        'outcome_by_module': outcome,
        'detail': None,
        'injected': True,
        'strict_askable': True,
        'compiled': True,
        'module_compiled': True,
        'new': Outcome.PASS,
        'engine_version': '3',
        'results_version': RESULTS_VERSION,
        'sandbox': 'bubblewrap',
        'snapshot_sha256': '0' * 64,
        'prediction_sha256': '1' * 64,
    }
    return MethodResult(
        task_id=task_id, test_method=test_method, outcome=outcome, **(fields | others)
    )
