"""The row of a suite from what was seen of it."""

from __future__ import annotations

from dataclasses import replace

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.records import Prediction
from coevo.evaluation.rows import MOST_SAID
from coevo.evaluation.rows import ResultHeader
from coevo.evaluation.rows import answered
from coevo.evaluation.rows import bounded
from coevo.evaluation.suites.maintained_records import MaintainedResult
from coevo.evaluation.suites.outcomes import JudgedSuite
from coevo.evaluation.suites.outcomes import decide
from coevo.evaluation.suites.records import SuiteResult
from coevo.evaluation.suites.results import SUITES_VERSION
from coevo.languages.table import engine_version
from coevo.model.families import Family


def suite_result(
    header: ResultHeader,
    assignment: Assignment,
    prediction: Prediction,
    judged: JudgedSuite,
    tries: int = 1,
) -> SuiteResult:
    """One attempt at one task."""
    task, seen = assignment.task, judged.seen
    outcome, detail = decide(seen)
    reason = seen.refusal or seen.trouble
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
        said=bounded(reason.said if reason else '', MOST_SAID),
        builds=seen.builds,
        tests=tuple(
            replace(
                one,
                test_method=bounded(one.test_method, MOST_SAID),
                signature=None if one.signature is None else bounded(one.signature, MOST_SAID),
                unstable=None if one.unstable is None else bounded(one.unstable, MOST_SAID),
            )
            for one in seen.tests
        ),
        adequacy=seen.adequacy,
        reach=seen.reach,
        maintained=seen.maintained and tuple(map(_bounded, seen.maintained)),
        start_adequacy=task.start_adequacy,
        gold_adequacy=task.gold_adequacy,
        tries=tries,
        cpu_seconds=round(judged.cpu_seconds, 3),
        seconds=round(judged.seconds, 3),
        engine_version=engine_version(task.language),
        suites_version=SUITES_VERSION,
        sandbox=header.sandbox,
        runtime=judged.runtime,
        snapshot_sha256=header.snapshot_sha256,
        prediction_sha256=prediction.digest,
    )
    return answered(row, header, prediction)


def _bounded(one: MaintainedResult) -> MaintainedResult:
    if one.submitted is None:
        return one
    return replace(one, submitted=bounded(one.submitted, MOST_SAID))


def recalled(
    row: SuiteResult, assignment: Assignment, prediction: Prediction, header: ResultHeader
) -> SuiteResult:
    """The row of the same patch to the same task, as that prediction and snapshot have it."""
    task = assignment.task
    return replace(
        answered(row, header, prediction),
        repo=task.repo,
        scenario=task.scenario,
        start_builder=task.start_builder,
        contamination_date=task.contamination_date,
        start_adequacy=task.start_adequacy,
        gold_adequacy=task.gold_adequacy,
        snapshot_sha256=header.snapshot_sha256,
    )
