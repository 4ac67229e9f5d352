"""The rows of results, made from the results of targets and suites."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from coevo.evaluation.assignments import Assignment, Target
from coevo.evaluation.judging.outcomes import (
    GradingResult,
    TargetResult,
    decide_outcome,
    decide_outcome_by_module,
)
from coevo.evaluation.measuring.strict import add_strictness_flags
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.results import RESULTS_VERSION, SUITES_VERSION
from coevo.evaluation.suites.outcomes import (
    SuiteRunResult,
    decide_success_strict,
    decide_suite_outcome,
)
from coevo.evaluation.suites.records import MaintainedResult, SuiteResult
from coevo.languages.table import get_engine_version
from coevo.languages.verdicts import Verdict
from coevo.model.families import Family
from coevo.model.words import Outcome
from coevo.snapshots.cutoffs import LanguageModel

# The rows of results, made from the results of targets.

Row = TypeVar('Row', MethodResult, SuiteResult)

# The most characters of the output of a process, and of an explanation of an outcome.
MOST_OUTPUT, MOST_SAID = 8000, 1000

# Characters that are replaced: many readers reject a NUL in a text, and XML rejects all of them.
_CONTROL = re.compile(r'[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]')


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultHeader:
    """The values that all rows of an evaluation share.

    cutoff  the last day that counts as seen when tasks are selected; None if all dates count
    models  the known models that predictions name, by that name
    """

    snapshot_sha256: str
    sandbox: str
    cutoff: str | None = None
    models: Mapping[str, LanguageModel] = field(default_factory=dict)


def make_rows(
    header: ResultHeader,
    assignment: Assignment,
    prediction: Prediction,
    judgement: GradingResult,
    tries: int = 1,
) -> tuple[MethodResult, ...]:
    """Return a row for each target; costs that the targets share are divided evenly."""
    share = 1 / len(assignment.targets)
    result_rows = []
    for target in assignment.targets:
        seen = judgement.seen[target.name]
        row = replace(
            _add_observations(_make_row(header, assignment, prediction, target, seen), seen),
            adequacy=judgement.adequacy.get(target.name),
            tries=tries,
            runtime=judgement.runtime,
            others_asked=judgement.others.count if judgement.others else None,
            others_lost=len(judgement.others.lost) if judgement.others else None,
            others_weakened=_count_weakened(judgement),
            copies_code=target.name in judgement.copying
            if target.name in judgement.adequacy
            else None,
            reads_sources=None if judgement.sources is None else judgement.sources.rev is not None,
            cpu_seconds=round(seen.cpu_seconds + judgement.cpu_seconds * share, 3),
            seconds=round(seen.seconds + judgement.seconds * share, 3),
        )
        result_rows.append(add_strictness_flags(add_prediction_fields(row, header, prediction)))
    return tuple(result_rows)


def _count_weakened(judgement: GradingResult) -> int | None:
    weakened = judgement.others.weakened if judgement.others else None
    return None if weakened is None else len(weakened)


def adapt_rows(
    rows: Sequence[MethodResult],
    assignment: Assignment,
    prediction: Prediction,
    header: ResultHeader,
) -> tuple[MethodResult, ...]:
    """Return stored rows of the same patch and task with the fields of this evaluation.

    Those are what the prediction, its model and the snapshot say; outcomes and observations stay.
    """
    targets = {target.name: target for target in assignment.targets}
    return tuple(
        add_strictness_flags(
            replace(
                add_prediction_fields(row, header, prediction),
                method_id=targets[row.test_method].row.method_id,
                repo=assignment.task.repo,
                cause=targets[row.test_method].row.cause,
                strict_askable=targets[row.test_method].row.strict_askable,
                contamination_date=assignment.task.contamination_date,
                snapshot_sha256=header.snapshot_sha256,
            )
        )
        for row in rows
    )


def _make_row(
    header: ResultHeader,
    assignment: Assignment,
    prediction: Prediction,
    target: Target,
    seen: TargetResult,
) -> MethodResult:
    task = assignment.task
    outcome, detail = decide_outcome(task.track, seen)
    return MethodResult(
        task_id=task.task_id,
        test_method=target.name,
        method_id=target.row.method_id,
        repo=task.repo,
        track=task.track,
        new_date=task.new_committer_date,
        cause=target.row.cause,
        outcome=outcome,
        outcome_by_module=decide_outcome_by_module(task.track, seen),
        detail=detail,
        said=truncate_text(_describe_outcome(seen, detail, target), MOST_SAID),
        injected=seen.refusal is None and seen.trouble is None and seen.submitted,
        mutation_gold=target.row.mutation,
        strict_askable=target.row.strict_askable,
        engine_version=get_engine_version(task.language),
        results_version=RESULTS_VERSION,
        sandbox=header.sandbox,
        contamination_date=task.contamination_date,
        snapshot_sha256=header.snapshot_sha256,
        prediction_sha256=prediction.digest,
    )


def _add_observations(row: MethodResult, seen: TargetResult) -> MethodResult:
    """Return the row with the results of the method's runs."""
    return replace(
        row,
        tampered=seen.new.tampered if seen.new else None,
        unstable=None if seen.unstable is None else truncate_text(seen.unstable, MOST_SAID),
        placebo=seen.placebo,
        compiled=_compiles(seen.new),
        module_compiled=seen.new_module_ok,
        new=seen.new.outcome if seen.new else None,
        new_signature=_get_signature(seen.new),
        old=seen.old.outcome if seen.old else None,
        old_by_module=_get_old_outcome_by_module(seen),
        old_signature=_get_signature(seen.old),
        precondition=seen.precondition,
        output=truncate_text(seen.output, MOST_OUTPUT, keep_end=True),
    )


def add_prediction_fields(row: Row, header: ResultHeader, prediction: Prediction) -> Row:
    """Return the row with the fields of the evaluation, of the prediction and of its model."""
    model = header.models.get(prediction.model or '')
    cutoff = model.cutoff if model else None
    return replace(
        row,
        attempt=prediction.attempt,
        seed=prediction.seed,
        protocol=prediction.protocol,
        model=prediction.model,
        model_cutoff=cutoff,
        model_cutoff_source=model.source if model and cutoff else None,
        cutoff=header.cutoff,
        harness=prediction.harness,
        exit_status=prediction.exit_status,
        cost_usd=prediction.cost_usd,
        tokens=prediction.tokens,
        agent_seconds=prediction.seconds,
    )


def _compiles(verdict: Verdict | None) -> bool | None:
    return None if verdict is None else verdict.outcome is not Outcome.COMPILE_ERROR


def _get_signature(verdict: Verdict | None) -> str | None:
    return (
        None if verdict is None or verdict.signature is None else _make_printable(verdict.signature)
    )


def _get_old_outcome_by_module(seen: TargetResult) -> Outcome | None:
    if seen.old is None:
        return None
    return seen.old.outcome if seen.old_module_ok else Outcome.COMPILE_ERROR


def _describe_outcome(seen: TargetResult, detail: Detail | None, target: Target) -> str:
    reason = seen.refusal or seen.trouble
    if reason is not None:
        return reason.message
    if detail is Detail.PRECONDITION:
        return f'{target.method_at_start} is {seen.precondition} on the new code at the start'
    if detail is Detail.UNSTABLE:
        return seen.unstable or ''
    verdict = seen.new
    parts = (verdict.signature, verdict.message.strip()) if verdict and detail else ()
    return '; '.join(filter(None, (*parts, seen.note)))


def truncate_text(text: str, most: int, *, keep_end: bool = False) -> str:
    """Return a text cut to `most` characters and an ellipsis, with control characters replaced.

    keep_end  whether to keep the end of the text and not its beginning
    """
    text = _make_printable(text)
    if len(text) <= most:
        return text
    return f'…{text[-most:]}' if keep_end else f'{text[:most]}…'


def _make_printable(text: str) -> str:
    return _CONTROL.sub('\ufffd', text)


# The row of a suite, made from its results.


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
