"""The row of a suite, made from its results."""

from __future__ import annotations

from dataclasses import replace

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.outcomes import GradingResult
from coevo.evaluation.records import Prediction
from coevo.evaluation.rows import MOST_SAID, ResultHeader, add_prediction_fields, truncate_text
from coevo.evaluation.suites.outcomes import (
    SuiteRunResult,
    decide_success_strict,
    decide_suite_outcome,
)
from coevo.evaluation.suites.records import MaintainedResult, SuiteResult
from coevo.evaluation.suites.results import SUITES_VERSION
from coevo.languages.table import get_engine_version
from coevo.model.families import Family


def make_suite_row(
    header: ResultHeader,
    assignment: Assignment,
    prediction: Prediction,
    judged: GradingResult,
    seen: SuiteRunResult,
    tries: int = 1,
) -> SuiteResult:
    """Return the row of one attempt at one task, with long texts cut to `MOST_SAID` characters."""
    task = assignment.task
    outcome, detail = decide_suite_outcome(seen)
    row = SuiteResult(
        task_id=task.task_id,
        repo=task.repo,
        language=task.language,
        family=task.family or Family.COEVOLUTION,
        scenario=task.scenario,
        start_builder=task.start_builder,
        new_date=task.new_committer_date,
        contamination_date=task.contamination_date,
        outcome=outcome,
        detail=detail,
        said=truncate_text(seen.said, MOST_SAID),
        builds=seen.builds,
        tests=tuple(
            replace(
                test,
                test_method=truncate_text(test.test_method, MOST_SAID),
                signature=None
                if test.signature is None
                else truncate_text(test.signature, MOST_SAID),
                unstable=None if test.unstable is None else truncate_text(test.unstable, MOST_SAID),
            )
            for test in seen.tests
        ),
        fixes=None
        if seen.fixes is None
        else tuple(replace(fix, text=truncate_text(fix.text, MOST_SAID)) for fix in seen.fixes),
        adequacy=seen.adequacy,
        reach=seen.reach,
        maintained=seen.maintained and tuple(map(_truncate_name, seen.maintained)),
        demanded=seen.demanded,
        success_strict=decide_success_strict(seen) if task.asks_for_code else None,
        start_adequacy=task.start_adequacy,
        gold_adequacy=task.gold_adequacy,
        tries=tries,
        cpu_seconds=round(judged.cpu_seconds, 3),
        seconds=round(judged.seconds, 3),
        engine_version=get_engine_version(task.language),
        suites_version=SUITES_VERSION,
        sandbox=header.sandbox,
        runtime=judged.runtime,
        snapshot_sha256=header.snapshot_sha256,
        prediction_sha256=prediction.digest,
    )
    return add_prediction_fields(row, header, prediction)


def _truncate_name(one: MaintainedResult) -> MaintainedResult:
    if one.submitted is None:
        return one
    return replace(one, submitted=truncate_text(one.submitted, MOST_SAID))


def adapt_suite_row(
    row: SuiteResult, assignment: Assignment, prediction: Prediction, header: ResultHeader
) -> SuiteResult:
    """Return a stored row of the same patch and task with the fields of this evaluation.

    Those are what the prediction, its model and the snapshot say; outcomes and measures stay.
    """
    task = assignment.task
    return replace(
        add_prediction_fields(row, header, prediction),
        repo=task.repo,
        scenario=task.scenario,
        start_builder=task.start_builder,
        contamination_date=task.contamination_date,
        start_adequacy=task.start_adequacy,
        gold_adequacy=task.gold_adequacy,
        snapshot_sha256=header.snapshot_sha256,
    )
